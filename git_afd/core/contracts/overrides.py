"""Contracts from the plugin's classes: which upstream classes they stand below, which members they override."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from git_afd.core.contracts.book import Book, target_of
from git_afd.core.contracts.facts import Called, Facts
from git_afd.core.contracts.model import Place
from git_afd.core.contracts.signatures import compare, verdict
from git_afd.core.contracts.uses import Call, Override, Subclass
from git_afd.core.source.definitions import Module
from git_afd.core.source.world import PLUGIN, Located, World

_NOT_MEMBERS: Final = ("__slots__", "__doc__", "__module__", "__annotations__", "__qualname__", "__all__")


def classes(world: World) -> Iterator[Located]:
    """Yield the plugin's classes below something upstream, in the order of paths and lines."""
    tree = world.trees[PLUGIN]
    for name in tree.paths:
        module = tree.module(name)
        if not isinstance(module, Module):
            continue
        for definition in module.definitions.values():
            if definition.kind == "class" and definition.bases:
                yield Located(PLUGIN, tree.paths[name], name, definition.name, definition)


def add_classes(book: Book, world: World, facts: Facts) -> None:
    """Add a contract per upstream base that a plugin class reaches first, and one per overridden member."""
    supers = _super_calls(facts)
    for klass in classes(world):
        ancestry = world.ancestry(klass)
        upstream = [place for place in ancestry.classes[1:] if place.who != PLUGIN]
        if not upstream:
            continue
        through = tuple(place.dotted for place in ancestry.classes[1:] if place.who == PLUGIN)
        members = [member for member in world.members(klass) if member.symbol.rpartition(".")[2] not in _NOT_MEMBERS]
        own = [member for member in members if not _defining(world, klass, member)]
        names = tuple(member.symbol.rpartition(".")[2] for member in own)
        place = Place(klass.path, klass.symbol, klass.line, klass.end_line)
        for base in _first_bases(world, klass):
            book.add("inherited-read", target_of(base), place, Subclass(klass.line, through, names), "base class")
        for member in members:
            _member(book, world, klass, member, supers)


def _first_bases(world: World, klass: Located) -> list[Located]:
    """Return the upstream classes that the class or a plugin class above it names as bases."""
    found: list[Located] = []
    for place in world.ancestry(klass).classes:
        if place.who == PLUGIN and place.definition:
            bases = (world.base(place, text) for text in place.definition.bases)
            found += [base for base in bases if isinstance(base, Located) and base.who != PLUGIN and base not in found]
    return found


def _defining(world: World, klass: Located, member: Located) -> tuple[Located, int] | None:
    """Return the nearest upstream definition of a member, and its distance in the order of resolution."""
    name = member.symbol.rpartition(".")[2]
    for distance, place in enumerate(world.ancestry(klass).classes):
        if place.who != PLUGIN:
            own = world.own(place, name)
            if own is not None:
                return own, distance
    return None


def _member(
    book: Book, world: World, klass: Located, member: Located, supers: Mapping[tuple[str, str], tuple[Call, ...]]
) -> None:
    found = _defining(world, klass, member)
    if found is None:
        return
    theirs, distance = found
    name = member.symbol.rpartition(".")[2]
    base = next((item.dotted for item in _first_bases(world, klass) if _reaches(world, item, theirs)), "")
    signature = member.definition.signature if member.definition else None
    calls = supers.get((member.path, member.symbol), ())
    place = Place(member.path, member.symbol, member.line, member.end_line)
    use = Override(member.line, base, distance, signature, calls)
    draft = book.add("override", target_of(theirs), place, use, f"defines {name} of a base")
    if theirs.definition and theirs.definition.signature and signature and member.kind == "function":
        draft.signature = verdict(compare(theirs.definition.signature, signature))


def _reaches(world: World, base: Located, theirs: Located) -> bool:
    owner = theirs.symbol.rpartition(".")[0]
    return any(place.module == theirs.module and place.symbol == owner for place in world.ancestry(base).classes)


def _super_calls(facts: Facts) -> dict[tuple[str, str], tuple[Call, ...]]:
    """Return the calls of the overridden member itself, by the overriding method."""
    found: dict[tuple[str, str], list[Called]] = {}
    for called in facts.calls:
        name = called.spot.symbol.rpartition(".")[2]
        same = called.place.symbol.rpartition(".")[2] == name
        if same and called.bound in ("super", "unbound"):
            found.setdefault((called.spot.path, called.spot.symbol), []).append(called)
    return {key: tuple(dict.fromkeys(item.use() for item in calls)) for key, calls in found.items()}
