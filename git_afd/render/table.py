"""Columns for a terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Sequence

STYLES = {
    "PASS": "green",
    "FAIL": "red",
    "BLOCKED": "yellow",
    "STOPPED": "red",
    "stale": "yellow",
    "not run": "dim",
}


def columns(head: Sequence[str], rows: Iterable[Sequence[str]], *, color: bool = False) -> str:
    """Return a table as text, as wide as the terminal (100 where there is none); cells wrap, nothing is cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    width = shutil.get_terminal_size((100, 24)).columns
    console = Console(file=io.StringIO(), width=width, force_terminal=color, no_color=not color, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
