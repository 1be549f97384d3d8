"""Contracts that are no definition at the current commit: absent names, variables, pins, attributes set elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.uses import Attribute, Import, Mention, Patch, Pin, Variable
from git_afd.core.impacts.differences import Difference, difference
from git_afd.core.impacts.effect import Effect, Fault
from git_afd.core.impacts.homes import Renames
from git_afd.core.impacts.places import class_now, old_place, own_place
from git_afd.core.impacts.sides import Reached, Side, why_missing
from git_afd.core.source.lookup import External, Unknown
from git_afd.core.source.world import Located

_BASE_END: Final = re.compile(r"[\w.\[\]]+\Z")
_NEAR: Final = 200
"""Characters before an attribute in which its object is looked for."""

_BINDING: Final = ("pin", "lockfile", "constant")


def absent_name(contract: Contract, sides: tuple[Side, Side]) -> Effect:
    """Compare what the current commit does not define: a guarded import, a read that is provided for, an added name."""
    dotted = contract.upstream.named or f"{contract.upstream.module}.{contract.upstream.symbol}".strip(".")
    before, after = sides[0].reach(dotted), sides[1].reach(dotted)
    unknown = next((item.reason for item in (before, after) if isinstance(item, Unknown)), "")
    if unknown:
        return Effect(contract, "unknown", unknown)
    if isinstance(before, Reached):
        return Effect(contract, "unknown", f"{dotted} is found, but not where the inventory says")
    if isinstance(after, Reached):
        faults = tuple(
            Fault(use.line, f"upstream defines {dotted} itself now")
            for use in contract.uses
            if (isinstance(use, Patch) and use.added)
            or (isinstance(use, Attribute) and use.presence == "added" and not use.soft)
        )
        reason = f"{dotted} is there now, and was not"
        return Effect(contract, "member-added", reason, faults, after.place)
    if isinstance(before, External) and not isinstance(after, External) and "." not in contract.upstream.symbol:
        faults = tuple(
            Fault(use.line, f"the import fails: {why_missing(after)}")
            for use in contract.uses
            if isinstance(use, Import) and use.place in ("module", "inline")
        )
        return Effect(contract, "removed", why_missing(after), faults, gone=True, soft_read=not faults)
    return Effect(contract, "unchanged", f"no upstream defines {dotted} at either commit", soft_read=True)


def set_elsewhere(contract: Contract, sides: tuple[Side, Side], renames: Renames) -> Effect:
    """Compare an attribute that an upstream function sets on objects whose class does not define it."""
    use = next(use for use in contract.uses if isinstance(use, Attribute))
    name = use.attribute
    klass = class_now(use.owner, sides, renames)
    if klass.standing == "gone":
        return _no_owner(contract, klass.why)
    owner = klass.place
    defined = sides[1].world.member(owner, name) if isinstance(owner, Located) and owner.kind == "class" else None
    if isinstance(defined, Located):
        return Effect(contract, "moved", f"{defined.symbol} defines it now", target=defined)
    old = old_place(contract, sides[0])
    new = own_place(sides[1], contract.upstream.name, contract.upstream.module, contract.upstream.symbol)
    if new is not None and _set_on(sides[1].source(new) or "", name):
        found = difference(old, new, sides) if old else Difference("unchanged")
        return Effect(contract, "unchanged", f"{new.symbol} still sets {name}", (), new, found)
    objects = _set_on((sides[0].source(old) if old else "") or "", name)
    where = _set_somewhere(contract.upstream.name, name, sides[1], objects - {"self", "cls"})
    if where is not None:
        return Effect(contract, "moved", f"{where.dotted} sets {name} now", target=where)
    faults = tuple(
        Fault(use.line, f"{use.chain} is {use.access}, which nobody sets any more")
        for use in contract.uses
        if isinstance(use, Attribute) and not use.soft and use.access != "written"
    )
    reason = f"no upstream function sets {name} any more"
    return Effect(contract, "member-removed", reason, faults, gone=True, soft_read=not faults)


def _no_owner(contract: Contract, why: str) -> Effect:
    """Return the effect on what was set on objects of a class that is gone."""
    uses = [use for use in contract.uses if isinstance(use, Attribute) and not use.soft]
    faults = tuple(Fault(use.line, f"{use.chain} is {use.access}, and there is no such object: {why}") for use in uses)
    return Effect(contract, "removed", why, faults, gone=True, owner_gone=True, soft_read=not faults)


def _set_on(source: str, name: str) -> set[str]:
    """Return the names of the objects on which a source sets an attribute: what stands before it, without its path."""
    assigned, by_name = _setting(re.escape(name))
    bases = {match[1] for match in by_name.finditer(source)} if "setattr(" in source else set()
    for match in assigned.finditer(source):
        base = _BASE_END.search(source, max(0, match.start() - _NEAR), match.start())
        if base is not None:
            bases.add(base[0])
    return {base.rpartition(".")[2] for base in bases}


@cache
def _setting(plain: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds assignments. Both begin with plain text, which is sought many times as fast as a base."""
    assigned = rf"\.{plain}\s*(?::[^=\n]+)?=(?!=)"
    return re.compile(assigned), re.compile(rf"setattr\(([\w.]+),\s*[\"\']{plain}[\"\']")


