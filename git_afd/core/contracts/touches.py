"""Contracts from what the plugin reads and calls: attributes of upstream objects, modules and bases; call sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from git_afd.core.contracts.book import Book, target_at, target_of
from git_afd.core.contracts.elsewhere import Setters
from git_afd.core.contracts.facts import Called, Facts, Read, Write
from git_afd.core.contracts.model import Kind, Place, Target
from git_afd.core.contracts.uses import Attribute, Presence, Variable
from git_afd.core.source.lookup import Unknown
from git_afd.core.source.world import PLUGIN, Located, World


def add_reads(book: Book, facts: Facts, states: Sequence[Write], set_by: Setters, world: World) -> None:
    """Add a contract for each attribute that is read, written or deleted.

    `states` are writes that keep state on an upstream class or module; `set_by` tells for attribute names that no
    class defines where an upstream sets them.
    """
    added = {(read.owner, read.attribute) for read in facts.reads if read.access == "written" and read.place is None}
    added |= {(write.owner, write.attribute) for write in states}
    faked = {(item.spot.path, item.target) for item in facts.faked}
    for read in facts.reads:
        presence: Presence = "defined"
        target, unknown = _target(read), ""
        if read.place is None:
            target, presence, unknown = _missing(read, added, set_by)
            if unknown and (read.spot.path, read.owner.module) in faked:
                presence, unknown = "added", ""  # it belongs to the stand-in that the same file builds
        use = Attribute(read.spot.line, read.owner.dotted, read.attribute, read.chain, read.access, read.soft, presence)
        _note(book, read, target, use, unknown)
    for write in states:
        _state(book, write, world)


def _state(book: Book, write: Write, world: World) -> None:
    """Add what the plugin keeps on an upstream class or module; putting an original back keeps nothing."""
    found = world.member(write.owner, write.attribute) if write.owner.kind == "class" else None
    found = found or world.symbol(write.owner.module, write.attribute)
    if write.value.original and isinstance(found, Located):
        return
    presence: Presence = "defined" if isinstance(found, Located) else "added"
    place = Place(write.spot.path, write.spot.symbol, write.spot.line, write.spot.line)
    use = Attribute(write.spot.line, write.owner.dotted, write.attribute, write.chain, "written", presence=presence)
    book.add(
        "attribute-read", target_at(write.owner, write.attribute), place, use, f"state kept on a {write.owner.kind}"
    )


def _note(book: Book, read: Read, target: Target, use: Attribute, unknown: str) -> None:
    place = Place(read.spot.path, read.spot.symbol, read.spot.line, read.spot.line)
    if read.owner.module.endswith(".envs") and read.attribute.isupper():
        variable = Variable(use.line, read.attribute, use.access)
        book.add("environment", target, place, variable, "attribute of an envs module", unknown)
        return
    kind: Kind = "inherited-read" if read.via in ("self", "super") else "attribute-read"
    how = {"self": "member read through self", "super": "member read through super()"}.get(read.via, "")
    book.add(kind, target, place, use, how or f"attribute of a {_WHAT.get(read.via, 'typed object')}", unknown)


_WHAT = {"module": "module", "class": "class"}


def _target(read: Read) -> Target:
    if read.place is None:
        return target_at(read.owner, read.attribute)
    named = f"{read.owner.dotted}.{read.attribute}" if read.via == "module" else ""
    return target_of(read.place, named)


def _missing(read: Read, added: set[tuple[Located, str]], set_by: Setters) -> tuple[Target, Presence, str]:
    """Judge an attribute that its owner does not define: set elsewhere, kept there by the plugin, or nowhere."""
    elsewhere = set_by.get((read.owner, read.attribute)) if read.owner.kind == "class" else None
    target = target_at(read.owner, read.attribute)
    if elsewhere is not None:
        named = f"{read.owner.dotted}.{read.attribute}"
        return Target(elsewhere.who, elsewhere.path, elsewhere.symbol, elsewhere.module, named), "set elsewhere", ""
    if (read.owner, read.attribute) in added or read.access == "written":
        return target, "added", ""
    return (target, "absent", "") if read.soft else (target, "absent", read.reason)


def add_calls(book: Book, facts: Facts) -> None:
    """Add a contract for each call of an upstream function, class or method."""
    for called in _once(facts.calls):
        owner = called.owner
        named = f"{owner.dotted}.{called.chain.rpartition('.')[2]}" if owner and called.via == "module" else ""
        place = Place(called.spot.path, called.spot.symbol, called.spot.line, called.spot.line)
        book.add("call", target_of(called.place, named), place, called.use(), f"call ({called.bound})")


def _once(calls: Iterable[Called]) -> list[Called]:
    """Keep one note per call expression: a loop that was unrolled or a function read twice gives several."""
    kept: dict[tuple[object, ...], Called] = {}
    for called in calls:
        key = (called.spot, called.place, called.chain, called.positional, called.keywords)
        first = kept.setdefault(key, called)
        first.attributes.update(called.attributes)
    return list(kept.values())


def unexplained(facts: Facts, world: World) -> tuple[Read, ...]:
    """Return hard and soft reads of attributes that a class lacks: somebody else may set them."""
    return tuple(
        read
        for read in facts.reads
        if read.place is None and read.owner.kind == "class" and read.owner.who != PLUGIN and _readable(read, world)
    )


def _readable(read: Read, world: World) -> bool:
    return not any(isinstance(end, Unknown) for end in world.ancestry(read.owner).open_ends)
