"""What the plugin does with what it relies on, told apart so that a comparison can ask whether the use still works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from git_afd.core.source.definitions import ImportPlace, Signature

Access = Literal["read", "written", "deleted", "called"]
Binding = Literal["function", "method", "unbound", "constructor", "super", "class-method"]
Presence = Literal["defined", "set elsewhere", "added", "absent"]
PatchForm = Literal["class-attribute", "module-attribute", "alias", "setattr", "item"]
Wrapping = Literal["", "classmethod", "staticmethod", "property", "wrapper"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call: what is passed, and what is done with the result.

    `bound` says how the callee is reached: ``method`` and ``class-method`` (the first parameter is bound already),
    ``unbound`` (``Class.method(self, …)``), ``constructor``, ``super``, ``function``. `positional` counts arguments
    without stars; `star` / `star_star` say that ``*x`` / ``**x`` is passed too. `unpacked` is the number of
    names the result is unpacked into, 0 when it is not (`unpacked_star`: one of them takes the rest);
    `attributes` are read on the result, directly or through the local name it is bound to.
    """

    line: int
    bound: Binding
    positional: int
    keywords: tuple[str, ...] = ()
    star: bool = False
    star_star: bool = False
    awaited: bool = False
    iterated: bool = False
    entered: bool = False
    discarded: bool = False
    unpacked: int = 0
    unpacked_star: bool = False
    attributes: tuple[str, ...] = ()
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute read, written, deleted or called on an upstream object or module.

    `owner` is ``module.Class`` (or the module) it is taken from, `chain` the expression as written. `soft`: its
    absence does not break (hasattr, getattr with a default, a guard against AttributeError). `presence` says
    whether the owner defines it, an upstream function sets it on such objects (then that function is the
    contract's target), the plugin keeps it there, or nobody does.
    """

    line: int
    owner: str
    attribute: str
    chain: str
    access: Access
    soft: bool = False
    presence: Presence = "defined"


@dataclass(frozen=True, slots=True)
class Override:
    """A plugin class defines a member that an upstream base defines.

    `base` is the upstream class as the plugin's bases reach it first (``module.Class``), `distance` the number of
    steps from the plugin class to the class that defines the member (1: a direct base). `signature` is the plugin's
    own, None for a value; `supers` are the calls of the overridden member through ``super()`` or the base.
    """

    line: int
    base: str
    distance: int
    signature: Signature | None = None
    supers: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Subclass:
    """A plugin class stands below an upstream class.

    `through` are plugin classes in between, nearest first; `own` are members that no upstream base defines at the
    current commit: a target that defines one collides with it.
    """

    line: int
    through: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patch:
    """An upstream attribute is assigned.

    `owner` is ``module.Class`` or ``module`` that is written; `defined_path`/`defined_symbol` say where the
    function that is replaced is defined (another module for an alias, a base class for an inherited method).
    `replacement` is the plugin's function as a dotted name, `signature` its signature, None when it is a value.
    `saved` is the private attribute or name under which the original is kept. `rebound` are modules whose alias of
    the name is assigned as well, `missed` those that bind it by ``from … import`` at module level and keep the
    old object. `condition` is the test it stands under.
    """

    line: int
    owner: str
    form: PatchForm
    replacement: str
    defined_path: str = ""
    defined_symbol: str = ""
    wrapped: Wrapping = ""
    signature: Signature | None = None
    saved: str = ""
    rebound: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    condition: str = ""
    added: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """A plugin function whose body was taken from an upstream function; `similarity` is a fraction from 0 to 1.

    `parts` names further upstream functions whose bodies went into the same plugin function.
    """

    line: int
    similarity: float
    signature: Signature | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Import:
    """An imported name. `runtime` is False when it is used in annotations only (or not at all).

    `place` as for modules; `dynamic` for ``importlib.import_module("…")`` and ``find_spec`` with a constant; `held`
    when ``isinstance`` or ``issubclass`` asks for it: only a class serves there.
    """

    line: int
    local: str
    place: ImportPlace
    runtime: bool = True
    dynamic: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A dotted string that names an upstream symbol; `role` says for what (``patch target``, ``class path``, …)."""

    line: int
    text: str
    role: str


@dataclass(frozen=True, slots=True)
class Fake:
    """A test puts something of its own where upstream's stands; `attributes` are those it stands for."""

    line: int
    form: str
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable of an upstream is read or written; `default` is the source of the default given."""

    line: int
    variable: str
    access: Access
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """A text of the plugin says which version of an upstream it is made for."""

    line: int
    version: str
    source: str


Use = Call | Attribute | Override | Subclass | Patch | Copy | Import | Mention | Fake | Variable | Pin
