"""What a commit on an upgrade branch must be, judged on plain values.

Used by the hooks before git writes the commit; imports nothing that costs (see core/intent.py).
"""

from __future__ import annotations

from git_afd.core.intent import GONE
from git_afd.core.message_rules import check_message
from git_afd.errors import Refused

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from git_afd.core.hook_state import HookState, OpenUpgrade, Plan
    from git_afd.core.intent import Intent

_WAITS_FOR = {"documentation": 8, "lesson": 10}
"""The last phase that must be PASS before a path of this kind may change; every other kind waits for phase 3."""

_CODE = ("production", "test")

PATCH_WORDS = ("PATCH", "vllm")
"""A Python file of the plugin that holds none of these patches nothing and imports nothing of an upstream."""


class Staged:
    """One path that the index changes against HEAD: modes (six octal digits), new blob id, path."""

    __slots__ = ("blob", "mode", "old_mode", "path")

    def __init__(self, old_mode: str, mode: str, blob: str, path: str) -> None:
        """Keep the four."""
        self.old_mode = old_mode
        self.mode = mode
        self.blob = blob
        self.path = path


def parse_staged(text: str) -> list[Staged]:
    """Read the output of ``git diff-index --cached --raw -z --no-renames``."""
    fields = text.split("\0")
    found = []
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):  # what follows the last NUL is empty
        old_mode, mode, _, blob, _ = meta[1:].split(" ")
        found.append(Staged(old_mode, mode, blob, path))
    return found


def waits_for(up: OpenUpgrade, kind: str, *, coupled: bool = False) -> tuple[str, str, str] | None:
    """Say what a path of this kind waits for: the gate, the first phase that is not PASS, and its status.

    None when nothing. `coupled` is for documentation that a code change cannot do without: a fixture, a comment
    (workflow.md, Phase 4).
    """
    number = 3 if coupled else _WAITS_FOR.get(kind, 3)
    listed = list(up.phases.items())[: number + 1]
    return next(((listed[-1][0], name, status) for name, status in listed if status != "PASS"), None)


def waiting(path: str, kind: str, lack: tuple[str, str, str]) -> Refused:
    """Return the refusal of a path that comes too early."""
    gate, phase, status = lack
    what = {"production": "production code", "documentation": "documentation"}.get(kind, f"a {kind}")
    what = "no part of production, but the plugin's" if kind == "other" else what
    reason = f"{phase} is {status}" if phase == gate else f"{gate} cannot pass while {phase} is {status}"
    return Refused(f"{path} is {what}, which waits for {gate}: {reason}", "git afd next", code="too-early")


def earlier_lesson(path: str) -> Refused:
    """Return the refusal of a change to a lesson that an earlier upgrade wrote."""
    return Refused(
        f"{path} is the lesson of an earlier upgrade, which is never rewritten",
        f"git restore --staged -- {path}, and write a new lesson",
        code="earlier-lesson",
    )


def judge_announced(
    up: OpenUpgrade, intent: Intent, head: str, staged: Sequence[Staged], at_base: Callable[[str], bool]
) -> None:
    """Raise Refused unless the index holds exactly what `intent` announced, on HEAD, and the phases allow it.

    `head` is the full id of HEAD; `at_base` says whether a path stands in the freeze's base commit.
    """
    again = f"git afd commit --root-cause {intent.root_cause}"
    plan = up.plans.get(intent.root_cause)
    if intent.upgrade != up.id or plan is None:
        raise Refused(
            f"{intent.root_cause} of {intent.upgrade} was announced, and it is not open here", "git afd status"
        )
    if intent.parent != head:
        raise Refused(f"HEAD moved since {intent.root_cause} was announced on {intent.parent[:12]}", again)
    _compare(intent, staged, again)
    for item in staged:
        _judge_path(up, intent.root_cause, plan, item, at_base)


def judge_message(state: HookState, intent: Intent, text: str, committer: str) -> None:
    """Raise Refused unless `text` (the message as git keeps it) is one of this root cause by `committer`.

    Which head of the chain it must name is known only while the ledger stands where the commit was announced.
    """
    up = state.upgrades[intent.upgrade]
    names = dict.fromkeys(key.partition(".")[0] for key in up.revisions)
    revisions = {name: (up.revisions[f"{name}.current"], up.revisions[f"{name}.target"]) for name in names}
    faults = check_message(
        text,
        upgrade=up.id,
        root_cause=intent.root_cause,
        committer=committer,
        revisions=revisions,
        ledger=" ".join(state.heads) if intent.ledger == state.tip else "",
        known=(intent.parent, up.base),
    )
    if faults:
        said = "; ".join(sentence for _, sentence, _ in faults)
        raise Refused(f"the message of {intent.root_cause}: {said}", faults[0][2], code=faults[0][0])


def _compare(intent: Intent, staged: Iterable[Staged], again: str) -> None:
    planned = {item.path: (item.mode, "" if item.mode == GONE else item.blob) for item in intent.paths}
    for item in staged:
        if item.path not in planned:
            raise Refused(
                f"{item.path} is staged, and {intent.root_cause} did not announce it", again, code="unplanned"
            )
        if planned.pop(item.path) != (item.mode, "" if item.mode == GONE else item.blob):
            raise Refused(
                f"{item.path} is not what {intent.root_cause} announced: something changed it meanwhile (a hook?)",
                f"git diff --cached -- {item.path}, then {again}",
                code="changed-meanwhile",
            )
    for path in planned:
        raise Refused(f"{path} was announced by {intent.root_cause} and is not staged", again, code="not-staged")


def _judge_path(up: OpenUpgrade, root_cause: str, plan: Plan, item: Staged, at_base: Callable[[str], bool]) -> None:
    kind = plan.paths.get(item.path)
    if kind is None:
        raise Refused(
            f"{item.path} is not in the plan of {root_cause}",
            f"git afd root-cause amend {root_cause} --file {item.path}",
            code="outside-plan",
        )
    coupled = kind == "documentation" and plan.kind in ("adaptation", "failure-fix")
    lack = waits_for(up, kind, coupled=coupled and any(other in _CODE for other in plan.paths.values()))
    if lack is not None:
        raise waiting(item.path, kind, lack)
    if kind == "lesson" and item.old_mode != GONE and at_base(item.path):
        raise earlier_lesson(item.path)
