"""The planned entries of the user's index, and only those: read, put back as they were, brought to a new commit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.adapters.git import Git, encode
from git_afd.core.blueprint import TreeChange
from git_afd.core.intent import GONE

_LOCK_TRIES: Final = 40
_LOCK_PAUSE_S: Final = 0.05

Entry = tuple[str, str]
"""Mode and blob id of an index entry at stage 0."""


@dataclass(frozen=True, slots=True)
class PlannedEntries:
    """What the user's index held for the planned paths: by path, and which were there with intent to add only."""

    paths: tuple[str, ...]
    entries: Mapping[str, Entry]
    intended: tuple[str, ...] = ()


def planned_entries(git: Git, paths: Sequence[str], intended: Iterable[str] = ()) -> PlannedEntries:
    """Read the entries of `paths`; `intended` are those that ``git add --intent-to-add`` announced."""
    listed = git("ls-files", "--stage", "-z", "--", *paths).split("\0")
    found: dict[str, Entry] = {}
    for item in filter(None, listed):
        meta, path = item.split("\t", 1)
        mode, blob, _ = meta.split(" ")
        if path in paths:
            found[path] = (mode, blob)
    return PlannedEntries(tuple(paths), found, tuple(path for path in intended if path in found))


def announce(git: Git, paths: Sequence[str]) -> None:
    """Add `paths` with intent to add, so that a commit of exact paths knows them. They must not be in the index."""
    if paths:
        git("add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul", input=_lines(paths), locks=True)


def put_back(git: Git, before: PlannedEntries) -> bool:
    """Bring the planned entries back to what they were; return whether the index could be written."""
    now = planned_entries(git, before.paths)
    lost = [path for path in before.paths if now.entries.get(path) != before.entries.get(path)]
    plain = {path: entry for path, entry in before.entries.items() if path in lost and path not in before.intended}
    if lost and not _write(git, {path: plain.get(path) for path in lost}):
        return False
    announce(git, [path for path in before.intended if path in lost])
    return True


def bring_forward(git: Git, before: PlannedEntries, changes: Iterable[TreeChange]) -> tuple[str, ...]:
    """Bring the planned entries to a commit that was made elsewhere; return the paths left as they are.

    An entry that is no longer as it was read is somebody's newer work and is left; so are all while another git
    process keeps the index locked.
    """
    wanted = {item.path: None if item.mode == GONE else (item.mode, item.blob) for item in changes}
    now = planned_entries(git, tuple(wanted))
    known = {path: before.entries.get(path) for path in wanted}
    moved = [path for path in wanted if now.entries.get(path) not in (known[path], wanted[path])]
    todo = {path: entry for path, entry in wanted.items() if path not in moved}
    if not _write(git, todo):
        return tuple(wanted)
    there = [path for path, entry in todo.items() if entry is not None]
    if there:  # so that the next status need not read them again; nothing depends on it
        words = ("add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
        git.run(*words, input=_lines(there), locks=True)
    return tuple(moved)


def _write(git: Git, entries: Mapping[str, Entry | None]) -> bool:
    zero = "0" * 40  # for a removal git looks at the mode only
    lines = (f"{entry[0]} {entry[1]}\t{path}\0" if entry else f"0 {zero}\t{path}\0" for path, entry in entries.items())
    data = b"".join(map(encode, lines))
    for _ in range(_LOCK_TRIES):
        done = git.run("update-index", "-z", "--index-info", input=data, locks=True)
        if done.ok or b"index.lock" not in done.stderr:
            return done.ok
        time.sleep(_LOCK_PAUSE_S)
    return False


def _lines(paths: Iterable[str]) -> bytes:
    return b"".join(encode(path) + b"\0" for path in paths)
