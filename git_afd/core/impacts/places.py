"""Where the two ends of a contract are: its upstream definition at the current commit, and what stands for it now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.uses import Attribute, Override, Patch, Subclass
from git_afd.core.impacts.homes import Home, Renames, new_home
from git_afd.core.impacts.sides import Reached, Side, why_missing
from git_afd.core.source.definitions import SelfAttribute
from git_afd.core.source.lookup import Absent, External, Unknown
from git_afd.core.source.world import PLUGIN, Located, Result

Standing = Literal["here", "led to", "believed", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class Now:
    """What stands for a contract's definition at the target.

    `standing`: at its old place; where the old name leads (a re-export, an inherited member); at a new home that
    there is reason to believe (`reasons`); gone; unknown. `reachable` says that the plugin's own way to it (its
    import path, the class it takes it from) works at run time; `why` says what is wrong with that way.
    """

    standing: Standing
    place: Located | None = None
    reachable: bool = True
    why: str = ""
    reasons: tuple[str, ...] = ()
    renamed: bool = False
    owner: Located | None = None

    @classmethod
    def gone(cls, why: str, owner: Located | None = None) -> Now:
        """Return that nothing stands for it."""
        return cls("gone", None, reachable=False, why=why, owner=owner)

    @classmethod
    def unknown(cls, why: str, owner: Located | None = None) -> Now:
        """Return that it cannot be told."""
        return cls("unknown", None, reachable=False, why=why, owner=owner)

    @classmethod
    def believed(cls, home: Home | None, why: str, owner: Located | None = None) -> Now:
        """Return a new home, or that nothing stands for it when there is none."""
        if home is None:
            return cls.gone(why, owner)
        return cls(
            "believed", home.place, reachable=False, why=why, reasons=home.reasons, renamed=home.renamed, owner=owner
        )


def old_place(contract: Contract, side: Side) -> Located | None:
    """Return the definition that a contract names, at the current commit."""
    upstream = contract.upstream
    if not upstream.module:
        return None
    own = own_place(side, upstream.name, upstream.module, upstream.symbol)
    if own is not None:
        return own
    outer, _, name = upstream.symbol.rpartition(".")
    if outer:
        klass = own_place(side, upstream.name, upstream.module, outer)
        member = side.world.member(klass, name) if klass is not None and klass.kind == "class" else None
        inherited = any(isinstance(use, Patch) and not use.added for use in contract.uses)
        return member if isinstance(member, Located) and inherited else None  # it is written where it is inherited
    bound = side.world.resolve(f"{upstream.module}.{upstream.symbol}")  # a name that the module imports
    return bound if isinstance(bound, Located) and bound.who != PLUGIN else None


def own_place(side: Side, who: str, module_name: str, symbol: str) -> Located | None:
    """Return what a module itself defines under a qualified symbol (also what methods assign on ``self``)."""
    module = side.world.module(who, module_name)
    tree = side.tree(who)
    if module is None or tree is None:
        return None
    path = tree.paths[module_name]
    if not symbol:
        return Located(who, path, module_name, "")
    definition, attribute = module.definitions.get(symbol), module.attributes.get(symbol)
    if definition is None and attribute is None:
        return None
    return Located(who, path, module_name, symbol, definition, attribute)


def whereabouts(contract: Contract, old: Located, sides: tuple[Side, Side], renames: Renames) -> Now:
    """Find what stands for a contract's definition at the target."""
    upstream = contract.upstream
    owner = owner_of(contract, old, sides[0])
    if owner:
        return _member(old, owner, sides, renames, through_name=_needs_name(contract))
    if "." in old.symbol:
        return _nested(old, sides, renames)
    return _named(old, upstream.named or f"{upstream.module}.{upstream.symbol}".rstrip("."), sides, renames)


def owner_of(contract: Contract, old: Located, side: Side) -> str:
    """Return the dotted class from which a member is taken, empty for what is reached by its own name."""
    for use in contract.uses:
        if isinstance(use, Override) and use.base:
            return use.base
        if isinstance(use, Attribute | Patch) and use.owner != old.module and "." in old.symbol:
            return use.owner
    outer = old.symbol.rpartition(".")[0]
    return f"{old.module}.{outer}" if outer and _is_class(outer, old, side) else ""


def given_by_plugin(use: Attribute, side: Side) -> SelfAttribute | None:
    """Return the assignment by which a class of the plugin gives its own object an attribute, None when none does."""
    klass = side.world.resolve(use.owner)
    if not isinstance(klass, Located) or klass.kind != "class":
        return None
    mine = (side.world.own(place, use.attribute) for place in side.world.ancestry(klass).classes if place.who == PLUGIN)
    return next((own.attribute for own in mine if own is not None), None)


def _is_class(symbol: str, old: Located, side: Side) -> bool:
    module = side.world.module(old.who, old.module)
    found = module.definitions.get(symbol) if module else None
    return found is not None and found.kind == "class"


def _nested(old: Located, sides: tuple[Side, Side], renames: Renames) -> Now:
    """Find a function inside a function: there, under a new name there, or gone."""
    found = own_place(sides[1], old.who, old.module, old.symbol)
    if found is not None:
        return Now("here", found)
    return _moved(old, sides, renames, f"{old.module} has no {old.symbol}")


