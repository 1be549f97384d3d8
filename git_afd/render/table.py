"""Columns for a terminal. Written here because the usual library costs as much to import as git-afd's whole start."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

STYLES: Final = {
    "PASS": "32",  # green
    "FAIL": "31",  # red
    "BLOCKED": "33",  # yellow
    "STOPPED": "31",
    "stale": "33",
    "not run": "2",  # dim
}
_UNSEEN: Final = {*map(chr, (*range(32), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x2028, 0x202F)))}
_UNSEEN.update(map(chr, range(0x2066, 0x206A)))
_BOLD: Final = "1"
_GAP: Final = "  "
_NARROWEST: Final = 6


def columns(head: Sequence[str], rows: Iterable[Sequence[str]], *, color: bool = False) -> str:
    """Return a table as text, as wide as the terminal (100 where there is none); cells wrap, nothing is cut."""
    table = [tuple(_plain(cell) for cell in row) for row in rows]
    widths = _widths([tuple(head), *table], shutil.get_terminal_size((100, 24)).columns)
    lines = _lines(head, widths, [_BOLD] * len(widths), color=color)
    for row in table:
        lines += _lines(row, widths, [STYLES.get(cell, "") for cell in row], color=color)
    return "\n".join(lines)


def visible(text: str) -> str:
    """Return `text` with control characters spelled out: what a file or a ref is called moves no cursor.

    So are the marks that change the direction of writing, which make a line read as something else.
    """
    return "".join(repr(char)[1:-1] if char in _UNSEEN else char for char in text)


def _plain(cell: str) -> str:
    return visible(" ".join(cell.split("\n")))


def _lines(row: Sequence[str], widths: Sequence[int], styles: Sequence[str], *, color: bool) -> list[str]:
    wrapped = [_wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    height = max(map(len, wrapped))
    found: list[str] = []
    for number in range(height):
        parts = [cell[number] if number < len(cell) else "" for cell in wrapped]
        padded = [part + " " * (width - _size(part)) for part, width in zip(parts, widths, strict=True)]
        line = _GAP.join(_styled(part, style if color else "") for part, style in zip(padded, styles, strict=True))
        found.append(line.rstrip())
    return found


def _styled(text: str, style: str) -> str:
    bare = text.rstrip()
    return f"\x1b[{style}m{bare}\x1b[0m{text[len(bare) :]}" if style and bare else text


def _widths(rows: Sequence[Sequence[str]], total: int) -> list[int]:
    """Give each column what it needs, then take from the widest until all fit."""
    widths = [max(map(_size, cells)) for cells in zip(*rows, strict=True)]
    room = total - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _wrap(text: str, width: int) -> list[str]:
    """Break at spaces; a word that is longer than the column is broken where the column ends."""
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if _size(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        while _size(word) > width:
            cut = _fitting(word, width)
            lines.append(word[:cut])
            word = word[cut:]  # noqa: PLW2901 - what is left of the word goes on
        line = word
    return [*lines, line]


def _fitting(word: str, width: int) -> int:
    """Return how many characters of `word` fit into `width` cells; at least one."""
    used = 0
    for place, char in enumerate(word):
        used += _size(char)
        if used > width:
            return max(place, 1)
    return len(word)


def _size(text: str) -> int:
    """Return how many cells of a terminal `text` takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
