"""Blocks inside an expression: the brackets around them are taken apart, one unit for each element.

The statement is found again in another version by its text without those elements, or, when only one place there
calls the same function, by that function's name.
"""

from __future__ import annotations

import ast
import copy
import io
import re
import tokenize
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from git_afd.core.reconstruction.units import Reading, Unit, normal_key, parsed_line

_Container = ast.Call | ast.List | ast.Tuple | ast.Set | ast.Dict
_Pair = tuple[ast.expr | None, ast.expr]
_Element = ast.expr | ast.keyword | _Pair


@dataclass(frozen=True, slots=True)
class Opener:
    """Which brackets: the key of the statement without their elements, and what is called (empty for a literal)."""

    key: str
    callee: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Brackets in a text: their statement, and the elements as (first row, column, last row, column, key)."""

    unit: Unit
    opener: Opener
    elements: tuple[tuple[int, int, int, int, str], ...]
    end: tuple[int, int]


def opener_around(lines: Sequence[str], unit: Unit, first: int, last: int, reading: Reading) -> Opener | None:
    """Return the innermost brackets of a unit that hold the rows from `first` to `last`."""
    around = [
        place
        for place in _places(lines, unit, reading)
        if place.unit.first <= first
        and last <= place.end[0]
        and place.elements
        and any(first <= item[0] <= last for item in place.elements)
    ]
    return around[-1].opener if around else None


def matching(lines: Sequence[str], units: Sequence[Unit], opener: Opener, reading: Reading) -> list[_Place]:
    """Return the places in a text with these brackets: by the whole statement, else by what is called."""
    every = [place for unit in units for place in _places(lines, unit, reading)]
    same = [place for place in every if place.opener.key == opener.key]
    return same or [place for place in every if opener.callee and place.opener.callee == opener.callee]


def spread(lines: list[str], units: Sequence[Unit], opener: Opener, reading: Reading) -> list[str]:
    """Return the lines with every element of these brackets on rows of its own."""
    found = list(lines)
    for place in reversed(matching(lines, units, opener, reading)):
        if not _is_spread(place) and place.elements:
            found[place.unit.first - 1 : place.unit.last] = _rows(lines, place)
    return found


def exploded(lines: Sequence[str], units: Sequence[Unit], opener: Opener, reading: Reading) -> list[Unit]:
    """Return the units with the statements that hold these brackets taken apart."""
    places = {place.unit.first: place for place in matching(lines, units, opener, reading) if _is_spread(place)}
    found: list[Unit] = []
    for unit in units:
        place = places.get(unit.first)
        found += _parts(place, lines) if place else [unit]
    return found


def _parts(place: _Place, lines: Sequence[str]) -> list[Unit]:
    unit, first = place.unit, place.elements[0]
    head = replace(unit, kind="(", key=place.opener.callee or place.opener.key, last=first[0] - 1)
    parts = [replace(head, words=Counter(re.findall(r"\w+", head.key)), opens=True)]
    for row, column, last, _, key in place.elements:
        lead = row
        while lead - 1 > parts[-1].last and lines[lead - 2].lstrip().startswith("#"):
            lead -= 1
        words = Counter(re.findall(r"\w+|\S", key))
        parts.append(Unit(unit.depth + 1, "argument", key, row, last, lead, column, words=words))
    tail = parts[-1].last + 1
    return [*parts, Unit(unit.depth, ")", ")", tail, unit.last, tail, unit.column, words={")": 1})]


def _is_spread(place: _Place) -> bool:
    rows = [place.unit.first, *(row for item in place.elements for row in (item[0], item[2])), place.end[0]]
    pairs = zip(rows[0::2], rows[1::2], strict=True)
    return bool(place.elements) and all(before < after for before, after in pairs)


def _rows(lines: Sequence[str], place: _Place) -> list[str]:
    row, column = place.elements[0][:2]
    margin = " " * place.unit.column
    head = [*lines[place.unit.first - 1 : row - 1], lines[row - 1][:column].rstrip()]
    head = head if head[-1].strip() else head[:-1]
    body: list[str] = []
    for first, start, last, end, _ in place.elements:
        text = list(lines[first - 1 : last])
        text[-1] = text[-1][:end] + ","
        text[0] = f"{margin}    {text[0][start:]}"
        body += text
    end_row, end_column = place.end
    tail = margin + lines[end_row - 1][end_column - 1 :]
    return [*head, *body, tail, *lines[end_row : place.unit.last]]


def _places(lines: Sequence[str], unit: Unit, reading: Reading) -> list[_Place]:
    text = "\n".join(lines[unit.first - 1 : unit.last])
    node = parsed_line(text)
    if node is None or not any(bracket in text for bracket in "([{"):
        return []
    found = []
    for index, part in enumerate(ast.walk(node)):
        if isinstance(part, _Container) and part.end_lineno is not None:
            elements = tuple(_element(item, lines, unit, reading) for item in _elements(part))
            key = _without(node, index, reading)
            callee = normal_key(part.func, reading) if isinstance(part, ast.Call) else ""
            end = _at(lines, unit, part.end_lineno, part.end_col_offset or 0)
            found.append(_Place(unit, Opener(key, callee), elements, end))
    return found


def _elements(node: _Container) -> list[_Element]:
    if isinstance(node, ast.Dict):
        return list(zip(node.keys, node.values, strict=True))
    items: list[ast.expr | ast.keyword] = [*node.args, *node.keywords] if isinstance(node, ast.Call) else [*node.elts]
    return [*sorted(items, key=lambda item: (item.lineno, item.col_offset))]


def _element(item: _Element, lines: Sequence[str], unit: Unit, reading: Reading) -> tuple[int, int, int, int, str]:
    key, value = item if isinstance(item, tuple) else (None, item.value if isinstance(item, ast.keyword) else item)
    begins = key if key is not None else item if isinstance(item, ast.keyword) else value
    name = f"{item.arg}=" if isinstance(item, ast.keyword) else f"{normal_key(key, reading)}: " if key else ""
    first, start = _at(lines, unit, begins.lineno, begins.col_offset)
    last, end = _at(lines, unit, value.end_lineno or value.lineno, value.end_col_offset or 0)
    if isinstance(item, tuple) and key is None:  # ``**value``
        name, start = "**", lines[first - 1].rindex("**", 0, start)
    return (first, start, *_closed(lines, (first, start), (last, end)), name + normal_key(value, reading))


def _closed(lines: Sequence[str], begin: tuple[int, int], end: tuple[int, int]) -> tuple[int, int]:
    """Return the end of an element with the brackets that were opened inside it: a node does not hold its own."""
    (first, start), (last, stop) = begin, end
    rows = [lines[first - 1][start:stop]] if first == last else [lines[first - 1][start:], *lines[first:last]]
    if first != last:
        rows[-1] = rows[-1][:stop]
    open_ones = _depth("\n".join(rows))
    while open_ones > 0 and last <= len(lines):
        at = lines[last - 1].find(")", stop)
        if at >= 0:
            stop, open_ones = at + 1, open_ones - 1
        else:
            last, stop = last + 1, 0
    return last, stop


def _depth(text: str) -> int:
    """Return how many round brackets a text leaves open."""
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text + "\n").readline):
            depth += (token.string == "(") - (token.string == ")")
    except (tokenize.TokenError, IndentationError):
        return depth  # the end of the text comes inside the brackets
    return depth


def _at(lines: Sequence[str], unit: Unit, row: int, column: int) -> tuple[int, int]:
    """Return the row and column in the text of a place in the unit's own text (columns there count bytes)."""
    real = unit.first + row - 1
    line = lines[real - 1]
    return real, len(line.encode()[: column + (unit.column if row == 1 else 0)].decode(errors="ignore"))


def _without(node: ast.AST, index: int, reading: Reading) -> str:
    bare = copy.deepcopy(node)
    for number, part in enumerate(ast.walk(bare)):
        if number == index and isinstance(part, _Container):
            if isinstance(part, ast.Call):
                part.args, part.keywords = [], []
            elif isinstance(part, ast.Dict):
                part.keys, part.values = [], []
            else:
                part.elts = []
            break
    return normal_key(bare, reading)
