"""The collection that stands for a test run before it: the same command with ``--collect-only``, and its test files.

The ids come from the collection, in the interpreter that will run them; the files come from the commit's tree, so
that a module which a collection skips or loses is missed by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from git_afd.core.command import Command

_DROPPED: Final = ("--junitxml", "--junit-xml", "--basetemp")
_SELECTING: Final = ("-m", "-k", "--deselect")
_VALUED: Final = frozenset({"-m", "-k", "-p", "-o", "-c", "-n", "-r", "-W", *_DROPPED, "--deselect", "--rootdir"})
_IGNORING: Final = ("--ignore", "--ignore-glob")
# An absolute verbosity, since the project's own addopts may hold a -q, and two of them print counts, no ids.
_LISTING: Final = ("--collect-only", "--verbosity=-1", "--color=no")
_UNSELECTED: Final = ("-m", "", "-k", "")
_NOT_ENTERED: Final = (".*", "build", "dist", "node_modules", "venv", "*.egg", "CVS", "_darcs", "{arch}", "__pycache__")
"""pytest's own ``norecursedirs``."""


def collect_command(command: Command, *, wide: bool = False) -> Command | None:
    """Return what lists the tests of `command`; None when it is no pytest run with a report.

    `wide` takes ``-m`` and ``-k`` back, the project's as well as the command's: what is listed then and not
    otherwise was deselected.
    """
    start = _start(command)
    if start is None or not command.junit:
        return None
    kept = tuple(_without(command.run[start:], _DROPPED))
    run = (*command.run[:start], *kept, *_LISTING, *(_UNSELECTED if wide else ()))
    return replace(command, run=run, junit="", results="")


def narrow_command(command: Command, ids: Collection[str]) -> Command:
    """Return `command` restricted to these tests; as it is when it is no pytest run, or none of them is its own.

    An id belongs to a command that names its file or a folder above it, or names no path at all. One that holds a
    brace stands there without its parameters: braces mean placeholders in a command.
    """
    start = _start(command)
    if start is None:
        return command
    words = command.run[start:]
    named = [_path(word) for word in _plain(words)]
    mine = (one for one in ids if not named or any(_below(one.partition("::")[0], path) for path in named))
    own = tuple(dict.fromkeys(one.partition("[")[0] if "{" in one else one for one in mine))
    kept = (word for word, plain in _told_apart(words) if not plain)
    return replace(command, run=(*command.run[:start], *kept, *own)) if own else command


def without_report(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command line without the options that write into a run's folder, to be run by hand."""
    return tuple(_without(argv, _DROPPED))


def selects(command: Command) -> bool:
    """Say whether `command` itself deselects tests: then the policy does, and not the project under test."""
    words = command.run[_start(command) or 0 :]
    return any(word == name or word.startswith(_glued(name)) for word in words for name in _SELECTING)


def expected_files(command: Command, tree: Collection[str]) -> tuple[str, ...] | None:
    """Return the test files of the commit that `command` must collect; None when it names no path of the commit.

    `tree` holds the repository-relative paths of the commit. A test file is what pytest's default
    ``python_files`` says, below a path that the command names, or a file that it names itself.
    """
    words = command.run[_start(command) or 0 :]
    named = tuple(dict.fromkeys(path for path in map(_path, _plain(words)) if _stands(path, tree)))
    if not named:
        return None
    ignored = tuple(_values(words, _IGNORING))
    found = (path for path in tree if any(_expected(path, name) for name in named) and not _ignored(path, ignored))
    return tuple(sorted(found))


def placed(ids: Collection[str], command: Command, tree: Collection[str]) -> frozenset[str] | None:
    """Return the files of the listed `ids` as paths of the commit; None when the commit does not hold them all."""
    prefix = root_of(ids, command, tree)
    return None if prefix is None else frozenset(f"{prefix}{node.partition('::')[0]}" for node in ids)


def root_of(ids: Collection[str], command: Command, tree: Collection[str]) -> str | None:
    """Return pytest's root folder, where the listed `ids` begin: empty for the tree's own, else ending in a slash.

    It is another one when a folder below has its own configuration. None when the commit does not hold their files.
    """
    listed = {node.partition("::")[0] for node in ids}
    words = command.run[_start(command) or 0 :]
    parents = [path.split("/") for path in map(_path, _plain(words))]
    prefixes = ["", *("/".join(parts[:end]) + "/" for parts in parents for end in range(1, len(parts) + 1))]
    return next((prefix for prefix in prefixes if all(f"{prefix}{path}" in tree for path in listed)), None)


def _start(command: Command) -> int | None:
    """Return where pytest's own arguments begin: after ``pytest``, or after the first ``-m`` when it says pytest."""
    run = command.run
    if run[0].rpartition("/")[2] in ("pytest", "py.test"):
        return 1
    place = run.index("-m") + 1 if "-m" in run else len(run)
    return place + 1 if run[place : place + 1] == ("pytest",) else None


def _glued(name: str) -> str:
    return f"{name}=" if name.startswith("--") else name


def _without(words: tuple[str, ...], names: tuple[str, ...]) -> Iterator[str]:
    skip = False
    for word in words:
        if not skip and word not in names and not word.startswith(tuple(f"{name}=" for name in names)):
            yield word
        skip = not skip and word in names


def _values(words: tuple[str, ...], names: tuple[str, ...]) -> Iterator[str]:
    for place, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in names:
            yield _path(value or "".join(words[place + 1 : place + 2]))


def _plain(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the words that are neither options nor their values."""
    return (word for word, plain in _told_apart(words) if plain)


def _told_apart(words: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Yield every word and whether it is neither an option nor the value of one."""
    valued = False
    for word in words:
        yield word, not valued and not word.startswith("-")
        valued = not valued and (word in _VALUED or word in _IGNORING)


def _path(word: str) -> str:
    """Return the repository-relative path that an argument names, ``.`` for the whole tree."""
    path = word.partition("::")[0].removeprefix("{plugin}").strip("/").removeprefix("./")
    return path or "."


def _below(path: str, named: str) -> bool:
    return named in (".", path) or path.startswith(f"{named}/")


def _stands(path: str, tree: Collection[str]) -> bool:
    return path == "." or path in tree or any(file.startswith(f"{path}/") for file in tree)


def _expected(path: str, named: str) -> bool:
    if path == named:
        return True
    if named != "." and not path.startswith(f"{named}/"):
        return False
    *folders, name = path.removeprefix("" if named == "." else f"{named}/").split("/")
    entered = not any(fnmatchcase(folder, glob) for folder in folders for glob in _NOT_ENTERED)
    return entered and (fnmatchcase(name, "test_*.py") or fnmatchcase(name, "*_test.py"))


def _ignored(path: str, ignored: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{name}/") or fnmatchcase(path, name) for name in ignored)
