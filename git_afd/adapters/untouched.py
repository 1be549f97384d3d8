"""A fingerprint of a source repository, so that "nothing of it was touched" is a comparison and not a promise.

Taken before and after: ``lstat`` of everything in the work tree, and ``lstat`` and bytes of everything in the git
dir that is no object. Taking it changes nothing (access times, which reading may change, are left out). Allowed
to appear are exactly our own additions: the registration of our worktree, and our pins with their logs.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_OBJECT_FOLDERS: Final = ("objects", "lfs")
"""Folders of stored content below a git dir (also below ``modules/``): named by their content, not compared."""

_DIGEST_UP_TO: Final = 64 << 20

Fact = tuple[int | str, ...]
"""What is known of a path: mode, owner, size, inode, times of modification and change (ns), digest or link target."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a source looked like: facts for each path, ``tree:`` or ``git:`` before its relative path."""

    facts: Mapping[str, Fact]

    @property
    def digest(self) -> str:
        """The SHA-256 of all facts."""
        return hashlib.sha256(os.fsencode(repr(sorted(self.facts.items())))).hexdigest()

    def without(self, added: tuple[str, ...]) -> Fingerprint:
        """Return the fingerprint without what stands at or below the paths `added` (``git:`` and a relative path).

        The folders above them are left out too: they may have had to be made, and nothing is known of them but that.
        """
        above = {"/".join(path.split("/")[:count]) for path in added for count in range(1, path.count("/") + 1)}
        below = tuple(f"{path}/" for path in added)
        left_out = {*above, *added}
        return Fingerprint(
            {path: fact for path, fact in self.facts.items() if path not in left_out and not path.startswith(below)}
        )


def fingerprint(root: Path | None, common_dir: Path) -> Fingerprint:
    """Take the fingerprint of a work tree (None for a bare repository) and its common git dir."""
    facts = dict(_git_facts(os.fspath(common_dir)))
    if root is not None:
        facts.update(_tree_facts(os.fspath(root)))
    return Fingerprint(facts)


def differences(before: Fingerprint, after: Fingerprint, added: tuple[str, ...]) -> tuple[str, ...]:
    """Name every path that differs, but for what stands at or below the paths `added`."""
    old, new = before.without(added).facts, after.without(added).facts
    if old == new:
        return ()
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))


def _tree_facts(top: str) -> Iterator[tuple[str, Fact]]:
    for path, entry, info in _walk(top, passed=lambda path, _: path == ".git"):
        yield f"tree:{path}", (*_lstat(info), *_link(entry, info))


def _git_facts(top: str) -> Iterator[tuple[str, Fact]]:
    for path, entry, info in _walk(top, passed=_holds_objects):
        name = f"git:{path}"
        if stat.S_ISDIR(info.st_mode):
            # git makes and removes lock files here, which moves a folder's times and nothing else
            yield name, (info.st_mode,)
        elif stat.S_ISREG(info.st_mode) and info.st_size <= _DIGEST_UP_TO:
            yield name, (*_lstat(info), _bytes_of(entry.path))
        else:
            yield name, (*_lstat(info), *_link(entry, info))


def _holds_objects(path: str, name: str) -> bool:
    return name in _OBJECT_FOLDERS and not path.startswith(("refs/", "logs/"))


def _walk(top: str, *, passed: Callable[[str, str], bool]) -> Iterator[tuple[str, os.DirEntry[str], os.stat_result]]:
    """Yield every entry below `top` with its relative path; folders of which `passed` says so are passed by."""
    folders = [(top, "")]
    while folders:
        folder, prefix = folders.pop()
        for entry in _entries(folder):
            path = prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and passed(path, entry.name):
                continue
            try:
                info = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # gone since it was listed: then it was not there before or will not be there after
            yield path, entry, info
            if is_folder:
                folders.append((entry.path, f"{path}/"))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """List a folder; one that we may not read, or that is gone, has no entries that we could change."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (PermissionError, FileNotFoundError):
        return []


def _lstat(info: os.stat_result) -> Fact:
    return (info.st_mode, info.st_uid, info.st_size, info.st_ino, info.st_mtime_ns, info.st_ctime_ns)


def _link(entry: os.DirEntry[str], info: os.stat_result) -> Fact:
    return (str(Path(entry.path).readlink()),) if stat.S_ISLNK(info.st_mode) else ()


def _bytes_of(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - thousands of paths: plain strings
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
