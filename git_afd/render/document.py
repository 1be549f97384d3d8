"""What a verb has to say, as lines and tables, whatever form it is then given.

A verb that offers ``--format`` yields these pieces from ``pieces(outcome)`` in its module of git_afd.render.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from git_afd.render.table import columns, visible


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its head and its rows, all of one length."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Piece = str | Table
"""One line, or one table. An empty line parts paragraphs."""


def text_lines(pieces: Iterable[Piece], *, color: bool) -> Iterator[str]:
    """Yield the pieces as lines for a terminal."""
    for piece in pieces:
        yield columns(piece.head, piece.rows, color=color) if isinstance(piece, Table) else visible(piece)
