"""Walking syntax trees: all their nodes (in a third of the time that ``ast.walk`` takes), statements, targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

_SIGNS: Final = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_NO_NODES: Final = frozenset(
    (*(kind for sign in _SIGNS for kind in sign.__subclasses__()), type(None), str, int, float, complex, bytes, bool)
)
"""What a field may hold and has no parts: constants, and signs, which say nothing that their node does not."""

_PARTLESS: Final = frozenset((ast.Name, ast.Constant, ast.alias, ast.Pass, ast.Break, ast.Continue))

DEFINITIONS: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
SILENT: Final = frozenset((ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Delete, ast.Global, ast.Nonlocal))
"""Statements that define, import and assign nothing."""

_SIMPLE: Final = SILENT | {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom}


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct parts of a node in the order of its fields; signs and contexts are left out."""
    found: list[ast.AST] = []
    if type(node) in _PARTLESS:
        return found
    for value in vars(node).values():
        kind = type(value)
        if kind is list:
            found += [item for item in value if type(item) not in _NO_NODES]
        elif kind not in _NO_NODES:
            found.append(value)
    return found


def walk(root: ast.AST) -> list[ast.AST]:
    """Return a node and all its parts, nearest first; signs and contexts are left out."""
    found = [root]
    for node in found:  # it grows meanwhile
        if type(node) not in _PARTLESS:
            found += children(node)
    return found


def statements_in(body: Sequence[ast.stmt], *, definitions: bool = False) -> list[ast.stmt]:
    """Return statements in order, those of inner blocks included; those of inner definitions only when asked for."""
    found: list[ast.stmt] = []
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        found.append(node)
        kind = type(node)
        if kind in _SIMPLE or (kind in DEFINITIONS and not definitions):
            continue
        parts: list[ast.stmt] = []
        for name in ("body", "orelse", "finalbody"):
            parts += getattr(node, name, ())
        for name in ("handlers", "cases"):
            for holder in getattr(node, name, ()):
                parts += holder.body
        waiting += reversed(parts)
    return found


def names_in(target: ast.expr) -> Iterator[str]:
    """Yield the names that an assignment to a target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from names_in(item.value if isinstance(item, ast.Starred) else item)


def parts_of(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Pair the parts of an assignment's target with the values that go there, None where it cannot be told."""
    if isinstance(target, ast.Tuple | ast.List):
        told = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        values = value.elts if told and isinstance(value, ast.Tuple | ast.List) else [None] * len(target.elts)
        for part, item in zip(target.elts, values, strict=True):
            yield from parts_of(part, item)
    else:
        yield target, value
