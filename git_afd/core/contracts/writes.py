"""Assignments to attributes of upstream classes and modules and of stand-ins, and the patching calls of tests."""

from __future__ import annotations

import ast
from typing import Final

from git_afd.core.contracts.evaluate import Evaluator
from git_afd.core.contracts.facts import Environment, Faked, Replaced, Write
from git_afd.core.contracts.guards import quiet
from git_afd.core.contracts.invoke import EVERY_MODULE, call
from git_afd.core.contracts.kinds import written
from git_afd.core.contracts.scope import Scope
from git_afd.core.contracts.uses import PatchForm, Wrapping
from git_afd.core.contracts.values import Fakery, Instance, Method, ModuleValue, Outside, Text, Thing, Value
from git_afd.core.source.lookup import Absent
from git_afd.core.source.world import PLUGIN, Located

_WRAPS: Final[dict[str, Wrapping]] = {
    "builtins.classmethod": "classmethod",
    "builtins.staticmethod": "staticmethod",
    "builtins.property": "property",
}
_PATCHERS: Final = ("setattr", "setitem", "setenv", "delenv", "delattr", "delitem", "object", "dict")


def assign(read: Evaluator, target: ast.Attribute, value: ast.expr | None, given: Value | None, scope: Scope) -> None:
    """Note the assignment of an attribute (``target = value``)."""
    base = read(target.value, scope)
    if isinstance(base, Fakery):
        base.attributes[target.attr] = None
    elif isinstance(base, Outside) and base.dotted == EVERY_MODULE:
        read.facts.everywhere.add((scope.path, target.attr))
    elif write(read, base, (target.attr, target, "class-attribute"), describe(read, value, given, scope), scope):
        _keep(read, base, target.attr, given)
    else:
        read.taken(base, target, scope, "written")


def _keep(read: Evaluator, base: Value | None, name: str, value: Value | None) -> None:
    """Remember an upstream original that is kept under a name upstream does not have."""
    owner, _ = read.holder(base)
    found, _ = read.look(base, name)
    if owner is not None and isinstance(value, Thing | Method) and isinstance(found, Absent):
        read.facts.kept[owner, name] = value


def write(
    read: Evaluator, base: Value | None, place: tuple[str, ast.expr, PatchForm], replaced: Replaced, scope: Scope
) -> bool:
    """Note a write to a class or module of an upstream (name, node, form); say whether it was one."""
    name, node, form = place
    owner, _ = read.holder(base) if isinstance(base, ModuleValue | Thing) else (None, "")
    if owner is None or owner.who == PLUGIN:
        return False
    if owner.kind == "module" and form == "class-attribute":
        form = "module-attribute"
    chain = written(node) or name
    spot = scope.site or read.spot(node, scope)
    read.facts.writes[Write(spot, owner, name, chain, form, replaced, scope.condition)] = None
    return True


def describe(read: Evaluator, node: ast.expr | None, value: Value | None, scope: Scope) -> Replaced:
    """Say what is assigned: a plugin definition, possibly wrapped, upstream's own original, or an expression."""
    if isinstance(value, Thing | Method):
        place = value.place
        signature = place.definition.signature if place.definition else None
        mine = place.who == PLUGIN
        is_callable = place.kind in ("function", "class")
        return Replaced(place.dotted, place if mine else None, "", signature, original=not mine, callable=is_callable)
    if isinstance(value, Instance) and value.klass.who == PLUGIN:
        return Replaced(value.klass.dotted, callable=True)  # an object of the plugin's own stands in for something
    if isinstance(node, ast.Call):
        return _wrapped(read, node, scope)
    if isinstance(node, ast.Lambda):
        return Replaced("lambda", callable=True)
    return Replaced((written(node) or ast.unparse(node)[:80]) if node is not None else "")


def _wrapped(read: Evaluator, node: ast.Call, scope: Scope) -> Replaced:
    callee = quiet(read, node.func, scope)
    wrapping = _WRAPS.get(callee.dotted) if isinstance(callee, Outside) else None
    for argument in node.args:
        inner = quiet(read, argument, scope)
        if isinstance(inner, Thing | Method) and inner.place.kind in ("function", "class"):
            found = describe(read, argument, inner, scope)
            kept = found.original and not wrapping
            name = written(node.func) if kept else found.name
            place = callee.place if kept and isinstance(callee, Thing) else found.place
            signature = None if kept else found.signature
            return Replaced(name, place, wrapping or "wrapper", signature, callable=True)
        if isinstance(argument, ast.Lambda):
            return Replaced("lambda", None, wrapping or "wrapper", callable=True)
    makes = isinstance(callee, Thing) and callee.place.who == PLUGIN and callee.place.kind == "function"
    name = written(node.func) or ast.unparse(node)[:80]
    return Replaced(name, callee.place if makes and isinstance(callee, Thing) else None, "wrapper", callable=makes)


