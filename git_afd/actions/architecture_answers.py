"""Where the answers of the architecture gate come from: a file, and on a terminal a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from git_afd.actions.inventory import together
from git_afd.adapters.frozen_files import commits_of, frozen_files
from git_afd.adapters.session import Session
from git_afd.adapters.workbook_file import read_workbook
from git_afd.core import shape
from git_afd.core.finding import Finding
from git_afd.core.impacts.conditions import Evaluation, evaluations
from git_afd.core.state import Upgrade
from git_afd.core.stop_conditions import Answer, ConditionRow, StackAnswer, judge
from git_afd.core.workbook.answers import (
    STOP_TEXTS,
    Answers,
    Known,
    evidence_faults,
    evidence_places,
    parse_answers,
    why_no_evidence,
    with_fitting,
)
from git_afd.core.workbook.impacts import Impacts
from git_afd.core.workbook.inventory import Inventory

Check = Callable[[str], str]
"""Says why a piece of evidence names nothing, empty when it names something."""


class Person(Protocol):
    """Somebody at a terminal."""

    def condition(self, row: ConditionRow, check: Check) -> Answer:
        """Answer one stop condition."""
        ...

    def question(self, key: str, text: str, check: Check) -> StackAnswer:
        """Answer one question about the stack."""
        ...

    def text(self, about: str) -> str:
        """Say one thing of the stop report."""
        ...


@dataclass(frozen=True, slots=True)
class Subject:
    """What the gate judges: the upgrade and the recorded rows of phases 1 and 2."""

    up: Upgrade
    inventory: Inventory
    impacts: Impacts

    @property
    def stack_questions(self) -> dict[str, str]:
        """Return what the freeze could not tell of the stack: key (``code:place``) to its sentence."""
        stack = shape.table(self.up.freeze.body, "stack")
        return {
            f"{shape.text(row, 'code')}:{shape.text(row, 'place', '')}": shape.text(row, "message", "")
            for row in shape.tables(stack, "questions")
        }

    @property
    def questions(self) -> tuple[str, ...]:
        """Return the keys of the questions."""
        return tuple(self.stack_questions)

    @property
    def evaluated(self) -> tuple[Evaluation, ...]:
        """Return what the comparison says of the conditions; nothing where impacts were given by hand."""
        if self.up.diff is None or not self.up.diff.proposed:
            return ()
        contracts = {contract.id: contract for contract in self.inventory.contracts}
        decided = self.up.diff.decided
        rows = [replace(row, class_=decided[row.id].class_) if row.id in decided else row for row in self.impacts.rows]
        return evaluations(self.up.diff.record, rows, contracts)

    @property
    def architectural(self) -> tuple[str, ...]:
        """Return what an answer must cite: ARCHITECTURAL impacts, and failures that are architecture findings."""
        classes = self.up.diff.items if self.up.diff else {}  # with what was decided since the comparison
        impacts = (impact.id for impact in self.impacts.rows if classes.get(impact.id) == "ARCHITECTURAL")
        return (*impacts, *(failure.name for failure in self.up.architecture_findings))

    @property
    def ids(self) -> frozenset[str]:
        """Return what evidence may name by id."""
        contracts = {contract.id for contract in self.inventory.contracts}
        findings = {failure.name for failure in self.up.architecture_findings}
        return frozenset(contracts | findings | {impact.id for impact in self.impacts.rows})


def read_answers(session: Session, subject: Subject, file: Path | None, name: str) -> Answers | tuple[Finding, ...]:
    """Return the answers of a file (none: no answers), or what is wrong with them."""
    if file is None:
        return Answers()
    workbook = read_workbook(file, name)
    parsed, faults = parse_answers(workbook.document)
    answers = with_fitting(parsed, subject.architectural)
    evidence = [item for _, _, items in answers.evidence for item in items]
    places = evidence_places(evidence, commits_of(subject.up.freeze))
    frozen = frozen_files(session, subject.up.freeze, places)
    found = together(faults, evidence_faults(answers, _known(session, subject, evidence), frozen))
    return workbook.findings(found) if found else answers


def asked(session: Session, subject: Subject, answers: Answers, person: Person | None, *, stop: bool) -> Answers:
    """Return the answers with what a person adds on a terminal; as they are when there is none."""
    if person is None:
        return answers

    def check(item: str) -> str:
        places = evidence_places([item], commits_of(subject.up.freeze))
        frozen = frozen_files(session, subject.up.freeze, places)
        return why_no_evidence(item, _known(session, subject, [item]), frozen)

    known = {item.question for item in answers.questions}
    told = tuple(person.question(key, text, check) for key, text in subject.stack_questions.items() if key not in known)
    answers = replace(answers, questions=(*answers.questions, *told))
    said = tuple(person.condition(row, check) for row in _open(subject, answers))
    texts = {name: person.text(about) for name, about in STOP_TEXTS.items() if stop and name not in answers.stop}
    return replace(answers, conditions=(*answers.conditions, *said), stop={**answers.stop, **texts})


def _open(subject: Subject, answers: Answers) -> Iterator[ConditionRow]:
    freeze = subject.up.freeze.record
    judgement = judge(answers.conditions, answers.questions, subject.questions, freeze, (), subject.evaluated)
    return (row for row in judgement.rows if row.standing == "unanswered")


def _known(session: Session, subject: Subject, evidence: list[str]) -> Known:
    return Known(subject.ids, {item for item in evidence if session.artifacts.get(item) is not None})
