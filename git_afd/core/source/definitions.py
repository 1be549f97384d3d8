"""The values that a module is boiled down to. Small and picklable: syntax trees are dropped as soon as they are read.

Keeping trees alive makes parsing of a large upstream several times slower (the garbage collector walks them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, Literal

ParameterKind = Literal["positional-only", "positional", "var-positional", "keyword", "var-keyword"]
DefinitionKind = Literal["function", "class", "value"]
ImportPlace = Literal["module", "inline", "type-checking", "guarded"]


class _Quick:
    """Pickled as a call with its fields, since such values go to and fro by the thousand: a third of the usual time."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Return the class and the fields in order."""
        kind = type(self)
        read = _READERS.get(kind)
        if read is None:
            read = _READERS[kind] = attrgetter(*kind.__match_args__)  # type: ignore[attr-defined]  # dataclasses have it
        return kind, read(self)


_READERS: Final[dict[type, Callable[[object], tuple[object, ...]]]] = {}


@dataclass(frozen=True, slots=True)
class Parameter(_Quick):
    """One parameter: `default` and `annotation` are source texts with white space folded, None when absent."""

    name: str
    kind: ParameterKind
    default: str | None = None
    annotation: str | None = None


@dataclass(frozen=True, slots=True)
class Signature(_Quick):
    """A function's signature: parameters in order, return annotation, decorators (source texts), whether async."""

    parameters: tuple[Parameter, ...]
    returns: str | None = None
    decorators: tuple[str, ...] = ()
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class Definition(_Quick):
    """One definition of a module.

    `name` is qualified inside the module (``Class.method``, ``outer.inner`` for a function in a function);
    `line` is the first line (decorators included), `end_line` the last, both from 1. `bases` are a class's
    base expressions; `value` and `annotation` belong to assignments and annotated fields. `condition` is the
    source of the ``if`` test it stands under, empty when it is unconditional.
    """

    name: str
    kind: DefinitionKind
    line: int
    end_line: int
    signature: Signature | None = None
    bases: tuple[str, ...] = ()
    value: str | None = None
    annotation: str | None = None
    condition: str = ""


@dataclass(frozen=True, slots=True)
class SelfAttribute(_Quick):
    """An attribute that a method assigns on its instance (``self.x = …``): the first assignment that says most.

    `name` is ``Class.attribute``, `method` the qualified method whose parameters `value` may refer to.
    """

    name: str
    method: str
    line: int
    value: str | None = None
    annotation: str | None = None


@dataclass(frozen=True, slots=True)
class Import(_Quick):
    """One imported name: `local` is bound here to `symbol` of `module` (symbol empty: the module itself).

    `module` is absolute (relative imports are resolved); `place` says where it stands: at module level, inside
    a function, under TYPE_CHECKING, or guarded by try/except ImportError.
    """

    local: str
    module: str
    symbol: str
    line: int
    place: ImportPlace = "module"

    @property
    def dotted(self) -> str:
        """What the name is bound to, as one dotted name."""
        return f"{self.module}.{self.symbol}".rstrip(".")


@dataclass(frozen=True, slots=True)
class Module(_Quick):
    """Everything a module says about its names.

    `name` is dotted; `stars` are modules imported with ``*``; `lazy` maps names that a module ``__getattr__``
    serves from a table to ``module:symbol``; `dynamic` says that a ``__getattr__`` exists whose names cannot all
    be told; `exports` is ``__all__`` when it is a literal; `attributes` are instance attributes that methods assign,
    by ``Class.attribute``. A ``__getattr__`` that serves the keys of a literal table defines those names as values.
    """

    name: str
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    imports: tuple[Import, ...] = ()
    stars: tuple[str, ...] = ()
    lazy: Mapping[str, str] = field(default_factory=dict)
    dynamic: bool = False
    exports: tuple[str, ...] | None = None
    attributes: Mapping[str, SelfAttribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A module that cannot be read: why. Whatever depends on it is *unknown*, never unchanged."""

    name: str
    reason: str
