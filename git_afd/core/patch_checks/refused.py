"""What of a commit's content refuses it, and what only warns: patch functions and guarded values (design, hooks).

Workflow, Phase 4, says what a patch function must be: an exact signature, a complete comment, paired markers. A commit
answers for the functions that it touches; what others still owe belongs to their own root causes, and the static gate
asks for all of it. Reflection and loose types are forbidden "unless necessary", which no rule can tell: they warn here,
and the review and the gate see them again. A guarded value is a person's to change (Phase 8), in a commit of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from git_afd.core.finding import Finding
from git_afd.core.guards import GuardChange
from git_afd.core.patch_checks.model import Checked
from git_afd.core.patch_checks.unchecked import unchecked

APPROVAL: Final = "guard"
"""What an approval of a guarded value is for; its subject is GuardChange.subject."""

ALWAYS: Final = ("patch-unparsable", "marker-unbalanced", "import-unresolved")
"""Codes that refuse wherever in a changed file they are found: it cannot run, or cannot be read as a patch."""

TOUCHED: Final = ("signature-different", "signature-annotations", "header-incomplete", "source-untrue")
"""Codes that refuse when the commit touches the function that they are about."""

_APPROVE: Final = f"restore it, or let a person decide: git afd approve {APPROVAL}"
_ALONE: Final = "commit it by a root cause of its own, without production code"


@dataclass(frozen=True, slots=True)
class Judged:
    """What refuses a commit (or push) of this content, and what its author should know."""

    refused: tuple[Finding, ...] = ()
    warned: tuple[Finding, ...] = ()


def judged(
    checked: Checked, changes: Sequence[GuardChange], approved: Collection[str], *, alone: bool = True
) -> Judged:
    """Divide what was found. `approved` are subjects of approvals; `alone` says that no production code changes."""
    refused = [*(item for item in checked.findings if _refuses(item, checked)), *_guarded(changes, approved, alone)]
    others = (item for item in checked.findings if not _refuses(item, checked))
    warned = [*(replace(item, severity="note") for item in others), *unchecked(checked.not_checked)]
    return Judged(tuple(refused), tuple(warned))


def _refuses(item: Finding, checked: Checked) -> bool:
    return item.code in ALWAYS or (item.code in TOUCHED and item.place in checked.touched)


def _guarded(changes: Sequence[GuardChange], approved: Collection[str], alone: bool) -> Iterator[Finding]:  # noqa: FBT001 - as in judged
    for change in changes:
        if change.subject not in approved:
            yield replace(change.finding, remedy=_APPROVE)
        elif not alone:
            message = f"{change.guard} in {change.place} changes together with production code"
            yield Finding("guard-mixed", change.place, message, _ALONE)
