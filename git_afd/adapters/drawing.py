"""Drawing up a commit before it is made, in an index of our own: the user's index is not so much as opened."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from git_afd.adapters.git import Git, encode
from git_afd.core.blueprint import Blueprint, read_changes
from git_afd.errors import EnvironmentFault, Refused

_PLAIN_INDEX: Final = ("core.splitIndex=false", "index.sparse=false", "core.untrackedCache=false")


def draw(git: Git, parent: str, paths: Iterable[str], *, keep: bool) -> Blueprint:
    """Return the commit that puts the work tree's `paths` on top of `parent` (full id), clean filters applied.

    With `keep`, its objects go to the repository's store; else they are gone with the call (a dry run). Raises
    Refused when git cannot take a path exactly, or a filter fails.
    """
    with _own_index(git, keep=keep) as env:
        git("read-tree", parent, env=env, locks=True, config=_PLAIN_INDEX)
        listed = b"".join(encode(path) + b"\0" for path in paths)
        words = ("update-index", "--add", "--remove", "-z", "--stdin")
        added = git.run(*words, input=listed, env=env, locks=True, config=_PLAIN_INDEX)
        if not added.ok or b"external filter" in added.stderr:
            raise Refused(f"git cannot take the planned paths as they are: {added.reason}", "correct that first")
        tree = git("write-tree", env=env, locks=True, config=_PLAIN_INDEX)
        return Blueprint(parent, tree, read_changes(tree_difference(git, parent, tree, env)))


def tree_difference(git: Git, old: str, new: str, env: Mapping[str, str] | None = None) -> list[str]:
    """Return the raw fields of the difference between two trees or commits (full ids)."""
    result = git.run("diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=none", old, new, env=env)
    if not result.ok:
        raise EnvironmentFault(f"git cannot compare {old[:12]} and {new[:12]}: {result.reason}", "git fsck")
    return result.fields()


@contextmanager
def _own_index(git: Git, *, keep: bool) -> Iterator[Mapping[str, str]]:
    with tempfile.TemporaryDirectory(prefix="git-afd-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        if not keep:
            store = git("rev-parse", "--path-format=absolute", "--git-path", "objects")
            (Path(folder) / "objects").mkdir()
            env |= {"GIT_OBJECT_DIRECTORY": f"{folder}/objects", "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(store)}
        yield env


def _quoted(path: str) -> str:
    """Quote a path for the colon-separated list of alternates (git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES)."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
