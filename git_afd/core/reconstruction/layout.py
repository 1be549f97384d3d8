"""Lines of source and their indentation: shifting a function without touching what stands inside its strings."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence

_WIDE_OPEN = ("FSTRING_START", "TSTRING_START")
_WIDE_CLOSE = ("FSTRING_END", "TSTRING_END")


def indent_of(line: str) -> str:
    """Return the white space a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def shifted(lines: Sequence[str], old: str, new: str) -> list[str]:
    """Return lines with indentation `old` replaced by `new`; lines inside strings that lack `old` stay."""
    fixed = inside_strings("\n".join(lines))
    found: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or number in fixed:
            found.append(line if number in fixed else "")
        elif line.startswith(old):
            found.append(new + line[len(old) :])
        else:
            found.append(new + line.lstrip() if len(indent_of(line)) < len(old) else line)
    return found


def moved(lines: Sequence[str], columns: int) -> list[str]:
    """Return lines moved by a number of columns to the right (or left)."""
    if columns >= 0:
        return shifted(lines, "", " " * columns)
    return shifted(lines, " " * -columns, "")


def dedented(text: str) -> list[str]:
    """Return a definition's lines so that its first one begins at the margin."""
    lines = text.rstrip("\n").split("\n")
    return shifted(lines, indent_of(lines[0]), "")


def inside_strings(text: str) -> set[int]:
    """Return the lines (from 1) that begin inside a string; a docstring's move with the code around them."""
    found: set[int] = set()
    opened: list[int] = []
    previous = tokenize.NEWLINE
    try:
        for token in tokenize.generate_tokens(io.StringIO(text + "\n").readline):
            name = tokenize.tok_name[token.type]
            if name in _WIDE_OPEN:
                opened.append(token.start[0])
            elif name in _WIDE_CLOSE and opened:
                found.update(range(opened.pop() + 1, token.end[0] + 1))
            elif token.type == tokenize.STRING and previous not in (tokenize.NEWLINE, tokenize.INDENT):
                found.update(range(token.start[0] + 1, token.end[0] + 1))
            if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.DEDENT):
                previous = token.type
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return found  # what is not whole Python (a slice) has told what it could
    return found
