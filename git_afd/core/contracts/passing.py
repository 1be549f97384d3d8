"""What a call passes to the plugin's own functions: stand-ins of tests, and upstream's things that tell parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from git_afd.core.contracts.facts import Faked, Passed
from git_afd.core.contracts.scope import Scope
from git_afd.core.contracts.uses import Binding
from git_afd.core.contracts.values import Fakery, Instance, Items, Many, Method, ModuleValue, Text, Thing, Value
from git_afd.core.source.definitions import Parameter
from git_afd.core.source.world import PLUGIN, Located

if TYPE_CHECKING:
    from git_afd.core.contracts.evaluate import Evaluator

_BOUND: Final = ("method", "class-method", "constructor", "super")

Arguments = tuple[Sequence[Value | None], Mapping[str | None, Value | None]]


def note_passed(
    read: Evaluator, callee: tuple[Located | None, Binding], given: Arguments, node: ast.Call, scope: Scope
) -> None:
    """Note what a call of one of the plugin's own functions passes, when it says anything about an upstream."""
    positional, keywords = given
    values = (*positional, *keywords.values())
    fake = any(isinstance(value, Fakery) for value in values)
    telling = any(tells(value) for value in values)
    if not (fake or telling):
        return
    place, bound = callee
    if place is not None and place.kind == "class" and place.who == PLUGIN:
        made = read.world.member(place, "__init__")
        place = made if isinstance(made, Located) else None
    if place is None or place.who != PLUGIN or place.definition is None or place.definition.signature is None:
        return
    reached = dict(_reached(place.definition.signature.parameters, bound, positional, keywords))
    if fake:
        _stand_ins(read, place, reached, node, scope)
    told = {name: value for name, value in reached.items() if _says(value)}
    if telling and told:
        spot = scope.site or read.spot(node, scope)
        read.facts.passed[Passed(spot, place, tuple(told.items()))] = None


def _reached(
    parameters: Sequence[Parameter],
    bound: Binding,
    positional: Sequence[Value | None],
    keywords: Mapping[str | None, Value | None],
) -> Iterator[tuple[str, Value | None]]:
    """Yield the parameters that a call fills, with what it passes."""
    skip = 1 if bound in _BOUND else 0
    order = [item.name for item in parameters if item.kind in ("positional-only", "positional")][skip:]
    yield from zip(order, positional, strict=False)
    names = {item.name for item in parameters}
    yield from ((name, value) for name, value in keywords.items() if name is not None and name in names)


def tells(value: Value | None) -> bool:
    """Say whether a value is an upstream's module, definition or object, or a collection of such."""
    if isinstance(value, Instance):
        return value.klass.who != PLUGIN
    if isinstance(value, Thing | Method):
        return value.place.who != PLUGIN
    if isinstance(value, Many):
        return tells(value.of)
    return any(map(tells, value.items)) if isinstance(value, Items) else isinstance(value, ModuleValue)


def _says(value: Value | None) -> bool:
    return tells(value) or isinstance(value, Text | Thing | Method)


def _stand_ins(
    read: Evaluator, place: Located, reached: Mapping[str, Value | None], node: ast.Call, scope: Scope
) -> None:
    """Note stand-ins that are passed where the plugin's own function expects something upstream."""
    kinds = read.kinds.parameters(place)
    for name, value in reached.items():
        wanted = kinds.get(name)
        if isinstance(value, Fakery) and isinstance(wanted, Instance) and wanted.klass.who != PLUGIN:
            read.facts.faked.append(Faked(read.spot(node, scope), wanted.klass.dotted, "argument", value))
