"""From annotations and definitions to what is known about a value (:mod:`git_afd.core.contracts.values`)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.contracts.values import (
    Instance,
    Items,
    Many,
    Method,
    ModuleValue,
    Nothing,
    Outside,
    Text,
    Thing,
    Value,
)
from git_afd.core.source.world import Located, World

_COLLECTIONS: Final = (
    *("list", "set", "frozenset", "deque", "List", "Set", "FrozenSet", "Deque", "Sequence", "Iterable", "Iterator"),
    *("Collection", "MutableSequence", "AsyncIterator", "AsyncIterable", "Generator", "AsyncGenerator", "tuple"),
    *("Tuple", "AbstractSet", "AbstractContextManager", "ContextManager", "Container", "Reversible"),
)
_MAPPINGS: Final = ("dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict")
_TRANSPARENT: Final = (
    *("Optional", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "Awaitable", "InitVar"),
    "Coroutine",
)
_PROPERTIES: Final = ("property", "cached_property", "functools.cached_property", "abc.abstractproperty")


@dataclass(slots=True)
class Kinds:
    """Answers what an annotation, a name's definition or a member of a class is. Every answer is kept."""

    world: World
    _members: dict[tuple[Located, Located], Value | None] = field(default_factory=dict)
    _values: dict[Located, Value | None] = field(default_factory=dict)
    _texts: dict[str, ast.expr | None] = field(default_factory=dict)

    def parsed(self, text: str | None) -> ast.expr | None:
        """Return the expression of a source text, None when it is none."""
        if not text:
            return None
        if text not in self._texts:
            try:
                self._texts[text] = ast.parse(text, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._texts[text] = None
        return self._texts[text]

    def annotated(self, node: ast.expr | None, module: str, me: Located | None = None) -> Value | None:
        """Return the value that an annotation in `module` promises; `me` is what ``Self`` means."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.annotated(self.parsed(node.value), module, me)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.annotated(node.left, module, me) or self.annotated(node.right, module, me)
        if isinstance(node, ast.Subscript):
            return self._generic(node, module, me)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(node, module, me)
        return None

    def _generic(self, node: ast.Subscript, module: str, me: Located | None) -> Value | None:
        name = _last(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        inner = [self.annotated(part, module, me) for part in parts if not isinstance(part, ast.Slice)]
        told = next((item for item in inner if item is not None), None)
        if name in _TRANSPARENT or name == "Union":
            return told
        if name in ("type", "Type"):
            return Thing(told.klass) if isinstance(told, Instance) else None
        if name in ("tuple", "Tuple") and len(parts) > 1 and not _is_dots(parts[-1]):
            return Items(tuple(inner))
        if name in _MAPPINGS or name in _COLLECTIONS:
            return Many(inner[-1], Outside("")) if name in _MAPPINGS else Many(inner[0] if inner else None)
        return self.annotated(node.value, module, me)

    def _named(self, node: ast.expr, module: str, me: Located | None) -> Value | None:
        dotted = written(node)
        if dotted in ("Self", "typing.Self", "typing_extensions.Self"):
            return Instance(me) if me else None
        found = self.world.symbol(module, dotted) if dotted else None
        if not isinstance(found, Located):
            return None
        if found.kind == "class":
            return Instance(found)
        if found.kind == "value" and found.definition and found.definition.value and found.module != "":
            return self._alias(found)
        return None

    def _alias(self, found: Located) -> Value | None:
        """Follow a type alias; one that leads to itself is nothing."""
        key = Located(found.who, found.path, found.module, f"{found.symbol}:alias")
        if key not in self._values:
            self._values[key] = None
            value = found.definition.value if found.definition else None
            self._values[key] = self.annotated(self.parsed(value), found.module)
        return self._values[key]

    def parameters(self, place: Located) -> Mapping[str, Value | None]:
        """Return what a function's annotated parameters are."""
        signature = place.definition.signature if place.definition else None
        return {
            item.name: self.annotated(self.parsed(item.annotation), place.module)
            for item in (signature.parameters if signature else ())
        }

    def returned(self, place: Located, receiver: Located | None = None) -> Value | None:
        """Return what calling a function gives, by its annotation."""
        definition = place.definition
        if definition is None or definition.signature is None:
            return None
        return self.annotated(self.parsed(definition.signature.returns), place.module, receiver)

    def member(self, place: Located, receiver: Located) -> Value | None:
        """Return what reading a member (found on `receiver`) from an object gives."""
        key = (place, receiver)
        if key not in self._members:
            self._members[key] = None
            self._members[key] = self._member(place, receiver)
        return self._members[key]

    def _member(self, place: Located, receiver: Located) -> Value | None:
        definition = place.definition
        if definition is not None and definition.kind == "function":
            decorators = definition.signature.decorators if definition.signature else ()
            if any(item in _PROPERTIES or item.endswith(".cached_property") for item in decorators):
                return self.returned(place, receiver)
            return Method(place, receiver, "class-method" if "classmethod" in decorators else "method")
        if definition is not None and definition.kind == "class":
            return Thing(place)
        text = definition.annotation if definition and definition.annotation else None
        if text is None and place.attribute is not None:
            text = place.attribute.annotation
        found = self.annotated(self.parsed(text), place.module, receiver)
        if found is not None or place.attribute is None:
            return found
        return self._assigned(place, receiver)

    def _assigned(self, place: Located, receiver: Located) -> Value | None:
        """Work out what a method assigns on ``self`` from its parameters' annotations."""
        attribute = place.attribute
        node = self.parsed(attribute.value) if attribute else None
        if node is None or attribute is None:
            return None
        method = self.world.resolve(f"{place.module}.{attribute.method}")
        names = dict(self.parameters(method)) if isinstance(method, Located) else {}
        if isinstance(method, Located) and method.definition and method.definition.signature:
            own = method.definition.signature.parameters
            if own:
                names[own[0].name] = Instance(receiver)
        return self.expression(node, place.module, names)

    def value(self, place: Located) -> Value | None:
        """Return what a resolved name is: a module, a definition, or what a module-level value is known to be."""
        if place.kind == "module":
            return ModuleValue(place.module)
        if place.kind != "value":
            return Thing(place)
        if place not in self._values:
            self._values[place] = Thing(place)
            self._values[place] = self._value(place)
        return self._values[place]

    def _value(self, place: Located) -> Value | None:
        definition = place.definition
        if definition is None:
            return Thing(place)
        found = self.annotated(self.parsed(definition.annotation), place.module)
        if found is None or isinstance(found, Many):
            told = self.expression(self.parsed(definition.value), place.module, {})
            found = told if told is not None and not isinstance(told, Nothing) else found
        return found if found is not None else Thing(place)

    def expression(self, node: ast.expr | None, module: str, names: Mapping[str, Value | None]) -> Value | None:
        """Evaluate an expression of any module for its kind only: nothing is noted."""
        if isinstance(node, ast.Constant):
            return Text(node.value) if isinstance(node.value, str) else Nothing() if node.value is None else None
        if isinstance(node, ast.Name):
            return names[node.id] if node.id in names else self._of_module(module, node.id)
        if isinstance(node, ast.Attribute):
            return self.attribute(self.expression(node.value, module, names), node.attr)
        if isinstance(node, ast.Call):
            return self.called(self.expression(node.func, module, names))
        if isinstance(node, ast.IfExp | ast.BoolOp):
            parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
            told = (self.expression(part, module, names) for part in parts)
            return next((item for item in told if item not in (None, Nothing())), None)
        return self._literal(node, module, names)

    def _of_module(self, module: str, name: str) -> Value | None:
        found = self.world.symbol(module, name)
        return self.value(found) if isinstance(found, Located) else None

    def _literal(self, node: ast.expr | None, module: str, names: Mapping[str, Value | None]) -> Value | None:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return Items(tuple(self.expression(part, module, names) for part in node.elts))
        if isinstance(node, ast.Dict) and all(node.keys):
            both = zip(node.keys, node.values, strict=True)
            pairs = [Items((self.expression(k, module, names), self.expression(v, module, names))) for k, v in both]
            return Items(tuple(pairs), pairs=True)
        return None

    def called(self, callee: Value | None) -> Value | None:
        """Return what calling a value gives."""
        if isinstance(callee, Thing) and callee.place.kind == "class":
            return Instance(callee.place)
        if isinstance(callee, Thing) and callee.place.kind == "function":
            return self.returned(callee.place)
        if isinstance(callee, Method):
            return self.returned(callee.place, callee.receiver)
        if isinstance(callee, Instance):
            found = self.world.member(callee.klass, "__call__")
            return self.returned(found, callee.klass) if isinstance(found, Located) else None
        return None

    def attribute(self, base: Value | None, name: str) -> Value | None:
        """Return what an attribute of a value is; nothing is noted."""
        if isinstance(base, ModuleValue):
            found = self.world.symbol(base.dotted, name)
            return self.value(found) if isinstance(found, Located) else None
        if isinstance(base, Instance):
            member = self.world.member(base.klass, name)
            return self.member(member, base.klass) if isinstance(member, Located) else None
        if isinstance(base, Thing) and base.place.kind == "class":
            member = self.world.member(base.place, name)
            return self.of_class(member, base.place) if isinstance(member, Located) else None
        return Outside(f"{base.dotted}.{name}") if isinstance(base, Outside) else None

    def of_class(self, member: Located, receiver: Located) -> Value | None:
        """Return what a member taken from the class itself is."""
        definition = member.definition
        if definition is None or definition.kind != "function":
            return self.member(member, receiver)
        decorators = definition.signature.decorators if definition.signature else ()
        if "classmethod" in decorators:
            return Method(member, receiver, "class-method")
        return Method(member, receiver, "function" if "staticmethod" in decorators else "unbound")


def written(node: ast.expr) -> str:
    """Return a dotted expression as written, with ``()`` for calls inside it; empty when it is something else."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            inner = written(node.func)
            return ".".join([f"{inner}()", *reversed(parts)]) if inner else ""
        elif isinstance(node, ast.Subscript):
            inner = written(node.value)
            return ".".join([f"{inner}[]", *reversed(parts)]) if inner else ""
        elif isinstance(node, ast.Name):
            return ".".join([node.id, *reversed(parts)])
        else:
            return ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis
