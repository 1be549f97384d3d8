"""A plugin class below an upstream class: what the base gained, lost, and now demands."""

from __future__ import annotations

from collections.abc import Iterator

from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.uses import Subclass
from git_afd.core.impacts.differences import difference
from git_afd.core.impacts.effect import Effect, Fault
from git_afd.core.impacts.homes import Renames
from git_afd.core.impacts.places import class_now, old_place
from git_afd.core.impacts.sides import Side
from git_afd.core.source.world import PLUGIN, Located
from git_afd.core.workbook.impacts import State


def subclass_effect(contract: Contract, sides: tuple[Side, Side], renames: Renames) -> Effect:
    """Compare a base class: is it there, did its bases change, does a new member collide or have to be defined."""
    old = old_place(contract, sides[0])
    if old is None:
        return Effect(contract, "unknown", f"{contract.upstream.symbol} was not found at the current commit")
    named = contract.upstream.named or old.dotted
    now = class_now(named, sides, renames)
    if now.standing == "unknown":
        return Effect(contract, "unknown", now.why)
    lines = [use.line for use in contract.uses if isinstance(use, Subclass)]
    if now.place is None:
        faults = tuple(Fault(line, f"the base is not there: {now.why}") for line in lines)
        return Effect(contract, "removed", now.why, faults, gone=True, reachable=False)
    found = difference(old, now.place, sides)
    collisions = tuple(_collisions(contract, old, now.place, sides))
    faults = (*_unreached(lines, now.why, reachable=now.reachable), *_no_class(lines, now.place), *collisions)
    added = [fault.why for fault in collisions]
    state: State = found.kind
    if now.standing in ("believed", "led to"):
        state = "moved"
    elif added:
        state = "member-added"
    parts = (*now.reasons, *found.what, *added)
    return Effect(contract, state, _told(parts), faults, now.place, found, reachable=now.reachable)


def _told(parts: tuple[str, ...]) -> str:
    return "; ".join(dict.fromkeys(parts)) or "the base is there, and nothing new collides with the plugin's members"


def _unreached(lines: list[int], why: str, *, reachable: bool) -> Iterator[Fault]:
    if not reachable:
        for line in lines:
            yield Fault(line, f"the base cannot be reached: {why}")


def _no_class(lines: list[int], place: Located) -> Iterator[Fault]:
    """Yield that nothing can stand below a function, which is what a class became."""
    if place.kind == "function":
        for line in lines:
            yield Fault(line, f"the base {place.symbol} is a function now")


def _collisions(contract: Contract, old: Located, new: Located, sides: tuple[Side, Side]) -> Iterator[Fault]:
    """Yield members that the base's family has only now and that the plugin's class already has, or must have."""
    before, after = members(old, sides[0]), members(new, sides[1])
    fresh = {name: place for name, place in after.items() if name not in before}
    for use in contract.uses:
        if not isinstance(use, Subclass):
            continue
        for name in use.own:
            if name in fresh and not name.startswith("__"):
                place = fresh[name]
                yield Fault(use.line, f"{name} is a member of the plugin's own, and {place.symbol} exists upstream now")
        for name, place in fresh.items():
            if _abstract(place) and name not in use.own and not _implemented(contract, name, sides[1], new):
                yield Fault(use.line, f"{place.symbol} is abstract and new, and the plugin's class lacks it")


def members(klass: Located, side: Side) -> dict[str, Located]:
    """Return every member of a class by name, nearest definition first; attributes that methods set count."""
    found: dict[str, Located] = {}
    for place in side.world.ancestry(klass).classes:
        module = side.world.module(place.who, place.module)
        if module is None or place.who == PLUGIN:
            continue
        prefix = f"{place.symbol}."
        for name, definition in module.definitions.items():
            short = name.removeprefix(prefix)
            if name.startswith(prefix) and "." not in short:
                found.setdefault(short, Located(place.who, place.path, place.module, name, definition))
        for name, attribute in module.attributes.items():
            short = name.removeprefix(prefix)
            if name.startswith(prefix) and "." not in short:
                found.setdefault(short, Located(place.who, place.path, place.module, name, None, attribute))
    return found


def _abstract(place: Located) -> bool:
    signature = place.definition.signature if place.definition else None
    return any(item.rpartition(".")[2] == "abstractmethod" for item in (signature.decorators if signature else ()))


def _implemented(contract: Contract, name: str, side: Side, base: Located) -> bool:
    """Say whether the plugin's class gets a concrete member of that name from anywhere else."""
    tree = side.tree(PLUGIN)
    path, symbol = contract.plugin.path, contract.plugin.symbol
    module = tree.name_of(path) if tree else ""
    klass = side.world.resolve(f"{module}.{symbol}") if module else None
    found = side.world.member(klass, name) if isinstance(klass, Located) else side.world.member(base, name)
    return isinstance(found, Located) and not _abstract(found)
