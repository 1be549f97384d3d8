"""A commit as it is planned: known to the byte before git is asked to make it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from git_afd.core.intent import GONE, Intent, Planned
from git_afd.core.policy import Policy
from git_afd.core.state import ADAPTING, RootCause
from git_afd.errors import Refused


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One path between two trees: modes (six octal digits, 000000 where absent) and blob ids before and after."""

    path: str
    old_mode: str
    old_blob: str
    mode: str
    blob: str

    @property
    def gone(self) -> bool:
        """Whether the path is deleted."""
        return self.mode == GONE


@dataclass(frozen=True, slots=True)
class Blueprint:
    """Parent commit, the tree that the new commit must have (full ids), and what that changes, by path."""

    parent: str
    tree: str
    changes: tuple[TreeChange, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that the commit changes."""
        return tuple(change.path for change in self.changes)

    def intent(self, upgrade: str, root_cause: str, ledger: str) -> Intent:
        """Return what is announced to the hooks; `ledger` is its tip (full id)."""
        paths = [Planned(change.mode, change.blob, change.path) for change in self.changes]
        return Intent(upgrade, root_cause, ledger, self.parent, self.tree, paths)


def read_changes(fields: Sequence[str]) -> tuple[TreeChange, ...]:
    """Read ``git diff-tree -r -z --no-renames`` (raw format): pairs of ``:old new oldid newid status`` and path."""
    return tuple(_changes(fields))


def _changes(fields: Sequence[str]) -> Iterator[TreeChange]:
    for meta, path in zip(fields[0::2], fields[1::2], strict=True):
        old_mode, mode, old_blob, blob, _ = meta.removeprefix(":").split(" ")
        yield TreeChange(path, old_mode, old_blob, mode, blob)


def check_contents(blueprint: Blueprint, cause: RootCause, policy: Policy) -> None:
    """Refuse a commit that is not what its root cause plans: every file, and a test or the reason.

    A focused test is in the commit when it changed; one that only has to pass need not.
    """
    changed = set(blueprint.paths)
    if not changed:
        raise Refused(f"nothing that {cause.name} plans has changed", "make the change first", code="nothing-changed")
    idle = next((path for path in cause.files if path not in changed), None)
    if idle is not None:
        fix = f"change it, or leave it out: git afd root-cause amend {cause.name}"
        raise Refused(f"{idle} is planned by {cause.name} and has not changed", fix, code="planned-path")
    earlier = next((item for item in blueprint.changes if item.old_mode != GONE and _is_lesson(item, policy)), None)
    if earlier is not None:
        raise Refused(
            f"{earlier.path} is an earlier lesson, and those are never changed",
            "write a new one",
            code="earlier-lesson",
        )
    regression = {test.partition("::")[0] for test in cause.tests}
    if cause.kind == "failure-fix" and regression and not regression & changed:
        raise Refused(
            f"{cause.name} fixes {cause.failure}, and its regression test has not changed: {', '.join(cause.tests)}",
            "add the test that fails without the fix",
            code="no-regression-test",
        )
    tested = any(policy.kind_of(path) == "test" for path in changed)
    if cause.kind in ADAPTING and not tested and not cause.untested.strip():
        raise Refused(
            f"{cause.name} changes no planned test and gives no reason",
            f"change one, or git afd root-cause amend {cause.name} --untested WHY",
            code="no-test",
        )


def _is_lesson(change: TreeChange, policy: Policy) -> bool:
    return policy.kind_of(change.path) == "lesson"