def _needs_name(contract: Contract) -> bool:
    """Say whether the plugin reaches the class by importing it, and not only through objects it is handed."""
    return any(isinstance(use, Override | Patch | Subclass) for use in contract.uses)


def _named(old: Located, named: str, sides: tuple[Side, Side], renames: Renames) -> Now:
    found = sides[1].reach(named)
    if isinstance(found, Reached):
        here = (found.place.path, found.place.symbol) == (old.path, old.symbol)
        guard = found.guard if found.guard and not _guarded_before(named, sides[0]) else ""
        return Now("here" if here else "led to", found.place, reachable=not guard, why=guard, reasons=_led(found))
    if isinstance(found, Unknown):
        return Now.unknown(found.reason)
    if isinstance(found, External):
        return Now.unknown(f"{named} leads out of the sources, to {found.target}")
    why = why_missing(found)
    direct = sides[1].reach(old.dotted) if named != old.dotted else found
    if isinstance(direct, Reached):
        reasons = (f"{old.dotted} is still there, {named} is not",)
        return Now("believed", direct.place, reachable=False, why=why, reasons=reasons)
    return _moved(old, sides, renames, why)


def _guarded_before(named: str, before: Side) -> bool:
    found = before.reach(named)
    return isinstance(found, Reached) and bool(found.guard)


def _led(found: Reached) -> tuple[str, ...]:
    return (f"the old name leads there through {', '.join(found.hops)}",) if found.hops else ()


def _moved(old: Located, sides: tuple[Side, Side], renames: Renames, why: str) -> Now:
    return Now.believed(new_home(old, sides, renames), why)


def class_now(dotted: str, sides: tuple[Side, Side], renames: Renames) -> Now:
    """Find what stands for a class (or module) of the current commit, by its dotted name."""
    before = sides[0].world.resolve(dotted)
    if not isinstance(before, Located):
        return Now.unknown(why_missing(before))
    return _named(before, dotted, sides, renames)


def _member(old: Located, owner: str, sides: tuple[Side, Side], renames: Renames, *, through_name: bool) -> Now:
    """Find a member on what stands for the class it is taken from."""
    klass = class_now(owner, sides, renames)
    name = old.symbol.rpartition(".")[2]
    if klass.place is None:
        return klass if klass.standing == "unknown" else Now.gone(klass.why)
    if klass.place.kind == "module":
        return _named(old, f"{klass.place.module}.{name}", sides, renames)
    found = sides[1].world.member(klass.place, name)
    if isinstance(found, Located) and found.who == PLUGIN != old.who:
        shared = sides[1].world.shared(klass.place, name)
        found = shared or Absent(name, f"{klass.place.dotted}, which only the plugin gives one,")
    if isinstance(found, Located):
        return _found(old, found, klass, reachable=klass.reachable or not through_name)
    moved = _on_moved_base(old, owner, sides, renames) if klass.place.who == PLUGIN != old.who else None
    return moved or _no_member(old, owner, klass.place, found, (sides, renames))


def _on_moved_base(old: Located, owner: str, sides: tuple[Side, Side], renames: Renames) -> Now | None:
    """Find a member of a plugin's class on the new home of a base that its own name does not lead to any more.

    The lost name is the fault of the import and of the base; what the base gives is there once they are mended.
    """
    mine = sides[0].world.resolve(owner)
    classes = sides[0].world.ancestry(mine).classes if isinstance(mine, Located) else ()
    for base in (place for place in classes if place.who != PLUGIN):
        now = class_now(base.dotted, sides, renames)
        if now.standing == "believed" and now.place is not None and now.place.kind == "class":
            found = sides[1].world.member(now.place, old.symbol.rpartition(".")[2])
            if isinstance(found, Located) and found.who != PLUGIN:
                return _found(old, found, now, reachable=True)
    return None


def _found(old: Located, found: Located, klass: Now, *, reachable: bool) -> Now:
    here = (found.path, found.symbol) == (old.path, old.symbol)
    told = () if here or klass.place is None else (f"{klass.place.symbol} {_way(klass.place, found)}",)
    why = "" if reachable else klass.why
    reasons = (*klass.reasons, *told)
    return Now("here" if here else "led to", found, reachable=reachable, why=why, reasons=reasons, owner=klass.place)


def _no_member(
    old: Located, owner: str, klass: Located, found: Result, where: tuple[tuple[Side, Side], Renames]
) -> Now:
    sides, renames = where
    if isinstance(found, Unknown):
        return Now.unknown(found.reason, klass)
    if _delegates(klass, sides[1]) and not _delegates_before(owner, sides[0]):
        return Now.unknown(f"{klass.symbol} serves names through __getattr__", klass)
    name = old.symbol.rpartition(".")[2]
    why = why_missing(found) if isinstance(found, Absent) else f"{klass.dotted} has no {name}"
    return Now.believed(new_home(old, sides, renames) if old.definition else None, why, klass)


def _way(klass: Located, found: Located) -> str:
    outer = found.symbol.rpartition(".")[0]
    return "has its own now" if outer == klass.symbol else f"takes it from {outer} now"


def _delegates(klass: Located, side: Side) -> bool:
    found = side.world.member(klass, "__getattr__")
    return isinstance(found, Located)


def _delegates_before(owner: str, side: Side) -> bool:
    found = side.world.resolve(owner)
    return isinstance(found, Located) and found.kind == "class" and _delegates(found, side)