def _set_somewhere(who: str, name: str, side: Side, objects: set[str]) -> Located | None:
    """Return the first function, in order of paths, that sets the attribute on an object that is called the same.

    What a method sets on itself, or a function on an object of another name, says nothing about these objects.
    """
    corpus = side.corpus(who)
    for path in side.holding(who, name):
        if not objects & _set_on(corpus[path].decode("utf-8", "replace"), name):
            continue
        module = side.module_at(who, path)
        for definition in module.definitions.values() if module else ():
            place = Located(who, path, module.name if module else "", definition.name, definition)
            if definition.kind == "function" and objects & _set_on(side.source(place) or "", name):
                return place
    return None


def group_effect(contract: Contract, sides: tuple[Side, Side], renames: Renames) -> Effect:
    """Compare a group of entry points: a text by which an upstream looks for plugins, wherever it says it."""
    del renames
    use = next(use for use in contract.uses if isinstance(use, Mention))
    old = old_place(contract, sides[0])
    new = old and own_place(sides[1], contract.upstream.name, contract.upstream.module, contract.upstream.symbol)
    said = new.definition.value if new and new.definition else None
    if said in _quoted(use.text):
        return Effect(contract, "unchanged", f"{contract.upstream.symbol} is still {use.text}", target=new)
    if any(sides[1].mentions(contract.upstream.name, text) for text in _quoted(use.text)):
        return Effect(contract, "moved", f"upstream still asks for entry points of {use.text}, in another place")
    fault = Fault(use.line, f"nobody asks for entry points of {use.text} any more")
    return Effect(contract, "value-changed" if new else "removed", fault.why, (fault,), new, gone=new is None)


def _quoted(text: str) -> tuple[str, str]:
    return f'"{text}"', f"'{text}'"


def variable_effect(contract: Contract, sides: tuple[Side, Side], renames: Renames) -> Effect:
    """Compare an environment variable: defined in an ``envs`` module, or at least read somewhere."""
    del renames
    uses = [use for use in contract.uses if isinstance(use, Variable)]
    name = uses[0].variable if uses else contract.upstream.symbol
    old = old_place(contract, sides[0])
    new = (
        own_place(sides[1], contract.upstream.name, contract.upstream.module, contract.upstream.symbol) if old else None
    )
    if old is not None and new is not None:
        found = difference(old, new, sides)
        return Effect(contract, found.kind, _told(found, name), (), new, found)
    before, after = (side.mentions(contract.upstream.name, name) for side in sides)
    if after or not before:
        reason = f"{name} is still read" if after else f"{name} is read by no upstream at either commit"
        return Effect(contract, "unchanged", reason)
    faults = tuple(
        Fault(use.line, f"{name} is set, and nobody reads it any more") for use in uses if use.access == "written"
    )
    return Effect(contract, "removed", f"no source reads {name} any more", faults, gone=True, soft_read=not faults)


def _told(found: Difference, name: str) -> str:
    return "; ".join(f"{name} {what}" for what in found.what) or f"{name} has the same default"


def pin_effect(contract: Contract, sides: tuple[Side, Side], renames: Renames) -> Effect:
    """Compare a pin: which version the plugin says it is made for, and which one the target is."""
    del renames
    pins = [use for use in contract.uses if isinstance(use, Pin)]
    target = sides[1].versions.get(contract.upstream.name, "")
    said = pins[0].version if pins else ""
    if not target:
        return _untagged(contract, pins, sides[0].versions.get(contract.upstream.name, ""))
    if said.removeprefix("v") == target.removeprefix("v"):
        return Effect(contract, "unchanged", f"it says {said}, which is the target")
    faults = tuple(Fault(pin.line, f"it asks for {pin.version}, the target is {target}") for pin in pins if _binds(pin))
    return Effect(contract, "value-changed", f"it says {said or 'no version'}, the target is {target}", faults)


def _untagged(contract: Contract, pins: Sequence[Pin], current: str) -> Effect:
    """Compare pins with a target that no release names: a pin that asks for the current release does not ask for it."""
    said = pins[0].version if pins else ""
    reason = f"it says {said or 'no version'}; the target is a commit that no release names"
    faults = tuple(
        Fault(pin.line, f"it asks for {pin.version}, and the target is another commit")
        for pin in pins
        if _binds(pin) and current and pin.version.removeprefix("v") == current.removeprefix("v")
    )
    return Effect(contract, "value-changed", reason, faults)


def _binds(pin: Pin) -> bool:
    return pin.source in _BINDING and bool(pin.version)
