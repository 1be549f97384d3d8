"""Digests of what a commit holds: evidence belongs to content, so that a moved line makes it stale by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from git_afd.adapters.git import Git, encode
from git_afd.core.policy import Policy

FILE_MODES = ("100644", "100755")
"""Modes of ordinary files."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a tree: mode (octal text), kind, object id, repository-relative path."""

    mode: str
    kind: str
    id: str
    path: str

    @property
    def ordinary(self) -> bool:
        """Whether it is a file with content of its own: no link, no submodule."""
        return self.mode in FILE_MODES


def entries(git: Git, commit: str, inside: str = "") -> tuple[Entry, ...]:
    """List every file of a commit (full id), or those `inside` a folder, recursively, in git's order."""
    return parsed(git("ls-tree", "-r", "-z", "--full-tree", commit, *(("--", inside) if inside else ())))


def parsed(listing: str) -> tuple[Entry, ...]:
    """Read what ``git ls-tree -z`` printed."""
    return tuple(_entry(item) for item in listing.split("\0") if item)


def digests(git: Git, commit: str, policy: Policy) -> tuple[str, str]:
    """Return the digests (SHA-256) of the content that gates vouch for, and of the whole tree but its lessons."""
    listed = entries(git, commit)
    return (
        _digest(listed, policy.vouched),
        _digest(listed, lambda path: policy.kind_of(path) != "lesson"),
    )


def _entry(item: str) -> Entry:
    meta, path = item.split("\t", 1)
    mode, kind, name = meta.split(" ")
    return Entry(mode, kind, name, path)


def _digest(listed: tuple[Entry, ...], wanted: Callable[[str], bool]) -> str:
    total = hashlib.sha256()
    for entry in listed:
        if wanted(entry.path):
            total.update(encode(f"{entry.mode} {entry.id} {entry.path}\0"))
    return total.hexdigest()
