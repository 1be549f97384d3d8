"""A fingerprint of a source repository, so that "nothing of it was touched" is a comparison and not a promise.

Taken before and after: ``lstat`` of everything in the work tree, and ``lstat`` and bytes of everything in the git
dir that is no object. Taking it changes nothing (access times, which reading may change, are left out). Allowed
to appear are exactly our own additions: the registration of our worktree, and our pins with their logs.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_OBJECT_FOLDERS: Final = ("objects", "lfs")
"""Folders of stored content below a git dir (also below ``modules/``): named by their content, not compared."""

_DIGEST_UP_TO: Final = 64 << 20

_Item = tuple[str, os.DirEntry[str], os.stat_result]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a source looked like: a line of facts for each path, ``tree:`` or ``git:`` before its relative path."""

    facts: Mapping[str, str]

    @property
    def digest(self) -> str:
        """The SHA-256 of all facts."""
        total = hashlib.sha256()
        for path in sorted(self.facts):
            total.update(os.fsencode(f"{path}\0{self.facts[path]}\0"))
        return total.hexdigest()

    def without(self, added: tuple[str, ...]) -> Fingerprint:
        """Return the fingerprint without what stands at or below the paths `added` (``git:`` and a relative path).

        The folders above them are left out too: they may have had to be made, and nothing is known of them but that.
        """
        above = {"/".join(path.split("/")[:count]) for path in added for count in range(1, path.count("/") + 1)}
        kept = {path: fact for path, fact in self.facts.items() if path not in above and not _below(path, added)}
        return Fingerprint(kept)


def fingerprint(root: Path | None, common_dir: Path) -> Fingerprint:
    """Take the fingerprint of a work tree (None for a bare repository) and its common git dir."""
    facts: dict[str, str] = {}
    if root is not None:
        facts |= {f"tree:{path}": fact for path, fact in _tree_facts(os.fspath(root))}
    facts |= {f"git:{path}": fact for path, fact in _git_facts(os.fspath(common_dir))}
    return Fingerprint(facts)


def differences(before: Fingerprint, after: Fingerprint, added: tuple[str, ...]) -> tuple[str, ...]:
    """Name every path that differs, but for what stands at or below the paths `added`."""
    old, new = before.without(added).facts, after.without(added).facts
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def _tree_facts(top: str) -> Iterator[tuple[str, str]]:
    for path, entry, info in _walk(top, ""):
        if path == ".git":
            if not stat.S_ISDIR(info.st_mode):
                yield path, _stat_fact(info)
            continue
        yield path, _stat_fact(info) + _link(entry)


def _git_facts(top: str) -> Iterator[tuple[str, str]]:
    for path, entry, info in _walk(top, "", skip=_OBJECT_FOLDERS):
        if stat.S_ISDIR(info.st_mode):
            # git makes and removes lock files here, which moves a folder's times and nothing else
            yield path, f"{info.st_mode:o}"
        elif entry.is_symlink():
            yield path, _stat_fact(info) + _link(entry)
        elif stat.S_ISREG(info.st_mode) and info.st_size <= _DIGEST_UP_TO:
            yield path, f"{_stat_fact(info)} {_bytes_of(entry.path)}"
        else:
            yield path, _stat_fact(info)


def _walk(top: str, folder: str, skip: tuple[str, ...] = ()) -> Iterator[_Item]:
    """Yield every entry below `top` with its relative path; folders named in `skip` are passed by."""
    for entry in _entries(os.path.join(top, folder)):  # noqa: PTH118 - thousands of paths: plain strings
        path = f"{folder}{entry.name}"
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name in skip and not path.startswith(("refs/", "logs/")):
            continue
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue  # gone since it was listed: then it was not there before or will not be there after
        yield path, entry, info
        if is_folder and path != ".git":
            yield from _walk(top, f"{path}/", skip)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """List a folder; one that we may not read, or that is gone, has no entries that we could change."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (PermissionError, FileNotFoundError):
        return []


def _stat_fact(info: os.stat_result) -> str:
    times = f"{info.st_mtime_ns} {info.st_ctime_ns}"
    return f"{info.st_mode:o} {info.st_uid} {info.st_size} {info.st_ino} {times}"


def _link(entry: os.DirEntry[str]) -> str:
    return f" {Path(entry.path).readlink()}" if entry.is_symlink() else ""


def _bytes_of(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - same
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
