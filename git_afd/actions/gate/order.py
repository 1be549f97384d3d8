"""What was asked of a gate."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


def silent(_: str) -> None:
    """Tell nobody."""


def no_command(_title: str, _expected: int) -> None:
    """Tell nobody that a command begins."""


def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Order:
    """One call of ``git afd gate NAME``.

    `python` is the target runtime's interpreter, empty for the proven one or the one on PATH; `only` is one command of
    the gate and `failure` one whose failed tests are run again (either makes it a diagnostic); `cell` is ``native``
    for accuracy's control without the plugin; `targets` says where a target's tree stands on this host, when not where
    the freeze put it; `bundle` is where to write a bundle, `source` where to read one. `cancelled` says that the gate
    is not run to its end, and `why`. `tell` gets a line for a person, `echo` the commands' output as it comes;
    `began` is told which command begins and how many tests are expected of it (0: none), `tick` is called while it
    runs, `ended` when it has ended.
    """

    gate: str
    python: str = ""
    worktree: bool = False
    dry_run: bool = False
    diagnostic: bool = False
    only: str = ""
    failure: str = ""
    cell: str = ""
    bundle: Path | None = None
    source: Path | None = None
    targets: Mapping[str, Path] = field(default_factory=dict)
    cancelled: bool = False
    why: str = ""
    tell: Callable[[str], None] = silent
    echo: Callable[[bytes], None] | None = None
    began: Callable[[str, int], None] = no_command
    tick: Callable[[], None] = nothing
    ended: Callable[[], None] = nothing

    @property
    def words(self) -> str:
        """The command line that asks for the same commands."""
        asked = (("--only", self.only), ("--failure", self.failure), ("--cell", self.cell))
        return " ".join((f"git afd gate {self.gate}", *(f"{option} {name}" for option, name in asked if name)))

    @property
    def again(self) -> str:
        """The command line that asks for the same here, in the same interpreter."""
        return f"{self.words} --python {shlex.quote(self.python)}" if self.python else self.words

    @property
    def counts(self) -> bool:
        """Whether the run may decide the phase: a diagnostic and a control never do."""
        return not (self.diagnostic or self.only or self.failure or self.cell)
