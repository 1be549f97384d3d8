"""The policy: what the project demands of an upgrade. Read by :mod:`git_afd.core.policy_reading`, then frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from git_afd.core.accuracy_rule import Accuracy
from git_afd.core.command import Command
from git_afd.core.native_cell import Cell, LogWords
from git_afd.core.needs import Needs
from git_afd.core.runtime_rule import RuntimeRule


@dataclass(frozen=True, slots=True)
class Paths:
    """Globs over repository-relative paths; a path belongs to the first kind that fits (``**`` crosses folders)."""

    lessons: str
    documentation: tuple[str, ...]
    tests: tuple[str, ...]
    production: tuple[str, ...]
    must_read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """One guarded value (workflow, Phase 8: never lower a threshold): where it is defined and how to find it.

    `pattern` is a regular expression with one group, matched line by line in files that fit `path`;
    `kind` is ``threshold``, ``tolerance`` or ``skip``.
    """

    name: str
    path: str
    pattern: str
    kind: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gate runs, checks and needs. `npu` gates are BLOCKED on a host without one.

    `categories` is the order in which the commands' categories are run and shown (workflow, Phase 7).
    `cells` are the native control's servers, `words` how their logs say what ran.
    """

    commands: tuple[Command, ...] = ()
    npu: bool = False
    devices: int = 0
    categories: tuple[str, ...] = ()
    needs: Needs = field(default_factory=Needs)
    checks: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()
    words: LogWords = field(default_factory=LogWords)

    def of_cell(self, cell: str) -> Gate:
        """Return the gate with the commands of one cell only: ``native``, or empty for those that load the plugin."""
        return replace(self, commands=tuple(command for command in self.commands if command.cell == cell))


TEARDOWN_S: Final = 90


@dataclass(frozen=True, slots=True)
class Host:
    """What a run must leave as it found it, and how many seconds it has for that after its commands ended.

    `ports` are TCP ports; releasing NPU memory takes 45 s and more (domain: NPU host evidence).
    """

    ports: tuple[int, ...] = ()
    teardown_s: int = TEARDOWN_S


@dataclass(frozen=True, slots=True)
class Skip:
    """A documented skip: the test id (glob), and the place that documents it (path and quoted text)."""

    test: str
    path: str
    quote: str


@dataclass(frozen=True, slots=True)
class CellTests:
    """Which tests exercise a cell of the feature matrix: in both ``*`` stands for anything, brackets for themselves."""

    cell: str
    test: str


@dataclass(frozen=True, slots=True)
class Policy:
    """The whole policy."""

    name: str
    paths: Paths
    guards: tuple[Guard, ...]
    gates: Mapping[str, Gate]
    accuracy: Accuracy
    skips: tuple[Skip, ...]
    dockerfiles: tuple[str, ...]
    bots: tuple[str, ...]
    simulated: bool = False
    host: Host = Host()
    cells: tuple[CellTests, ...] = ()
    runtime: RuntimeRule = field(default_factory=RuntimeRule)

    def kind_of(self, path: str) -> str:
        """Say what a repository-relative path is: lesson, documentation, test, production or other."""
        if path.startswith(self.paths.lessons.rstrip("/") + "/") and path.endswith("lessons.md"):
            return "lesson"
        table = (
            ("documentation", self.paths.documentation),
            ("test", self.paths.tests),
            ("production", self.paths.production),
        )
        return next((kind for kind, globs in table if fits(path, globs)), "other")

    def vouched(self, path: str) -> bool:
        """Say whether gates 5 to 8 vouch for this path: everything but documentation and lessons."""
        return self.kind_of(path) not in ("documentation", "lesson")


def fits(path: str, globs: Iterable[str]) -> bool:
    """Say whether `path` fits one of the globs: ``**`` crosses folders, ``*`` and ``?`` do not."""
    return any(_expression(glob).fullmatch(path) for glob in globs)


@lru_cache(maxsize=512)
def _expression(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    words = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(words.get(part) or re.escape(part) for part in parts), re.DOTALL)
