"""The workflow's seven stop conditions (Phase 3) as one table, and the pure judge of the answers to them.

The tool may forbid, never approve: a condition that holds or has no evidenced answer forbids going on, and when
none does, the primary still has to decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from git_afd.core.few import few
from git_afd.core.impacts.conditions import Evaluation
from git_afd.core.outcome import Json

Standing = Literal["holds", "does not hold", "unanswered"]


@dataclass(frozen=True, slots=True)
class StopCondition:
    """One condition: its number in the workflow's order, what it is about, and the question to be answered."""

    number: int
    about: str
    question: str


STOP_CONDITIONS: Final = (
    StopCondition(
        1,
        "pair and stack",
        "Are the target vLLM and vLLM-Ascend refs, or the software stack, incompatible?",
    ),
    StopCondition(
        2,
        "runner base",
        "Was the NPU worker or model-runner base, its execution generation or its lifecycle replaced, so that the "
        "plugin needs a redesign?",
    ),
    StopCondition(
        3,
        "patch seam",
        "Did a patch lose its seam without a stable equivalent, or can it no longer be written as target logic plus "
        "small marked differences?",
    ),
    StopCondition(
        4,
        "feature removed",
        "Did upstream remove or disable a feature that the plugin supports, so that going on would delete it, bypass "
        "a check or own an execution engine?",
    ),
    StopCondition(
        5,
        "cross-subsystem contract",
        "Did model split, remote experts, connector payload, topology, scheduler or core state change across "
        "subsystems without a one-to-one map of invariants?",
    ),
    StopCondition(
        6,
        "broad rewrite",
        "Would keeping the behaviour need broad rewrites, new public abstractions, many copies, swallowed exceptions "
        "or version probing?",
    ),
    StopCondition(
        7,
        "environment",
        "Is it impossible to build and test the required Python, PyTorch, torch_npu, CANN and operator ABI as one "
        "supported environment?",
    ),
)

EVALUATED: Final = 1
"""The condition that the freeze decides, once every question about the stack is answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a condition. `evidence` names things that exist (checked before); `why` says what they show."""

    number: int
    holds: bool
    evidence: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class StackAnswer:
    """An answer to a question that the freeze left open about the stack; `question` is its key (``code:place``)."""

    question: str
    answer: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One of the seven rows: how the condition stands, whether it was evaluated or answered, on which evidence."""

    condition: StopCondition
    standing: Standing
    how: Literal["evaluated", "answered", ""] = ""
    evidence: tuple[str, ...] = ()
    why: str = ""

    def as_json(self) -> dict[str, Json]:
        """Return the row as it is recorded and shown."""
        return {
            "number": self.condition.number,
            "about": self.condition.about,
            "question": self.condition.question,
            "standing": self.standing,
            "how": self.how,
            "evidence": list(self.evidence),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """The seven rows, and ARCHITECTURAL impacts that no answer cites."""

    rows: tuple[ConditionRow, ...]
    unaddressed: tuple[str, ...] = ()

    @property
    def unanswered(self) -> tuple[int, ...]:
        """Numbers of the conditions without an evidenced answer."""
        return tuple(row.condition.number for row in self.rows if row.standing == "unanswered")

    @property
    def holding(self) -> tuple[int, ...]:
        """Numbers of the conditions that hold."""
        return tuple(row.condition.number for row in self.rows if row.standing == "holds")

    @property
    def forbids(self) -> str:
        """Say why going on is forbidden, as the end of a sentence; empty when it is not."""
        if self.holding:
            return _said(self.holding, "holds", "hold")
        return self.incomplete

    @property
    def incomplete(self) -> str:
        """Say what is still to be answered, as the end of a sentence; empty when nothing is."""
        if self.unanswered:
            return _said(self.unanswered, "has no evidenced answer", "have no evidenced answer")
        return f"no answer cites ARCHITECTURAL {few(self.unaddressed)}" if self.unaddressed else ""


def judge(
    answers: Sequence[Answer],
    stack_answers: Sequence[StackAnswer],
    questions: Sequence[str],
    freeze: str,
    architectural: Sequence[str],
    evaluated: Sequence[Evaluation] = (),
) -> Judgement:
    """Judge the seven conditions.

    `questions` are what the freeze left open about the stack, `freeze` is its record's id (the evidence of the
    supported pair), `architectural` are the ids of ARCHITECTURAL impacts: each must be cited by an answer.
    `evaluated` is what an automatic comparison says: it may clear a condition that nobody answered, never set one.
    """
    told = {item.number: item for item in evaluated}
    by_number = {answer.number: answer for answer in answers}
    rows = tuple(
        _first(condition, by_number.get(condition.number), stack_answers, questions, freeze)
        if condition.number == EVALUATED
        else _asked(condition, by_number.get(condition.number), told.get(condition.number))
        for condition in STOP_CONDITIONS
    )
    cited = {item for row in rows if row.how for item in row.evidence}
    return Judgement(rows, tuple(item for item in architectural if item not in cited))


def _asked(condition: StopCondition, answer: Answer | None, told: Evaluation | None = None) -> ConditionRow:
    if answer is None and told is not None:
        standing: Standing = "does not hold" if told.clear else "unanswered"
        return ConditionRow(condition, standing, "evaluated" if told.clear else "", told.evidence, told.why)
    if answer is None:
        return ConditionRow(condition, "unanswered")
    standing = "holds" if answer.holds else "does not hold"
    return ConditionRow(condition, standing, "answered", answer.evidence, answer.why)


def _first(
    condition: StopCondition,
    answer: Answer | None,
    stack_answers: Sequence[StackAnswer],
    questions: Sequence[str],
    freeze: str,
) -> ConditionRow:
    """Evaluate condition 1: the freeze proved the pair; what it could not tell of the stack must be answered."""
    if answer is not None and answer.holds:
        return _asked(condition, answer)
    answered: Mapping[str, StackAnswer] = {item.question: item for item in stack_answers}
    left = [question for question in questions if question not in answered]
    if left:
        return ConditionRow(condition, "unanswered", why=f"open: {'; '.join(left)}")
    evidence = [freeze, *(item for question in questions for item in answered[question].evidence)]
    why = "the freeze proved a supported pair"
    told = "; ".join(f"{question} {answered[question].answer}" for question in questions)
    more = answer.evidence if answer else ()
    return ConditionRow(condition, "does not hold", "evaluated", (*evidence, *more), f"{why}; {told}" if told else why)


def _said(numbers: Sequence[int], one: str, several: str) -> str:
    """Return ``stop condition 2 holds`` or ``stop conditions 2, 3 hold``."""
    listed = ", ".join(str(number) for number in numbers)
    return f"stop condition {listed} {one}" if len(numbers) == 1 else f"stop conditions {listed} {several}"
