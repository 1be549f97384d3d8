"""What an action returns: the same facts for a person and for a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from git_afd.core.finding import Finding
from git_afd.errors import Exit

Json = object
"""A JSON value. `object` rather than a recursive alias: readers narrow it with isinstance before use."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one command.

    `verb` names the renderer (``freeze``, ``root-cause.add``); `data` is JSON-able and is all that any
    renderer may show; `next` is the next allowed action as a command line; `exit` is the exit code.
    """

    verb: str
    data: Mapping[str, Json]
    findings: tuple[Finding, ...] = ()
    next: str = ""
    exit: int = Exit.DONE
    warnings: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Json]:
        """Return the one document that ``--json`` prints."""
        return {
            "schema": f"git-afd/{self.verb}/1",
            "ok": self.exit == Exit.DONE,
            "exit": self.exit,
            "data": dict(self.data),
            "findings": [finding.as_json() for finding in self.findings],
            "next": self.next,
        }
