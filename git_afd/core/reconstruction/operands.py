"""Blocks inside a condition: what ``and`` and ``or`` join is taken apart, one unit for each operand.

The statement is found again in another version as the one of its kind that shares most of the unmarked operands; there
the condition may be a single operand, to which the block adds one.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from git_afd.core.reconstruction.units import Reading, Unit, normal_key

_FAMILY: Final = {"if": "if", "elif": "if", "while": "while", "assert": "assert", "return": "return", "=": "="}
_NO_CODE: Final = (
    *(tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT),
)
_Tokens = list[tokenize.TokenInfo]


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: rows (of the text, from 1) and columns where it begins and ends, its key."""

    row: int
    column: int
    last: int
    end: int
    key: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A statement's condition: the statement's word, what joins the operands (empty for a single one), the operands.

    `opens` and `closes` are row and column where it begins and ends, its own brackets included, if it has some.
    `spread` says that each operand begins a row, its operator before it.
    """

    unit: Unit
    word: str
    operator: str
    operands: tuple[Operand, ...]
    opens: tuple[int, int]
    closes: tuple[int, int]
    bracketed: bool
    spread: bool

    @property
    def keys(self) -> set[str]:
        """The operands' keys."""
        return {item.key for item in self.operands}


def condition_around(lines: Sequence[str], unit: Unit, first: int, last: int, reading: Reading) -> Condition | None:
    """Return a unit's condition when the rows from `first` to `last` hold whole operands of it, not the first one."""
    found = condition_in(lines, unit, reading)
    if found is None or not found.spread or not found.opens[0] < first <= last < found.closes[0]:
        return None
    apart = all(item.last < first or first < item.row <= item.last < last or item.row > last for item in found.operands)
    return found if apart and found.operands[0].last < first else None


def same_condition(
    lines: Sequence[str], units: Sequence[Unit], wanted: Condition, keys: Iterable[str], reading: Reading
) -> Condition | None:
    """Return the condition of another version that shares most of these operands; None when none or several do."""
    shared = set(keys)
    scored: list[tuple[float, Condition]] = []
    for unit in units:
        found = condition_in(lines, unit, reading) if unit.kind in (*_FAMILY, "annotation") else None
        if found is None or _FAMILY[found.word] != _FAMILY[wanted.word]:
            continue
        if found.operator in ("", wanted.operator) and shared & found.keys:
            scored.append((len(shared & found.keys) / len(shared | found.keys), found))
    best = max((score for score, _ in scored), default=0.0)
    first = [found for score, found in scored if score == best]
    return first[0] if len(first) == 1 else None


def condition_in(lines: Sequence[str], unit: Unit, reading: Reading) -> Condition | None:
    """Take a statement's condition apart, None when it has none."""
    word, tokens = _region(_tokens(lines, unit))
    if not tokens:
        return None
    bracketed = tokens[0].string == "(" and _closing(tokens, 0) == len(tokens) - 1
    inner = tokens[1:-1] if bracketed else tokens
    operator, groups = _groups(inner, lines)
    keys = [_key(lines, group, reading) for group in groups]
    if not groups or None in keys:
        return None
    operands = tuple(
        Operand(*group[0].start, *group[-1].end, key or "") for group, key in zip(groups, keys, strict=True)
    )
    opens, closes = tokens[0].start, tokens[-1].end
    spread = bracketed and _is_spread(lines, operands, operator, (opens[0], closes[0]))
    return Condition(unit, word, operator, operands, opens, closes, bracketed, spread)


def _tokens(lines: Sequence[str], unit: Unit) -> _Tokens:
    text = "\n" * (unit.first - 1) + "\n".join(lines[unit.first - 1 : unit.last]) + "\n"
    try:
        return [item for item in tokenize.generate_tokens(io.StringIO(text).readline) if item.type not in _NO_CODE]
    except (tokenize.TokenError, IndentationError):
        return []


def _region(tokens: _Tokens) -> tuple[str, _Tokens]:
    """Return the statement's word and the tokens of its condition."""
    if not tokens:
        return "", []
    word = tokens[0].string
    if word in ("if", "elif", "while"):
        return word, tokens[1:-1] if tokens[-1].string == ":" else []
    if word == "return":
        return word, tokens[1:]
    flat = list(_flat(tokens))
    if word == "assert":
        return word, tokens[1 : next((at for at in flat if tokens[at].string == ","), len(tokens))]
    at = next((at for at in flat if tokens[at].string == "="), -1)
    return "=", tokens[at + 1 :] if at > 0 else []


