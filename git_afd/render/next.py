"""Words for ``git afd next``: the line that every command ends with, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from git_afd.core.outcome import Outcome


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show nothing of its own."""
    yield from ()
