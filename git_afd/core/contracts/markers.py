"""Marker blocks of copied bodies: ``### PATCH START: label`` … ``### PATCH END: label``, in all their real forms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from git_afd.core.contracts.model import Marker, MarkerFault, MarkerForm
from git_afd.core.source.definitions import Module

MARK: Final = re.compile(r"^\s*#[#\s]*PATCH\s+(?P<half>START|END)\b\s*:?\s*(?P<label>.*?)\s*$", re.IGNORECASE)
_BRANCH: Final = re.compile(r"\s*(?:elif|else|except|finally|case)\b")


@dataclass(frozen=True, slots=True)
class Block:
    """A marker block and the function it belongs to (qualified name, empty for none)."""

    marker: Marker
    symbol: str


def blocks(text: str, module: Module, tree: ast.Module) -> tuple[Block, ...]:
    """Return a file's marker blocks in order, paired, with their form and what is wrong with them."""
    lines = text.splitlines()
    spans = _functions(module)
    return tuple(_placed(marker, lines, spans, tree) for marker in _paired(lines))


def _paired(lines: Sequence[str]) -> Iterator[Marker]:
    """Pair starts and ends: the nearest open start of the same label first, else the nearest one at all."""
    waiting: list[Marker] = []
    found: list[Marker] = []
    for number, line in enumerate(lines, start=1):
        match = MARK.match(line) if "PATCH" in line.upper() else None
        if match is None:
            continue
        label = match["label"].rstrip(".")
        if match["half"].upper() == "START":
            waiting.append(Marker(label, number, 0, fault="no end"))
            continue
        same = [item for item in waiting if item.label == label]
        start = (same or waiting)[-1] if (same or waiting) else None
        if start is None:
            found.append(Marker(label, 0, number, fault="no start"))
            continue
        waiting.remove(start)
        fault: MarkerFault = "" if start.label == label else "other label" if label else "no label"
        found.append(replace(start, end_line=number, fault=fault))
    yield from sorted([*found, *waiting], key=lambda item: item.line or item.end_line)


def _functions(module: Module) -> list[tuple[int, int, str]]:
    found = [item for item in module.definitions.values() if item.kind == "function"]
    return sorted((item.line, item.end_line, item.name) for item in found)


def _placed(marker: Marker, lines: Sequence[str], spans: list[tuple[int, int, str]], tree: ast.Module) -> Block:
    at = marker.line or marker.end_line
    around = [span for span in spans if span[0] <= at <= span[1]]
    form: MarkerForm = "statements"
    if not around:
        before = [span for span in spans if span[1] < at] if marker.fault == "no start" else []
        return Block(replace(marker, form="outside"), before[-1][2] if before else "")
    _, last, symbol = around[-1]
    if marker.end_line > last:
        form = "after the body"
    elif _inside_expression(tree, at, marker.end_line or at):
        form = "inside an expression"
    elif _BRANCH.match(_first_code(lines, at)):
        form = "branch"
    return Block(replace(marker, form=form), symbol)


def _first_code(lines: Sequence[str], start: int) -> str:
    return next((line for line in lines[start:] if line.strip() and not line.lstrip().startswith("#")), "")


def _inside_expression(tree: ast.Module, first: int, last: int) -> bool:
    """Say whether the lines lie between the first and last line of one simple statement."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        start, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
        if isinstance(node, ast.ExceptHandler | ast.match_case):
            waiting += node.body
        elif isinstance(node, ast.stmt) and start <= first and end >= first:
            parts = [
                part
                for name in ("body", "orelse", "finalbody", "handlers", "cases")
                for part in getattr(node, name, [])
            ]
            if not parts:
                return start < first and end > last
            waiting += parts
    return False
