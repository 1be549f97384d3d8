"""What is known about an expression of the plugin without running it. None everywhere means: nothing is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from git_afd.core.contracts.uses import Binding
from git_afd.core.source.world import Located


@dataclass(frozen=True, slots=True)
class ModuleValue:
    """A module of the plugin or of an upstream, by dotted name."""

    dotted: str


@dataclass(frozen=True, slots=True)
class Thing:
    """A definition itself: a class, a function, a module-level value whose type is not known."""

    place: Located


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class."""

    klass: Located


@dataclass(frozen=True, slots=True)
class Method:
    """A method taken from an object or a class; `bound` says how, `receiver` is the class it was looked up on."""

    place: Located
    receiver: Located
    bound: Binding


@dataclass(frozen=True, slots=True)
class SuperValue:
    """``super()`` inside a class of the plugin."""

    klass: Located


@dataclass(frozen=True, slots=True)
class Outside:
    """Something of neither the plugin nor an upstream, by dotted name (``builtins.getattr``, ``sys.modules``)."""

    dotted: str


@dataclass(frozen=True, slots=True)
class Text:
    """A constant text."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A literal sequence; a literal mapping is the sequence of its pairs (`pairs`)."""

    items: tuple[Value | None, ...]
    pairs: bool = False


@dataclass(frozen=True, slots=True)
class Many:
    """A collection, an iterator or a context manager that gives values of one kind; `key` is a mapping's key."""

    of: Value | None
    key: Value | None = None


@dataclass(eq=False, slots=True)
class Fakery:
    """A stand-in that a test builds (``SimpleNamespace(…)``, ``ModuleType("…")``), with the attributes it is given."""

    line: int
    attributes: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Nothing:
    """The constant None: it never displaces something that is known."""


Value = ModuleValue | Thing | Instance | Method | SuperValue | Outside | Text | Items | Many | Fakery | Nothing

NOTHING: Final = Nothing()


def element(value: Value | None) -> Value | None:
    """Return what iterating over a value gives, None when it is not known."""
    if isinstance(value, Many):
        return value.key if value.key is not None else value.of
    if isinstance(value, Items):
        known = [item for item in value.items if item is not None]
        return known[0] if known and not value.pairs else None
    return None
