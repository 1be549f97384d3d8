"""Proving that nothing was edited: two listings of files and two listings of dirty paths, compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A work tree at one moment.

    `files` maps each path of the commit below it to mode and blob id; `dirty` maps each path that differs from
    that commit, or is untracked, to a digest of what stands there.
    """

    files: Mapping[str, str]
    dirty: Mapping[str, str]


def edited(then: WorkTree, now: WorkTree, counts: Callable[[str], bool]) -> tuple[str, ...]:
    """Name every path for which `counts` is true and that is not now what it was then, in order."""
    committed = {path for path in then.files.keys() | now.files.keys() if then.files.get(path) != now.files.get(path)}
    beside = {path for path in then.dirty.keys() | now.dirty.keys() if then.dirty.get(path) != now.dirty.get(path)}
    return tuple(sorted(path for path in committed | beside if counts(path)))
