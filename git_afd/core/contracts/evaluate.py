"""Evaluating the plugin's expressions for what is known about them, noting every touch of something upstream."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.contracts.facts import Called, Facts, Read, Said, Spot, Via
from git_afd.core.contracts.guards import found_there, narrowed
from git_afd.core.contracts.kinds import Kinds, written
from git_afd.core.contracts.scope import BUILTINS, Scope
from git_afd.core.contracts.uses import Access
from git_afd.core.contracts.values import (
    NOTHING,
    Instance,
    Items,
    Many,
    ModuleValue,
    Outside,
    SuperValue,
    Text,
    Thing,
    Value,
    element,
)
from git_afd.core.source.lookup import Absent, Unknown
from git_afd.core.source.nodes import children
from git_afd.core.source.world import PLUGIN, Located, World

_EVERYWHERE: Final = frozenset((*dir(type), *dir(object), "__file__", "__path__", "__spec__", "__package__"))
"""What every class, object or module has: upstream need not define it."""


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions in a scope. `invoke` evaluates calls (:mod:`git_afd.core.contracts.invoke`)."""

    world: World
    kinds: Kinds
    facts: Facts
    invoke: Callable[[Evaluator, ast.Call, Scope], Value | None]
    last: Called | None = None
    _kind_of: dict[type, Callable[[ast.expr, Scope], Value | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Table of the expressions that have a meaning of their own."""
        self._kind_of = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.Await: self._await,
            ast.IfExp: self._choice,
            ast.BoolOp: self._either,
            ast.NamedExpr: self._walrus,
            ast.Subscript: self._subscript,
            ast.Tuple: self._sequence,
            ast.List: self._sequence,
            ast.Set: self._sequence,
            ast.Dict: self._mapping,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.Lambda: self._lambda,
            ast.JoinedStr: self._others,
        }

    def __call__(self, node: ast.expr | None, scope: Scope) -> Value | None:
        """Return what is known about an expression, noting what it touches. `last` is the call it consists of."""
        self.last = None
        if node is None:
            return None
        return self._kind_of.get(type(node), self._others)(node, scope)

    def _others(self, node: ast.AST, scope: Scope) -> Value | None:
        for child in children(node):
            if isinstance(child, ast.expr):
                self(child, scope)
            elif isinstance(child, ast.keyword | ast.FormattedValue):
                self(child.value, scope)
        self.last = None
        return None

    def _constant(self, node: ast.expr, scope: Scope) -> Value | None:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str):
            if "." in value or value.isupper():
                self.facts.said[Said(self.spot(node, scope), value)] = None
            return Text(value)
        return NOTHING if value is None else None

    def _name(self, node: ast.expr, scope: Scope) -> Value | None:
        name = node.id if isinstance(node, ast.Name) else ""
        self.last = scope.called(name)
        self.facts.used.add((scope.path, name))
        return self.named(name, scope)

    def named(self, name: str, scope: Scope) -> Value | None:
        """Return what a name is known to be here."""
        known, value = scope.knows(name)
        if known:
            return value
        return self.of_module(scope.module, name)

    def of_module(self, module: str, name: str) -> Value | None:
        """Return what a module's name is known to be; what leads outside keeps its dotted name."""
        found = self.world.symbol(module, name)
        if isinstance(found, Located):
            return self.kinds.value(found)
        if isinstance(found, Absent):
            return BUILTINS.get(name)
        return Outside(found.target) if not isinstance(found, Unknown) else None

    def _attribute(self, node: ast.expr, scope: Scope) -> Value | None:
        if not isinstance(node, ast.Attribute):
            return None
        base = self(node.value, scope)
        if self.last is not None:
            self.last.attributes[node.attr] = None
        self.last = None
        access: Access = "read" if isinstance(node.ctx, ast.Load) else "written"
        return self.taken(base, node, scope, "deleted" if isinstance(node.ctx, ast.Del) else access)

    def taken(self, base: Value | None, node: ast.Attribute, scope: Scope, access: Access) -> Value | None:
        """Take an attribute of a value, noting it when it is upstream's."""
        found, value = self.look(base, node.attr)
        self.note(base, found, node, scope, access)
        return value

    def look(self, base: Value | None, name: str) -> tuple[Located | Absent | Unknown | None, Value | None]:
        """Find an attribute of a value, also one that the plugin keeps there: what it is then is known."""
        found, value = self._look(base, name)
        if isinstance(found, Absent):
            owner, _ = self.holder(base)
            return found, self.facts.kept.get((owner, name)) if owner else None
        return found, value

    def _look(self, base: Value | None, name: str) -> tuple[Located | Absent | Unknown | None, Value | None]:
        """Find an attribute of a value: where it is defined (or why not), and what it is. None: not ours to tell."""
        if isinstance(base, ModuleValue):
            return self._of_module_value(base, name)
        if isinstance(base, Instance | SuperValue):
            return self._of_object(base, name)
        if isinstance(base, Thing) and base.place.kind == "class":
            member = self.world.member(base.place, name)
            if isinstance(member, Located):
                return member, self.kinds.of_class(member, base.place)
            return member if isinstance(member, Absent | Unknown) else None, None
        return None, self._of_table(base, name)

    def _of_module_value(self, base: ModuleValue, name: str) -> tuple[Located | Absent | Unknown | None, Value | None]:
        found = self.world.symbol(base.dotted, name)
        if isinstance(found, Located):
            return found, self.kinds.value(found)
        if isinstance(found, Absent | Unknown):
            return found, None
        home = self.world.resolve(base.dotted)
        here = Located(home.who, home.path, home.module, name) if isinstance(home, Located) else None
        return here, Outside(found.target)

    def _of_object(
        self, base: Instance | SuperValue, name: str
    ) -> tuple[Located | Absent | Unknown | None, Value | None]:
        if isinstance(base, SuperValue):
            for place in self.world.ancestry(base.klass).classes[1:]:
                own = self.world.own(place, name)
                if own is not None and own.definition is not None:
                    return own, self.kinds.member(own, base.klass)
            return None, None
        member = self.world.member(base.klass, name)
        if isinstance(member, Located):
            value = self.kinds.member(member, base.klass)
            assigned = member.who == PLUGIN and member.definition is None
            shared = self.world.shared(base.klass, name) if assigned else None
            return (member, value) if shared is None else (shared, value or self.kinds.member(shared, base.klass))
        return member if isinstance(member, Absent | Unknown) else None, None

    def _of_table(self, base: Value | None, name: str) -> Value | None:
        if isinstance(base, Outside):
            return Outside(f"{base.dotted}.{name}") if base.dotted else None
        return None

    def note(
        self,
        base: Value | None,
        found: Located | Absent | Unknown | None,
        node: ast.Attribute,
        scope: Scope,
        access: Access,
        *,
        soft: bool = False,
    ) -> None:
        """Note an attribute of something upstream; what is the plugin's own, or a submodule, is nothing to note."""
        owner, via = self.holder(base)
        if owner is None or (isinstance(found, Located) and (found.who == PLUGIN or not found.symbol)):
            return
        if found is None or (not isinstance(found, Located) and (owner.who == PLUGIN or node.attr in _EVERYWHERE)):
            return
        reason = "" if isinstance(found, Located) else _reason(found, owner)
        place = found if isinstance(found, Located) else None
        chain = written(node) or f"….{node.attr}"
        spot = self.spot(node, scope)
        soft = soft or scope.soft or scope.provides(written(node.value), node.attr)
        self.facts.reads[Read(spot, place, owner, node.attr, chain, access, via, soft, reason)] = None

    def holder(self, base: Value | None) -> tuple[Located | None, Via]:
        """Return the class or module that an attribute is taken from, and how it was reached."""
        if isinstance(base, SuperValue):
            return base.klass, "super"
        if isinstance(base, Instance):
            return base.klass, "self" if base.klass.who == PLUGIN else "typed"
        if isinstance(base, Thing) and base.place.kind == "class":
            return base.place, "class"
        if isinstance(base, ModuleValue):
            found = self.world.resolve(base.dotted)
            return (found, "module") if isinstance(found, Located) and found.who != PLUGIN else (None, "module")
        return None, "typed"

    def spot(self, node: ast.AST, scope: Scope) -> Spot:
        """Return the place of a node."""
        return Spot(scope.path, scope.symbol, getattr(node, "lineno", 1))

    def _call(self, node: ast.expr, scope: Scope) -> Value | None:
        return self.invoke(self, node, scope) if isinstance(node, ast.Call) else None

    def _await(self, node: ast.expr, scope: Scope) -> Value | None:
        value = self(node.value, scope) if isinstance(node, ast.Await) else None
        if self.last is not None:
            self.last.awaited = True
        return value

    def _choice(self, node: ast.expr, scope: Scope) -> Value | None:
        if not isinstance(node, ast.IfExp):
            return None
        self(node.test, scope)
        before, scope.provided = scope.provided, scope.provided | found_there(self, node.test, scope)
        kept = narrowed(self, node.test, scope, positive=True)
        first = self(node.body, scope)
        scope.provided = before
        scope.names.update(kept)
        second = self(node.orelse, scope)
        self.last = None
        return second if first is None or first == NOTHING else first

    def _either(self, node: ast.expr, scope: Scope) -> Value | None:
        told: list[Value | None] = []
        before = scope.provided
        for part in node.values if isinstance(node, ast.BoolOp) else ():
            told.append(self(part, scope))
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
                scope.provided |= found_there(self, part, scope)
        scope.provided = before
        self.last = None
        return next((item for item in told if item is not None and item != NOTHING), None)

    def _walrus(self, node: ast.expr, scope: Scope) -> Value | None:
        if not isinstance(node, ast.NamedExpr):
            return None
        value = self(node.value, scope)
        scope.bind(node.target.id, value, self.last)
        return value

    def _subscript(self, node: ast.expr, scope: Scope) -> Value | None:
        if not isinstance(node, ast.Subscript):
            return None
        base = self(node.value, scope)
        if self.last is not None:
            self.last.attributes["[]"] = None
        index = self(node.slice, scope)
        self.last = None
        if isinstance(base, Outside) and base.dotted == "sys.modules" and isinstance(index, Text):
            return ModuleValue(index.text) if self.world.owner(index.text) else None
        if isinstance(base, Many):
            return base if isinstance(node.slice, ast.Slice) else base.of
        if isinstance(base, Items) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return base.items[node.slice.value] if -len(base.items) <= node.slice.value < len(base.items) else None
        return base if isinstance(base, Thing) and base.place.kind == "class" else None

    def _sequence(self, node: ast.expr, scope: Scope) -> Value | None:
        elements = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
        return Items(tuple(self(part.value if isinstance(part, ast.Starred) else part, scope) for part in elements))

    def _mapping(self, node: ast.expr, scope: Scope) -> Value | None:
        if not isinstance(node, ast.Dict):
            return None
        pairs: list[Value | None] = []
        for key, value in zip(node.keys, node.values, strict=True):
            pairs.append(Items((self(key, scope), self(value, scope))))
        self.last = None
        return Items(tuple(pairs), pairs=True)

    def _comprehension(self, node: ast.expr, scope: Scope) -> Value | None:
        if not isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return None
        inner = Scope(scope.module, scope.path, scope.symbol, scope, scope.klass, soft=scope.soft)
        for part in node.generators:
            self.bind(part.target, element(self(part.iter, inner)), inner)
            for test in part.ifs:
                self(test, inner)
                inner.provided |= found_there(self, test, inner)
        if isinstance(node, ast.DictComp):
            key, value = self(node.key, inner), self(node.value, inner)
            return Many(value, key or Outside(""))
        return Many(self(node.elt, inner))

    def _lambda(self, node: ast.expr, scope: Scope) -> Value | None:
        if isinstance(node, ast.Lambda):
            inner = Scope(scope.module, scope.path, scope.symbol, scope, scope.klass, soft=scope.soft)
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                inner.names[argument.arg] = None
            self(node.body, inner)
        return None

    def bind(self, target: ast.expr, value: Value | None, scope: Scope, call: Called | None = None) -> None:
        """Bind an assignment's or loop's target: names, and the parts of a tuple."""
        if isinstance(target, ast.Name):
            scope.bind(target.id, value, call)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, None, scope)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.items if isinstance(value, Items) and not value.pairs else ()
            each = element(value) if isinstance(value, Many) else None
            for number, part in enumerate(target.elts):
                self.bind(part, parts[number] if number < len(parts) else each, scope)


def _reason(found: Absent | Unknown, owner: Located) -> str:
    if isinstance(found, Unknown):
        return found.reason
    return f"{owner.dotted} defines no {found.name}"
