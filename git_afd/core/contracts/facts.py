"""What reading the plugin's sources gives: facts, each with the place it stands in. Contracts are made from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from git_afd.core.contracts.uses import Access, Binding, Call, PatchForm, Wrapping
from git_afd.core.contracts.values import Fakery, Value
from git_afd.core.source.definitions import Signature
from git_afd.core.source.world import Located

Via = Literal["self", "super", "typed", "module", "class", "function"]
"""How an upstream member was reached: through the plugin's own object, an upstream object, module, class or name."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a fact stands: path, qualified symbol of the enclosing function or class, line from 1."""

    path: str
    symbol: str
    line: int


@dataclass(frozen=True, slots=True)
class Read:
    """An attribute of something upstream is read, written, deleted.

    `place` is where it is defined, None when it could not be found (`reason` says why); `owner` is the class or
    module it is taken from.
    """

    spot: Spot
    place: Located | None
    owner: Located
    attribute: str
    chain: str
    access: Access
    via: Via
    soft: bool = False
    reason: str = ""


@dataclass(slots=True)
class Called:
    """A call of something upstream, still open: what is done with its result is noted as it is met."""

    spot: Spot
    place: Located
    chain: str
    owner: Located | None
    bound: Binding
    via: Via
    positional: int
    keywords: tuple[str, ...]
    star: bool
    star_star: bool
    soft: bool = False
    awaited: bool = False
    iterated: bool = False
    entered: bool = False
    discarded: bool = False
    unpacked: int = 0
    unpacked_star: bool = False
    attributes: dict[str, None] = field(default_factory=dict)

    def use(self) -> Call:
        """Return the finished use."""
        return Call(
            self.spot.line,
            self.bound,
            self.positional,
            self.keywords,
            self.star,
            self.star_star,
            self.awaited,
            self.iterated,
            self.entered,
            self.discarded,
            self.unpacked,
            self.unpacked_star,
            tuple(self.attributes),
            self.soft,
        )


@dataclass(frozen=True, slots=True)
class Replaced:
    """What is assigned to an upstream attribute: a plugin definition or an expression, and how it is wrapped."""

    name: str
    place: Located | None = None
    wrapped: Wrapping = ""
    signature: Signature | None = None
    original: bool = False
    callable: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """An attribute of an upstream class or module is assigned: a patch, or state that is kept there."""

    spot: Spot
    owner: Located
    attribute: str
    chain: str
    form: PatchForm
    value: Replaced
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A constant text and what it is used for (``module``, ``find_spec``, ``patch target``, ``key``, empty)."""

    spot: Spot
    text: str
    role: str = ""


@dataclass(slots=True)
class Faked:
    """A test lets something stand for what `target` names (dotted), in the form given; `stand_in` grows until read."""

    spot: Spot
    target: str
    form: str
    stand_in: Fakery | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """A call passes something of an upstream to the plugin's own function (`place`): values by parameter."""

    spot: Spot
    place: Located
    values: tuple[tuple[str, Value | None], ...]


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment variable is read or written."""

    spot: Spot
    variable: str
    access: Access
    default: str | None = None


@dataclass(slots=True)
class Facts:
    """Everything that was read, in order of reading, without repetition."""

    reads: dict[Read, None] = field(default_factory=dict)
    calls: list[Called] = field(default_factory=list)
    writes: dict[Write, None] = field(default_factory=dict)
    said: dict[Said, None] = field(default_factory=dict)
    faked: list[Faked] = field(default_factory=list)
    environment: dict[Environment, None] = field(default_factory=dict)
    passed: dict[Passed, None] = field(default_factory=dict)
    used: set[tuple[str, str]] = field(default_factory=set)
    """Names that a plugin file (path) reads when it runs."""
    held: set[tuple[str, str]] = field(default_factory=set)
    """Names that a plugin file (path) holds objects or classes against: it needs a class under them."""
    everywhere: set[tuple[str, str]] = field(default_factory=set)
    """Attributes that a plugin file assigns on every loaded module: (path, attribute)."""
    bound: list[tuple[str, int, int]] = field(default_factory=list)
    """Branches that only the current version takes: plugin file (path), first and last line."""
    kept: dict[tuple[Located, str], Value] = field(default_factory=dict)
    """What the plugin keeps under an attribute that upstream does not have (owner, attribute)."""
    saved: dict[tuple[str, str], str] = field(default_factory=dict)
    """Under which name of a plugin file (path, dotted name of the original) an original was kept."""
