"""Collecting contracts: what speaks of the same upstream symbol in the same place of the plugin becomes one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from git_afd.core.contracts.model import (
    Contract,
    Kind,
    Marker,
    Notes,
    Place,
    SignatureMatch,
    Target,
    Writer,
    contract_id,
)
from git_afd.core.contracts.uses import Attribute, Use
from git_afd.core.source.lookup import module_paths
from git_afd.core.source.world import Located


@dataclass(slots=True)
class Draft:
    """A contract while it is collected. `span` is the first and last line of what is noted."""

    kind: Kind
    upstream: Target
    plugin: Place
    how: str
    uses: dict[Use, None] = field(default_factory=dict)
    signature: SignatureMatch | None = None
    markers: tuple[Marker, ...] = ()
    writers: tuple[Writer, ...] = ()
    notes: Notes | None = None
    unknown: str | None = None


@dataclass(slots=True)
class Book:
    """All drafts by id, in the order in which they were first met."""

    drafts: dict[str, Draft] = field(default_factory=dict)

    def add(self, kind: Kind, upstream: Target, plugin: Place, use: Use, how: str, unknown: str = "") -> Draft:
        """Note a use: it joins the contract of the same id, whose lines then span all its uses."""
        key = contract_id(kind, _told_apart(upstream, use), plugin)
        draft = self.drafts.get(key)
        if draft is None:
            draft = self.drafts[key] = Draft(kind, upstream, plugin, how, unknown=unknown or None)
        else:
            first, last = min(draft.plugin.line, plugin.line), max(draft.plugin.end_line, plugin.end_line)
            draft.plugin = Place(plugin.path, draft.plugin.symbol, first, last)
        draft.uses[use] = None
        return draft

    def contracts(self) -> Iterator[Contract]:
        """Yield the finished contracts, sorted by the plugin's file and line."""
        order = sorted(self.drafts.items(), key=lambda item: (item[1].plugin.path, item[1].plugin.line, item[0]))
        for key, draft in order:
            yield Contract(
                key,
                draft.kind,
                draft.plugin,
                draft.upstream,
                tuple(sorted(draft.uses, key=lambda use: use.line)),
                draft.how,
                draft.signature,
                draft.markers,
                draft.writers,
                draft.notes,
                draft.unknown,
            )


def _told_apart(upstream: Target, use: Use) -> Target:
    """Return the target to name a contract after: one function may set many attributes, each a contract of its own."""
    if isinstance(use, Attribute) and use.presence == "set elsewhere":
        return replace(upstream, symbol=f"{upstream.symbol}.{use.attribute}")
    return upstream


def target_of(place: Located, named: str = "") -> Target:
    """Return what a located definition is as a contract's target; `named` only where it says something else."""
    return Target(place.who, place.path, place.symbol, place.module, "" if named == place.dotted else named)


def target_at(owner: Located, name: str) -> Target:
    """Return a target that is named by its owner (a class or module), defined there or not."""
    symbol = f"{owner.symbol}.{name}" if owner.symbol else name
    return Target(owner.who, owner.path, symbol, owner.module)


def module_of(path: str) -> str:
    """Return the dotted module of a path, empty when it is no Python file."""
    return next(iter(module_paths([path])), "")
