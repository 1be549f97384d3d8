"""What a test around a place tells: the class of a name, and that an attribute is there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from git_afd.core.contracts.kinds import written
from git_afd.core.contracts.scope import Scope
from git_afd.core.contracts.values import Instance, Text, Thing, Value

if TYPE_CHECKING:
    from git_afd.core.contracts.evaluate import Evaluator


def found_there(read: Evaluator, test: ast.expr, scope: Scope) -> frozenset[tuple[str, str]]:
    """Return the attributes (object as written, name) that are there where a test holds.

    ``hasattr`` says so, and ``getattr`` whose default is false: where the test holds it is not the default.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return frozenset().union(*(found_there(read, part, scope) for part in test.values))
    if not (isinstance(test, ast.Call) and _asks_for_attribute(test)):
        return frozenset()
    base, name = test.args[:2]
    constant = name.value if isinstance(name, ast.Constant) else None
    known = read.named(name.id, scope) if isinstance(name, ast.Name) else None
    said = known.text if isinstance(known, Text) else constant
    return frozenset([(written(base), said)]) if isinstance(said, str) and written(base) else frozenset()


def _asks_for_attribute(call: ast.Call) -> bool:
    asked, default = written(call.func), call.args[2:]
    if asked == "getattr" and len(default) == 1:
        return isinstance(default[0], ast.Constant) and not default[0].value
    return asked == "hasattr" and len(call.args) == 2  # noqa: PLR2004 - object and name


def narrowed(read: Evaluator, test: ast.expr, scope: Scope, *, positive: bool) -> dict[str, Value | None]:
    """Bind names that an isinstance test tells the class of; return what they were before."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrowed(read, test.operand, scope, positive=not positive)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == positive:
        before: dict[str, Value | None] = {}
        for part in test.values:
            before = {**narrowed(read, part, scope, positive=positive), **before}
        return before
    if not (positive and isinstance(test, ast.Call) and written(test.func) == "isinstance" and len(test.args) == 2):  # noqa: PLR2004
        return {}
    name, asked = test.args
    first = asked.elts[0] if isinstance(asked, ast.Tuple) and len(asked.elts) == 1 else asked
    klass = quiet(read, first, scope)
    if isinstance(name, ast.Name) and isinstance(klass, Thing) and klass.place.kind == "class":
        old = {name.id: read.named(name.id, scope)}
        scope.names[name.id] = Instance(klass.place)
        return old
    return {}


def quiet(read: Evaluator, node: ast.expr, scope: Scope) -> Value | None:
    """Return what a name or dotted expression is, noting nothing."""
    if isinstance(node, ast.Name):
        return read.named(node.id, scope)
    if isinstance(node, ast.Attribute):
        return read.kinds.attribute(quiet(read, node.value, scope), node.attr)
    return None
