"""Calls: of upstream functions, classes and methods (noted with what is passed), and of the builtins that matter."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from git_afd.core.contracts.facts import Called, Environment, Said, Via
from git_afd.core.contracts.kinds import written
from git_afd.core.contracts.passing import note_passed
from git_afd.core.contracts.scope import Scope
from git_afd.core.contracts.uses import Access, Binding
from git_afd.core.contracts.values import (
    Fakery,
    Instance,
    Items,
    Many,
    Method,
    ModuleValue,
    Outside,
    SuperValue,
    Text,
    Thing,
    Value,
    element,
)
from git_afd.core.source.world import PLUGIN, Located

if TYPE_CHECKING:
    from git_afd.core.contracts.evaluate import Evaluator

_COPIES: Final = ("copy.copy", "copy.deepcopy", "dataclasses.replace", "builtins.iter", "builtins.reversed")
EVERY_MODULE: Final = "sys.modules[*]"
_OF_COLLECTIONS: Final = ("get", "pop", "values", "items", "keys", "copy", "popleft", "setdefault")
_LISTS: Final = tuple(
    f"builtins.{name}" for name in ("list", "tuple", "set", "sorted", "iter", "reversed", "frozenset")
)


def call(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    """Evaluate a call: note it when the callee is upstream's, and return what its result is known to be."""
    callee, owner = _callee(read, node, scope)
    if isinstance(callee, Outside):
        special = SPECIAL.get(callee.dotted)
        if special is not None:
            value = special(read, node, scope)
            read.last = None
            return value
    table = _of_collection(owner, node.func.attr) if isinstance(node.func, ast.Attribute) else None
    arguments = [read(part.value if isinstance(part, ast.Starred) else part, scope) for part in node.args]
    keywords = {part.arg: read(part.value, scope) for part in node.keywords}
    read.last = None
    if table is not None or isinstance(callee, Outside):
        return table if table is not None or not isinstance(callee, Outside) else _standard(callee.dotted, arguments)
    note_passed(read, _bound(read, callee, owner), (arguments, keywords), node, scope)
    noted = _noted(read, callee, owner, node, scope)
    if noted is not None:
        read.facts.calls.append(noted)
        read.last = noted
    return read.kinds.called(callee)


def _callee(read: Evaluator, node: ast.Call, scope: Scope) -> tuple[Value | None, Value | None]:
    """Evaluate what is called and what it is taken from; reading it is part of the call and not noted on its own."""
    if not isinstance(node.func, ast.Attribute):
        return read(node.func, scope), None
    base = read(node.func.value, scope)
    if read.last is not None:
        read.last.attributes[node.func.attr] = None
    found, value = read.look(base, node.func.attr)
    owned = isinstance(found, Located) and isinstance(value, Thing | Method | Instance)
    if not owned:
        read.note(base, found, node.func, scope, "called")
    return value, base


def _noted(read: Evaluator, callee: Value | None, base: Value | None, node: ast.Call, scope: Scope) -> Called | None:
    """Return the note of a call, None when what is called is not upstream's."""
    place, bound = _bound(read, callee, base)
    if place is None or place.who == PLUGIN:
        return None
    owner, via = read.holder(base) if base is not None else (None, "function")
    stars = [part for part in node.args if isinstance(part, ast.Starred)]
    return Called(
        read.spot(node, scope),
        place,
        written(node.func),
        owner,
        bound,
        via if base is not None else _via(bound),
        len(node.args) - len(stars),
        tuple(sorted(part.arg for part in node.keywords if part.arg)),
        bool(stars),
        any(part.arg is None for part in node.keywords),
        scope.soft,
    )


def _via(bound: Binding) -> Via:
    return "class" if bound == "constructor" else "function"


def _bound(read: Evaluator, callee: Value | None, base: Value | None) -> tuple[Located | None, Binding]:
    if isinstance(callee, Method):
        return callee.place, "super" if isinstance(base, SuperValue) else callee.bound
    if isinstance(callee, Thing):
        return callee.place, "constructor" if callee.place.kind == "class" else "function"
    if isinstance(callee, Instance) and callee.klass.who != PLUGIN:
        found = read.world.member(callee.klass, "__call__")
        return (found, "method") if isinstance(found, Located) else (None, "method")
    return None, "function"


def _of_collection(base: Value | None, name: str) -> Value | None:
    """Return what a mapping's own method gives (``get``, ``values``, ``items``, ``keys``, ``copy``)."""
    if isinstance(base, Items) and base.pairs:
        if name == "items":
            return Items(base.items)
        which = {"keys": 0, "values": 1}.get(name)
        firsts = [pair.items for pair in base.items if isinstance(pair, Items)]
        return Items(tuple(pair[which] for pair in firsts)) if which is not None else None
    if not isinstance(base, Many):
        return None
    given = {"items": Many(Items((base.key, base.of))), "values": Many(base.of), "copy": base, "keys": None}
    return given.get(name, base.of) if name in _OF_COLLECTIONS else None


