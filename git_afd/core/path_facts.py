"""What is true of one planned path, and which of it forbids a commit (scenarios C2, C3, C13; the shapes list)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.errors import Conflict, Refused

SUBMODULE_MODE: Final = "160000"


@dataclass(frozen=True, slots=True)
class Change:
    """One tracked path that is not as in HEAD (git-status(1), porcelain v2): the two letters, and what it is.

    `index` says how the index differs from HEAD, `tree` how the work tree differs from the index; ``.`` is
    unchanged. `submodule` and `conflict` say that it is one.
    """

    path: str
    index: str
    tree: str
    submodule: bool = False
    conflict: bool = False

    @property
    def intended(self) -> bool:
        """Whether the index knows the path only by ``git add --intent-to-add``."""
        return self.index == "." and self.tree == "A"

    @property
    def words(self) -> str:
        """How it differs, for a person."""
        if self.conflict:
            return "in conflict"
        parts = [f"index {_LETTERS.get(self.index, self.index)}"] if self.index != "." else []
        parts += [f"work tree {_LETTERS.get(self.tree, self.tree)}"] if self.tree != "." else []
        return ", ".join(parts)


_LETTERS: Final = {"M": "modified", "A": "added", "D": "deleted", "T": "of another type", "R": "renamed", "C": "copied"}


@dataclass(frozen=True, slots=True)
class PathFacts:
    """Everything about one planned path that decides whether it can be committed exactly.

    `entry` is its index entry's tag of ``git ls-files -v`` (empty when it has none); `disk` is ``absent``,
    ``file``, ``link`` or ``folder``; `link` is a parent that is a symlink; `filter` names a filter of the path
    that the configuration does not define.
    """

    path: str
    change: Change | None = None
    entry: str = ""
    disk: str = "absent"
    link: str = ""
    ignored: bool = False
    filter: str = ""

    @property
    def differs(self) -> str:
        """How the path differs from HEAD, empty when it does not."""
        if self.change is not None:
            return self.change.words
        return "untracked" if not self.entry and self.disk in ("file", "link") else ""


def check_repository(operation: str, conflicts: Iterable[str], *, locked: bool) -> None:
    """Refuse a repository in the middle of something; `operation` names it (``a merge``), empty when there is none."""
    if operation:
        raise Refused(f"{operation} is in progress", f"finish or abort {operation} first", code="in-progress")
    first = next(iter(conflicts), None)
    if first is not None:
        raise Refused(f"{first} is in conflict", "resolve it first", code="in-conflict")
    if locked:
        raise Conflict("another git process holds the index (index.lock)", "wait for it, then run the same again")


def check_committable(facts: Iterable[PathFacts]) -> None:
    """Refuse, by name, the first planned path that cannot be committed exactly as it lies in the work tree."""
    for item in facts:
        for reason, fix in _faults(item):
            raise Refused(f"{item.path} {reason}", fix, code="planned-path")


def differing(facts: Iterable[PathFacts]) -> Mapping[str, str]:
    """Return the planned paths that are not as in HEAD, with how they differ."""
    return {item.path: item.differs for item in facts if item.differs}


def _faults(item: PathFacts) -> Iterator[tuple[str, str]]:
    change = item.change
    if change is not None and change.submodule:
        yield "is a submodule", "upgrade a submodule outside of a root cause"
    if item.disk == "folder":  # also where a file was: git commit takes it for a repository
        yield "is a folder", "name each file: git afd root-cause amend"
    if item.link:
        yield f"lies beyond the symlink {item.link}", "plan the real path"
    if item.entry == "S" or item.entry.islower():
        flag = "skip-worktree" if item.entry.upper() == "S" else "assume-unchanged"
        yield f"is marked {flag}, so git does not look at it", f"git update-index --no-{flag} -- PATH"
    if item.ignored:
        yield "is ignored", "stop ignoring it, or leave it out of the plan"
    if item.filter:
        yield f"needs the filter {item.filter}, which is not configured here", f"set up filter.{item.filter} first"
    recreated = change is not None and change.index == "D" and item.disk != "absent"
    if change is not None and ((change.index != "." and change.tree != ".") or recreated):
        yield "is partially staged", "stage all of it or none of it"
