"""What a class may be constructed with: its ``__init__``, or the fields that a dataclass makes one of."""

from __future__ import annotations

import re
from typing import Final

from git_afd.core.impacts.sides import Side
from git_afd.core.impacts.signatures import bound_parameters
from git_afd.core.source.definitions import Parameter, ParameterKind
from git_afd.core.source.world import Located

_GENERATES: Final = re.compile(r"(?:[\w.]*\.)?(?:dataclass|config|define|attrs|frozen)\b")
_BY_BASE: Final = ("NamedTuple", "BaseModel", "Struct", "TypedDict")
_NO_FIELD: Final = re.compile(r"(?:typing\.)?ClassVar\b")
_NOT_INIT: Final = re.compile(r"\bfield\(.*\binit\s*=\s*False", re.IGNORECASE)
_DEFAULT: Final = re.compile(r"\bdefault(?:_factory)?\s*=")


def constructor(klass: Located, side: Side) -> tuple[Parameter, ...] | None:
    """Return the parameters of constructing a class, None when they cannot be told (a base outside the sources)."""
    ancestry = side.world.ancestry(klass)
    for place in ancestry.classes:
        own = side.world.own(place, "__init__")
        if own is not None and own.definition is not None and own.definition.signature is not None:
            return bound_parameters(own.definition.signature, "constructor")
        if _generated(place):
            return _fields(klass, side)
        new = side.world.own(place, "__new__")
        if new is not None and new.definition is not None and new.definition.signature is not None:
            return bound_parameters(new.definition.signature, "constructor")
    return None if ancestry.open_ends else ()


def _generated(place: Located) -> bool:
    definition = place.definition
    if definition is None:
        return False
    decorators = definition.signature.decorators if definition.signature else ()
    if any(_GENERATES.match(item) and "init=False" not in item.replace(" ", "") for item in decorators):
        return True
    return any(base.partition("[")[0].rpartition(".")[2] in _BY_BASE for base in definition.bases)


def _fields(klass: Located, side: Side) -> tuple[Parameter, ...]:
    found: dict[str, Parameter] = {}
    for place in reversed(side.world.ancestry(klass).classes):
        for member in side.world.members(place):
            item = _field(member, place)
            if item is not None:
                found[item.name] = item
    return tuple(found.values())


def _field(member: Located, klass: Located) -> Parameter | None:
    definition = member.definition
    if definition is None or definition.kind != "value" or definition.annotation is None:
        return None
    if _NO_FIELD.match(definition.annotation) or _NOT_INIT.search(definition.value or ""):
        return None
    value = definition.value
    if value is not None and re.match(r"(?:[\w.]*\.)?[Ff]ield\(", value) and not _DEFAULT.search(value):
        value = value if re.match(r"(?:[\w.]*\.)?Field\((?!\.\.\.)[^=,]+[,)]", value) else None
    decorators = klass.definition.signature.decorators if klass.definition and klass.definition.signature else ()
    by_name = any("kw_only=True" in item.replace(" ", "") for item in decorators)
    kind: ParameterKind = "keyword" if by_name else "positional"
    return Parameter(member.symbol.rpartition(".")[2], kind, value, definition.annotation)
