"""What happened in an upstream between two commits: changed files with renames, commits that were undone on the way.

All of it is read by git from its objects; nothing is checked out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from git_afd.adapters.git import Git, decode, git_fault
from git_afd.core.impacts.files import Change, Reverted

_REVERTS: Final = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)
_TWO_PATHS: Final = "RC"


def changes(git: Git, old: str, new: str, folder: str) -> tuple[Change, ...]:
    """Return the files below `folder` that differ between two commits (full ids), renames told as such.

    Raises EnvironmentFault or Blocked when git cannot compare them (a missing object).
    """
    args = ("diff", "--find-renames", "--name-status", "-z", "--no-ext-diff", old, new, "--", folder)
    result = git.run(*args)
    if not result.ok:
        raise git_fault(result, args, git.cwd)
    return tuple(_changes(result.fields()))


def _changes(fields: list[str]) -> Iterator[Change]:
    words = iter(fields)
    for status in words:
        first = next(words, "")
        if status[:1] in _TWO_PATHS:
            yield Change(status[:1], next(words, ""), first if status[:1] == "R" else "")
        else:
            yield Change(status[:1], first)


def reverts(git: Git, old: str, new: str, folder: str) -> tuple[Reverted, ...]:
    """Return the commits that were both made and reverted between two commits (full ids).

    Only what git itself writes into a revert's message counts, and only when the reverted commit lies in the range.
    """
    found = git.run("log", "-z", "--format=%H%x1f%B", "--grep=^This reverts commit", f"{old}..{new}", "--", folder)
    if not found.ok or not found.stdout:
        return ()
    pairs = [(text[: _id_length(text)], name) for text in found.fields() for name in _REVERTS.findall(text)]
    inside = set(git.run("rev-list", f"{old}..{new}").text.split()) if pairs else set()
    known = [(by, full) for by, name in pairs for full in [_full(git, name)] if full in inside]
    return tuple(_reverted(git, by, commit, folder) for by, commit in known)


def _id_length(text: str) -> int:
    return text.index("\x1f")


def _full(git: Git, name: str) -> str:
    return git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").text


def _reverted(git: Git, by: str, commit: str, folder: str) -> Reverted:
    subject = git.run("log", "-1", "--format=%s", commit).text
    listed = git.run("diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--root", commit, "--", folder)
    return Reverted(commit, by, subject, tuple(decode(item) for item in listed.stdout.split(b"\0") if item))


def first_parent_log(git: Git, old: str, new: str, path: str) -> tuple[tuple[str, str], ...]:
    """Return the commits of the first-parent log that touch a path, newest first: full id and subject."""
    found = git.run("log", "--first-parent", "-z", "--format=%H%x1f%s", f"{old}..{new}", "--", path)
    rows = (item.partition("\x1f") for item in found.fields())
    return tuple((name, subject) for name, _, subject in rows)