def _flat(tokens: _Tokens) -> Iterator[int]:
    """Yield the indices of tokens outside of all brackets."""
    depth = 0
    for index, token in enumerate(tokens):
        depth -= token.string in (")", "]", "}") and token.type == tokenize.OP
        if depth == 0:
            yield index
        depth += token.string in ("(", "[", "{") and token.type == tokenize.OP


def _closing(tokens: _Tokens, start: int) -> int:
    return next((at + start for at in _flat(tokens[start:]) if at and tokens[at + start].string == ")"), -1)


def _groups(tokens: _Tokens, lines: Sequence[str]) -> tuple[str, list[_Tokens]]:
    """Divide a condition at its outermost operator."""
    flat = [at for at in _flat(tokens) if tokens[at].string in ("and", "or")]
    operator = "or" if any(tokens[at].string == "or" for at in flat) else "and" if flat else ""
    cuts = [at for at in flat if tokens[at].string == operator]
    bounds = [-1, *cuts, len(tokens)]
    groups = [tokens[bounds[place] + 1 : bounds[place + 1]] for place in range(len(bounds) - 1)]
    node = _parsed(_source(lines, tokens))
    joined = isinstance(node, ast.BoolOp) and len(node.values) == len(groups)
    return (operator, groups) if joined and all(groups) else ("", [tokens] if tokens else [])


def _source(lines: Sequence[str], tokens: _Tokens) -> str:
    if not tokens:
        return ""
    (first, column), (last, end) = tokens[0].start, tokens[-1].end
    if first == last:
        return lines[first - 1][column:end]
    return "\n".join([lines[first - 1][column:], *lines[first : last - 1], lines[last - 1][:end]])


def _parsed(source: str) -> ast.expr | None:
    try:
        return ast.parse(f"(\n{source}\n)", mode="eval").body
    except SyntaxError:
        return None


def _key(lines: Sequence[str], tokens: _Tokens, reading: Reading) -> str | None:
    node = _parsed(_source(lines, tokens))
    return normal_key(node, reading) if node is not None else None


def _is_spread(lines: Sequence[str], operands: Sequence[Operand], operator: str, around: tuple[int, int]) -> bool:
    rows = [around[0], *(row for item in operands for row in (item.row, item.last)), around[1]]
    apart = all(before < after for before, after in zip(rows[0::2], rows[1::2], strict=True))
    return apart and all(lines[item.row - 1][: item.column].strip() == operator for item in operands[1:])


def spread_condition(lines: Sequence[str], found: Condition, operator: str) -> list[str]:
    """Return the lines with every operand on rows of its own, in brackets."""
    if found.spread:
        return list(lines)
    margin = " " * found.unit.column
    row, column = found.opens
    before = lines[row - 1][:column]
    head = before + "(" if before.endswith((" ", "(")) else f"{before} ("
    body: list[str] = []
    for place, item in enumerate(found.operands):
        rows = list(lines[item.row - 1 : item.last])
        rows[-1] = rows[-1][: item.end]
        rows[0] = f"{margin}    {f'{operator} ' if place else ''}{rows[0][item.column :]}"
        body += rows
    last, end = found.closes
    tail = f"{margin}){lines[last - 1][end:]}"
    return [*lines[: row - 1], head, *body, tail, *lines[last:]]


def exploded_condition(lines: Sequence[str], units: Sequence[Unit], found: Condition) -> list[Unit]:
    """Return the units with the statement that holds this (spread) condition taken apart."""
    return [part for unit in units for part in (_parts(lines, found) if unit.first == found.unit.first else [unit])]


def _parts(lines: Sequence[str], found: Condition) -> list[Unit]:
    unit, key = found.unit, f"{_FAMILY[found.word]} ("
    parts = [replace(unit, kind="(", key=key, last=found.opens[0], opens=True, words=Counter(key.split()))]
    for item in found.operands:
        lead = item.row
        while lead - 1 > parts[-1].last and lines[lead - 2].lstrip().startswith("#"):
            lead -= 1
        column = len(lines[item.row - 1]) - len(lines[item.row - 1].lstrip())
        words = Counter(item.key.split())
        parts.append(Unit(unit.depth + 1, "operand", item.key, item.row, item.last, lead, column, words=words))
    row = found.closes[0]
    return [*parts, Unit(unit.depth, ")", ")", row, unit.last, row, unit.column, words={")": 1})]
