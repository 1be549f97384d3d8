"""Words for ``git afd next``: the line that every command ends with, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from git_afd.core.outcome import Outcome
from git_afd.render.document import Piece


def pieces(outcome: Outcome) -> Iterator[Piece]:  # noqa: ARG001 - the signature of every renderer
    """Show nothing of its own."""
    yield from ()
