"""``git afd demo``: three small repositories and the whole way through them, with the very same commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from git_afd.actions.demo.walk import Shown, walk
from git_afd.core.outcome import Outcome
from git_afd.errors import Exit

Tell = Callable[[str], None]


def demo(keep: Path | None, tell: Tell | None) -> Outcome:
    """Take the whole way; `tell` gets each line of the narration as it happens.

    Raises EnvironmentFault when a step ends otherwise than it must.
    """
    taken: list[Shown] = []
    for shown in walk(keep):
        taken.append(shown)
        if tell:
            for line in _narrated(shown):
                tell(line)
    steps = [
        {"number": item.number, "why": item.step.why, "command": item.step.command, "exit": item.said.code}
        for item in taken
    ]
    data = {"steps": steps, "folder": str(keep) if keep else None}
    return Outcome(verb="demo", data=data, next=f"cd {keep}/plugin && git afd status" if keep else "git afd freeze -h")


def _narrated(shown: Shown) -> list[str]:
    indented = [f"    {line}".rstrip() for line in shown.said.text.rstrip().splitlines()]
    refused = [] if shown.said.code == Exit.DONE else [f"    (exit code {shown.said.code})"]
    return [f"\n{shown.number}. {shown.step.why}", f"$ {shown.step.command}", *indented, *refused]