def _standard(dotted: str, arguments: list[Value | None]) -> Value | None:
    """Return what a call of something outside gives, for the few that pass their argument on."""
    first = arguments[0] if arguments else None
    if dotted in _COPIES or (dotted in _LISTS and isinstance(first, Items | Many)):
        return first
    if dotted == "builtins.next":
        return element(first)
    if dotted == "builtins.enumerate" and isinstance(first, Items):
        return Items(tuple(Items((None, item)) for item in first.items))
    if dotted in ("builtins.enumerate", "builtins.zip"):
        each = [None, element(first)] if dotted.endswith("enumerate") else [element(item) for item in arguments]
        return Many(Items(tuple(each)))
    return None


def _getattr(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    """``getattr``/``hasattr`` with a name that is known: an attribute read, soft when its absence is provided for."""
    values = [_plain_text(part) or read(part, scope) for part in node.args]
    soft = written(node.func).endswith("hasattr") or len(values) > 2  # noqa: PLR2004 - a default is given
    if len(values) < 2 or not isinstance(values[1], Text):  # noqa: PLR2004 - object and name
        return None
    name = values[1].text
    found, value = read.look(values[0], name)
    as_node = ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node)
    read.note(values[0], found, as_node, scope, "read", soft=soft)
    return value


def _plain_text(node: ast.expr) -> Text | None:
    """Return a constant text that names an attribute or variable: it is no mention of anything."""
    return Text(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _super(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    if node.args:
        first = read(node.args[0], scope)
        return SuperValue(first.place) if isinstance(first, Thing) and first.place.kind == "class" else None
    return SuperValue(scope.klass) if scope.klass else None


def _module_of(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    """``import_module("…")``, ``__import__("…")``: a module that is imported by its name."""
    said = _first_text(read, node, scope)
    if said is None or read.world.owner(said) is None:
        return None
    read.facts.said[Said(read.spot(node, scope), said, "module")] = None
    return ModuleValue(said)


def _spec_of(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    said = _first_text(read, node, scope)
    if said is not None and read.world.owner(said) is not None:
        read.facts.said[Said(read.spot(node, scope), said, "find_spec")] = None
    return None


def _loaded_module(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    """``sys.modules.get("…")``: a module when it was imported already."""
    said = _first_text(read, node, scope)
    return ModuleValue(said) if said is not None and read.world.owner(said) else None


def _first_text(read: Evaluator, node: ast.Call, scope: Scope) -> str | None:
    values = [read(part, scope) for part in node.args]
    return values[0].text if values and isinstance(values[0], Text) else None


def _cast(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    values = [read(part, scope) for part in node.args[1:]]
    told = read.kinds.annotated(node.args[0], scope.module) if node.args else None
    return told if told is not None else values[0] if values else None


def _type(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    values = [read(part, scope) for part in node.args]
    if len(values) == 1 and isinstance(values[0], Instance):
        return Thing(values[0].klass)
    return None


def _isinstance(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    for part in node.args:
        read(part, scope)
    asked = node.args[-1] if node.args else None
    each = asked.elts if isinstance(asked, ast.Tuple) else [asked]
    read.facts.held.update((scope.path, part.id) for part in each if isinstance(part, ast.Name))
    return None


def _namespace(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    for part in node.args:
        read(part, scope)
    for keyword in node.keywords:
        read(keyword.value, scope)
    return Fakery(node.lineno, dict.fromkeys(part.arg for part in node.keywords if part.arg))


def _every_module(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    """``sys.modules.values()`` and ``.items()``: every module that is loaded."""
    del read, scope
    each = Outside(EVERY_MODULE)
    return Many(Items((None, each))) if written(node.func).endswith("items") else Many(each)


def _environment(access: Access) -> Callable[[Evaluator, ast.Call, Scope], Value | None]:
    def noted(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
        values = [_plain_text(part) or read(part, scope) for part in node.args]
        if values and isinstance(values[0], Text):
            default = written(node.args[1]) or ast.unparse(node.args[1]) if len(node.args) > 1 else None
            fact = Environment(read.spot(node, scope), values[0].text, access, default)
            read.facts.environment[fact] = None
        return None

    return noted


Special = Callable[["Evaluator", ast.Call, Scope], "Value | None"]
SPECIAL: Final[dict[str, Special]] = {
    "builtins.getattr": _getattr,
    "builtins.hasattr": _getattr,
    "builtins.super": _super,
    "builtins.type": _type,
    "builtins.isinstance": _isinstance,
    "builtins.issubclass": _isinstance,
    "builtins.__import__": _module_of,
    "importlib.import_module": _module_of,
    "importlib.util.find_spec": _spec_of,
    "sys.modules.get": _loaded_module,
    "sys.modules.values": _every_module,
    "sys.modules.items": _every_module,
    "sys.modules.copy": lambda _read, _node, _scope: Outside("sys.modules"),
    "types.ModuleType": _namespace,
    "typing.cast": _cast,
    "types.SimpleNamespace": _namespace,
    "unittest.mock.Mock": _namespace,
    "unittest.mock.MagicMock": _namespace,
    "os.getenv": _environment("read"),
    "os.environ.get": _environment("read"),
    "os.environ.pop": _environment("deleted"),
    "os.environ.setdefault": _environment("written"),
    "os.putenv": _environment("written"),
}
