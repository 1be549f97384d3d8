"""A contract: one thing the plugin relies on upstream. Values only: frozen, small, picklable.

One contract speaks of one upstream symbol as used in one place (symbol) of the plugin; what is done there stands in
its uses, each with its line. The JSON names are fixed (``git afd inventory --json``), so that others can compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from git_afd.core.contracts.uses import Use
from git_afd.core.outcome import Json
from git_afd.core.plain import fields, plain

Kind = Literal[
    "monkeypatch",
    "copied-body",
    "shadow-copy",
    "override",
    "inherited-read",
    "attribute-read",
    "call",
    "import",
    "string-reference",
    "test-fake",
    "environment",
    "pin",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

SignatureMatch = Literal["exact", "annotations", "different"]
MarkerFault = Literal["", "no end", "no start", "other label", "no label"]
MarkerForm = Literal["statements", "after the body", "inside an expression", "branch", "outside"]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the plugin: repository-relative path, qualified symbol (empty: module level), lines from 1."""

    path: str
    symbol: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Target:
    """What is relied on, at the current commit: upstream, path, qualified symbol (empty: the module), module of path.

    Path and module are empty where nothing was found; `named` is the dotted name by which the plugin reaches it,
    which differs from ``module.symbol`` when it goes through a re-export or a lazy table.
    """

    name: str
    path: str
    symbol: str
    module: str
    named: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """A pair of ``### PATCH START`` / ``### PATCH END``: label and lines from 1 (0: that half is missing).

    `form` says where the block stands: whole statements, with its end after the last statement of the function,
    inside an expression, from the middle of an if statement (it begins with a branch), or outside any function.
    """

    label: str
    line: int
    end_line: int
    form: MarkerForm = "statements"
    fault: MarkerFault = ""


@dataclass(frozen=True, slots=True)
class Writer:
    """Somebody who assigns a patched target: ``plugin`` or an upstream's name, place, in install order from 1."""

    who: str
    path: str
    line: int
    symbol: str
    order: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which the plugin's signature differs from upstream's: what, upstream's text, the plugin's text."""

    what: str
    upstream: str
    plugin: str


@dataclass(frozen=True, slots=True)
class Notes:
    """What comments, tests and imports say about a copied or patched function.

    `declared` is the upstream source as stated (path, symbol and ref as found in the text); `declared_true` says
    whether it is that symbol's source at the current commit, None when nothing was declared or it cannot be told.
    `invariant` and `reason` come from the header comments; `dependencies` are dotted upstream names that the body
    reads; `tests` are test ids that touch it.
    """

    declared: str = ""
    declared_true: bool | None = None
    reason: str = ""
    invariant: str = ""
    exception: str = ""
    stated_signature: str = ""
    removal: str = ""
    differences: tuple[Difference, ...] = ()
    dependencies: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """One thing that the plugin relies on upstream. `unknown` says why something of it could not be found out.

    `how` says in a few words how it was found. `id` depends on content, never on line numbers.
    """

    id: str
    kind: Kind
    plugin: Place
    upstream: Target
    uses: tuple[Use, ...] = ()
    how: str = ""
    signature: SignatureMatch | None = None
    markers: tuple[Marker, ...] = ()
    writers: tuple[Writer, ...] = ()
    notes: Notes | None = None
    unknown: str | None = None

    def as_json(self) -> dict[str, Json]:
        """Return it with the fixed field names; uses carry their sort as ``use``."""
        body = {name: plain(getattr(self, name)) for name in self.__dataclass_fields__ if name != "uses"}
        body["uses"] = [{"use": type(use).__name__.lower(), **fields(use)} for use in self.uses]
        return body


def contract_id(kind: Kind, upstream: Target, plugin: Place) -> str:
    """Return the stable id: ``kind:upstream path::symbol@plugin path::symbol``, in the signs an id may have.

    What has no upstream path (an environment variable, something unresolved) is named by its dotted name.
    """
    left = f"{upstream.path}::{upstream.symbol}" if upstream.path else upstream.named or upstream.symbol
    right = f"{plugin.path}::{plugin.symbol}" if plugin.symbol else plugin.path
    return f"{kind}:{left.removesuffix('::')}@{right}"