def patching_call(read: Evaluator, node: ast.Call, scope: Scope) -> None:
    """Note what a test's call replaces: ``monkeypatch.setattr``, ``setitem(sys.modules, …)``, ``mock.patch``."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else written(node.func)
    is_patch = name == "patch" or written(node.func).endswith("patch.object")
    if not node.args or not (name in _PATCHERS or is_patch) or written(node.func) == "setattr":
        return
    values = [quiet(read, part, scope) or _constant(part) for part in node.args]
    stand_in = next((value for value in values[1:] if isinstance(value, Fakery)), None)
    spot, first = read.spot(node, scope), values[0]
    second = values[1].text if len(values) > 1 and isinstance(values[1], Text) else ""
    if name in ("setenv", "delenv") and isinstance(first, Text):
        read.facts.environment[Environment(spot, first.text, "written" if name == "setenv" else "deleted")] = None
    elif name in ("setitem", "dict", "delitem") and isinstance(first, Outside) and first.dotted == "sys.modules":
        if read.world.owner(second) not in (None, PLUGIN):
            read.facts.faked.append(Faked(spot, second, "sys.modules", stand_in))
    elif isinstance(first, Text) and read.world.owner(first.text) not in (None, PLUGIN):
        read.facts.faked.append(Faked(spot, first.text, "patch target", stand_in))
    elif second and isinstance(first, ModuleValue | Thing):
        _replaced_attribute(read, first, second, node, scope, stand_in)


def invoke(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    """Evaluate a call; ``setattr`` with a known name and the patching calls of tests are assignments as well."""
    if isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) == 3:  # noqa: PLR2004
        return _setattr(read, node, scope)
    patching_call(read, node, scope)
    return call(read, node, scope)


def _setattr(read: Evaluator, node: ast.Call, scope: Scope) -> Value | None:
    base, name, value = (read(part, scope) for part in node.args)
    read.last = None
    if isinstance(name, Text):
        target = ast.copy_location(ast.Attribute(node.args[0], name.text, ast.Store()), node)
        if isinstance(base, Fakery):
            base.attributes[name.text] = None
        elif isinstance(base, Outside) and base.dotted == EVERY_MODULE:
            read.facts.everywhere.add((scope.path, name.text))
        elif write(read, base, (name.text, target, "setattr"), describe(read, node.args[2], value, scope), scope):
            _keep(read, base, name.text, value)
        else:
            read.taken(base, target, scope, "written")
    return None


def _constant(node: ast.expr) -> Value | None:
    return Text(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _replaced_attribute(
    read: Evaluator, owner: ModuleValue | Thing, name: str, node: ast.Call, scope: Scope, stand_in: Fakery | None
) -> None:
    found, _ = read.look(owner, name)
    if isinstance(found, Located) and found.who != PLUGIN:
        own = isinstance(owner, ModuleValue) and read.world.owner(owner.dotted) == PLUGIN
        form = "name in a plugin module" if own else "attribute"
        read.facts.faked.append(Faked(read.spot(node, scope), found.dotted, form, stand_in))


def installed_module(read: Evaluator, target: ast.Subscript, given: Value | None, scope: Scope) -> None:
    """Note ``sys.modules["…"] = …`` and ``os.environ["…"] = …``."""
    base, key = quiet(read, target.value, scope), quiet(read, target.slice, scope) or _constant(target.slice)
    if not isinstance(base, Outside) or not isinstance(key, Text):
        return
    spot = read.spot(target, scope)
    if base.dotted == "os.environ":
        read.facts.environment[Environment(spot, key.text, "written")] = None
    elif base.dotted == "sys.modules" and read.world.owner(key.text) not in (None, PLUGIN):
        read.facts.faked.append(Faked(spot, key.text, "sys.modules", given if isinstance(given, Fakery) else None))
