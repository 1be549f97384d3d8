"""Markdown pipe tables: rows under their header cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_RULE: Final = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?\Z")
_SPLIT: Final = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Row:
    """One row below a header: `cells` by header text (as written, stripped), and its line from 1."""

    headers: tuple[str, ...]
    cells: tuple[str, ...]
    line: int

    def cell(self, header: str) -> str:
        """Return the cell below a header (compared without case), empty when there is none."""
        for name, value in zip(self.headers, self.cells, strict=False):
            if name.casefold() == header.casefold():
                return value
        return ""


def rows(text: str) -> Iterator[Row]:
    """Yield the rows of every pipe table in a Markdown text. Total: what is no table yields nothing."""
    headers: tuple[str, ...] = ()
    before = ""
    for number, written in enumerate(text.split("\n"), start=1):
        line = written.strip()
        if "|" not in line:
            headers = ()
        elif _RULE.match(line) and "|" in before:
            headers = _cells(before)
        elif headers:
            yield Row(headers, _cells(line), number)
        before = line


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in _SPLIT.split(line.removeprefix("|").removesuffix("|")))
