"""Reading the state of a work tree: one status, and the facts about named paths.

Everything here only reads (optional locks off); every list of paths goes in and comes out NUL-separated.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from git_afd.adapters.git import Git, decode, encode
from git_afd.adapters.session import Session
from git_afd.core.path_facts import SUBMODULE_MODE, Change, PathFacts


@dataclass(frozen=True, slots=True)
class Status:
    """The tracked paths that are not as in HEAD, by path, at one moment."""

    changes: Mapping[str, Change]

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Paths in conflict."""
        return tuple(path for path, change in self.changes.items() if change.conflict)

    def others(self, planned: Iterable[str]) -> tuple[str, ...]:
        """Return the changed tracked paths that are not planned."""
        mine = set(planned)
        return tuple(path for path in self.changes if path not in mine)


def index_locked(git_dir: Path) -> bool:
    """Say whether some git process holds this worktree's index right now (or died holding it)."""
    return (git_dir / "index.lock").exists()


def read_status(git: Git) -> Status:
    """Return every tracked change, submodules included; untracked files are asked for by name (:func:`path_facts`)."""
    asked = ("-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=none")
    fields = git("status", "--porcelain=v2", *asked).split("\0")
    return Status({change.path: change for change in map(_change, fields) if change is not None})


def path_facts(session: Session, status: Status, paths: Sequence[str]) -> tuple[PathFacts, ...]:
    """Return the facts about each of `paths`, in their order."""
    if not paths:
        return ()
    git = session.git
    tags = dict(_tagged(git("ls-files", "-z", "-v", "--", *paths).split("\0")))
    ignored = set(git.run("check-ignore", "-z", "--stdin", input=_lines(paths)).fields())
    filters = _missing_filters(git, paths)
    return tuple(
        PathFacts(
            path=path,
            change=status.changes.get(path),
            entry=tags.get(path, ""),
            disk=_disk(session.root, path),
            link=_link_above(session.root, path),
            ignored=path in ignored,
            filter=filters.get(path, ""),
        )
        for path in paths
    )


def _change(field: str) -> Change | None:
    """Read one entry of porcelain v2: ``1 XY sub mH mI mW hH hI path`` or ``u XY sub m1 m2 m3 mW h1 h2 h3 path``."""
    kind, _, rest = field.partition(" ")
    if kind == "1":
        letters, sub, head_mode, index_mode, tree_mode, _, _, path = rest.split(" ", 7)
        module = sub != "N..." or SUBMODULE_MODE in (head_mode, index_mode, tree_mode)
        return Change(path, letters[0], letters[1], submodule=module)
    if kind == "u":
        return Change(rest.split(" ", 9)[9], "U", "U", conflict=True)
    return None


def _tagged(entries: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Read ``git ls-files -v``: a tag, a space, the path."""
    return ((entry[2:], entry[0]) for entry in entries if entry)


def _missing_filters(git: Git, paths: Sequence[str]) -> Mapping[str, str]:
    """Return the paths whose ``filter`` attribute names a driver that cannot clean: raw bytes would be committed."""
    answer = git.run("check-attr", "-z", "--stdin", "filter", input=_lines(paths))
    fields = decode(answer.stdout).split("\0")
    named = {path: driver for path, _, driver in zip(fields[0::3], fields[1::3], fields[2::3], strict=False)}
    wanted = set(named.values()) - {"unspecified", "unset", "set"}
    missing = {driver for driver in wanted if not _can_clean(git, driver)}
    return {path: driver for path, driver in named.items() if driver in missing}


def _can_clean(git: Git, driver: str) -> bool:
    return any(git.run("config", "--get", f"filter.{driver}.{way}").text for way in ("process", "clean"))


def _disk(root: Path, path: str) -> str:
    try:
        mode = os.lstat(encode(str(root / path))).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "absent"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "file"


def _link_above(root: Path, path: str) -> str:
    """Return the first parent of `path` that is a symlink, empty when none is."""
    parts = path.split("/")[:-1]
    above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    return next((folder for folder in above if _disk(root, folder) == "link"), "")


def _lines(paths: Iterable[str]) -> bytes:
    return b"".join(encode(path) + b"\0" for path in paths)
