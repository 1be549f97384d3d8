"""Where a work tree is not its commit: what is changed, untracked or ignored, and what git was told not to look at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from git_afd.adapters.git import Git, decode, encode, git_fault
from git_afd.core.gating import Untidy
from git_afd.core.git_objects import GitObject
from git_afd.errors import EnvironmentFault

_CACHE: Final = "__pycache__"


def untidy(git: Git) -> tuple[Untidy, ...]:
    """List every path (relative to the top) where the work tree is not HEAD; reads only, refreshes no index.

    An ignored folder, or a link to one, is one entry that ends in a slash, and with it the first Python file that can
    be imported from there. Raises EnvironmentFault when git cannot tell.
    """
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching")
    result = git.run(*words, "--ignore-submodules=none")
    if not result.ok:
        raise git_fault(result, words, git.cwd)
    top = Path(git("rev-parse", "--show-toplevel"))
    found = [_entry(item) for item in result.fields()]
    packages = (one for item in found if item.how == "ignored" for one in _importable(top, item.path.rstrip("/")))
    return (*found, *packages, *_hidden(git), *_filtered(git, top))


def links_out(git: Git) -> tuple[Untidy, ...]:
    """List the tracked links that lead out of the work tree: what they stand for is in no commit, and may change."""
    top = os.path.realpath(git("rev-parse", "--show-toplevel"))
    rows = (item.partition("\t") for item in git("ls-files", "-s", "-z").split("\0"))
    links = (path for about, _, path in rows if about.startswith("120000 "))
    return tuple(Untidy(path, "linked") for path in links if not _is_within(os.path.realpath(f"{top}/{path}"), top))


def _is_within(target: str, top: str) -> bool:
    return target.startswith(f"{top}/") and not f"{target}/".startswith(f"{top}/.git/")


def _entry(item: str) -> Untidy:
    return Untidy(item[3:], {"??": "untracked", "!!": "ignored"}.get(item[:2], "changed"))  # type: ignore[arg-type]  # the words of How


def _hidden(git: Git) -> Iterator[Untidy]:
    """Yield tracked paths whose assume-unchanged (lower case) or skip-worktree (S) bit keeps status silent."""
    for item in git("ls-files", "-v", "-z").split("\0"):
        if item[:1].islower() or item[:1] == "S":
            yield Untidy(item[2:], "hidden")


def _importable(top: Path, folder: str) -> Iterator[Untidy]:
    """Yield the first Python file of an ignored folder that is a package, or a part of the package around it.

    ``pytest/__init__.py`` at the top is what ``python -m pytest`` would run. A folder such as ``build`` or ``.venv``
    is neither, however many Python files lie deep in it.
    """
    place = top / folder
    if place.name == _CACHE or not place.is_dir():
        return
    own, around = place / "__init__.py", place.parent / "__init__.py"
    found = own if own.exists() else next(_sources(place), None) if around.exists() else None
    if found is not None:
        yield Untidy(found.relative_to(top).as_posix(), "ignored")


def _sources(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != _CACHE)
        yield from (Path(place, name) for name in sorted(files) if name.endswith(".py"))


def _filtered(git: Git, top: Path) -> Iterator[Untidy]:
    """Yield tracked Python files whose bytes are not the commit's, though a clean filter makes git see no difference.

    A filter can stand in ``.git/info/attributes`` and the configuration, which no commit holds.
    """
    if not git.run("config", "--get-regexp", r"^filter\..*\.(clean|process)$").ok:
        return
    rows = (one.partition("\t") for one in git("ls-files", "-s", "-z", "--", ".").split("\0") if one)
    ids = {path: about.split()[1] for about, _, path in rows if path.endswith(".py")}
    said = decode(git.run("check-attr", "-z", "--stdin", "filter", input=encode("\0".join(ids))).stdout).split("\0")
    for path in (path for path, value in zip(said[::3], said[2::3], strict=False) if value != "unspecified"):
        file = top / path
        if file.is_file() and _blob(file, len(ids[path]) // 2) != ids[path]:
            yield Untidy(path, "changed")


def _blob(file: Path, width: int) -> str:
    """Return the id (`width` bytes) of a file's content as it is, through no filter."""
    try:
        return GitObject("blob", file.read_bytes(), width).id
    except OSError as error:
        raise EnvironmentFault(f"{file} cannot be read: {error.strerror}", "look at its permissions") from error
