"""Comparing one contract at the target: find both ends, see what differs, hold each use against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.uses import Attribute, Call, Mention, Patch, Pin, Subclass
from git_afd.core.impacts.differences import Difference, constructor_difference, difference, is_literal
from git_afd.core.impacts.effect import Case, Effect, Fault
from git_afd.core.impacts.families import subclass_effect
from git_afd.core.impacts.homes import Renames, likeness
from git_afd.core.impacts.names_now import absent_name, group_effect, pin_effect, set_elsewhere, variable_effect
from git_afd.core.impacts.operators import with_stack
from git_afd.core.impacts.places import Now, given_by_plugin, old_place, own_place, whereabouts
from git_afd.core.impacts.sides import Side
from git_afd.core.impacts.uses_now import faults_of
from git_afd.core.source.world import Located
from git_afd.core.workbook.impacts import State

_BY_NAME: Final = ("import", "string-reference", "test-fake")
"""Kinds that rely on a name being there, and on nothing that stands behind it."""

_COMMON: Final = 0.3


def compare(contract: Contract, sides: tuple[Side, Side], renames: Renames) -> Effect:
    """Say what the target does to a contract. Total: what cannot be told is *unknown* with the reason."""
    special = _special(contract)
    if special is not None:
        return special(contract, sides, renames)
    unread = sides[0].unreadable(contract.upstream.name, contract.upstream.module)
    if unread:
        return Effect(contract, "unknown", f"{contract.upstream.path} cannot be read: {unread}")
    old = old_place(contract, sides[0])
    if old is None:
        return absent_name(contract, sides)
    now = whereabouts(contract, old, sides, renames)
    if now.standing == "unknown":
        return Effect(contract, "unknown", now.why, target=now.place)
    found = _difference(contract, old, now, sides)
    if found.unknown:
        return Effect(contract, "unknown", found.unknown, target=now.place)
    return with_stack(_effect(Case(contract, old, now, found, sides)), old, sides)


Comparison = Callable[[Contract, tuple[Side, Side], Renames], Effect]


def _special(contract: Contract) -> Comparison | None:
    first = contract.uses[0] if contract.uses else None
    if isinstance(first, Pin):
        return pin_effect
    if isinstance(first, Subclass):
        return subclass_effect
    if contract.kind == "environment":
        return variable_effect
    if isinstance(first, Attribute) and first.presence == "set elsewhere":
        return set_elsewhere
    if isinstance(first, Mention) and first.role == "entry point":
        return group_effect
    return None


def _difference(contract: Contract, old: Located, now: Now, sides: tuple[Side, Side]) -> Difference:
    new = now.place
    if new is None or _is_shared(contract, sides[0]):
        return Difference("unchanged")
    if contract.kind in _BY_NAME and old.kind != "value":
        return Difference("unchanged" if old.kind == new.kind else "signature-changed", _kind(old, new))
    if old.kind == "class" and new.kind == "class":
        calls = any(isinstance(use, Call) for use in contract.uses)
        return constructor_difference(old, new, sides) if calls else Difference("unchanged")
    if contract.kind in _BY_NAME and not (is_literal(old) and is_literal(new)):
        return Difference("unchanged")  # an object that is built at import time: its name is what is relied on
    return difference(old, new, sides)


def _is_shared(contract: Contract, side: Side) -> bool:
    """Say whether the plugin's own object gives the attribute its value: that upstream knows it is relied on."""
    uses = [use for use in contract.uses if isinstance(use, Attribute)]
    return contract.kind == "inherited-read" and any(given_by_plugin(use, side) for use in uses)


def _kind(old: Located, new: Located) -> tuple[str, ...]:
    return () if old.kind == new.kind else (f"is a {new.kind} now, was a {old.kind}",)


def _effect(case: Case) -> Effect:
    faults = faults_of(case)
    state, gone = _state(case)
    return Effect(
        case.contract,
        state,
        _reason(case, state, faults),
        faults,
        None if gone else case.now.place,
        case.difference,
        gone=gone,
        owner_gone=gone and (case.old.kind == "class" or ("." in case.old.symbol and case.now.owner is None)),
        soft_read=gone and not faults,
        reachable=case.now.reachable,
    )


def _state(case: Case) -> tuple[State, bool]:
    """Return the state, and whether the thing itself is gone."""
    now = case.now
    if now.place is None:
        member = "." in case.old.symbol and now.owner is not None
        return ("member-removed" if member else "removed"), True
    if now.renamed:
        return "replaced", False
    if now.standing == "believed" and any(isinstance(use, Patch) and use.form == "alias" for use in case.contract.uses):
        return "removed", True
    if now.standing == "led to" and _is_another(case):
        return "replaced", False
    if now.standing == "believed" or (now.standing == "led to" and _went(case)):
        return "moved", False
    return case.difference.kind, False


def _is_another(case: Case) -> bool:
    """Say whether the old name leads to a definition that has nothing in common with the old one."""
    new = case.now.place
    if new is None or not _went(case) or case.contract.kind in _BY_NAME or new.kind == "value":
        return False
    was_there = own_place(case.sides[0], new.who, new.module, new.symbol) is not None
    return new.kind != case.old.kind or (was_there and likeness(case.old, new, case.sides) < _COMMON)


def _went(case: Case) -> bool:
    """Say whether what the old name leads to is the same thing elsewhere, and not another one that hides it."""
    new = case.now.place
    if new is None:
        return False
    stays = case.sides[1].world.module(case.old.who, case.old.module)
    return stays is None or case.old.symbol not in stays.definitions or "." not in case.old.symbol


def _reason(case: Case, state: State, faults: tuple[Fault, ...]) -> str:
    """Say in a sentence or two what changed and what of it breaks."""
    parts: list[str] = []
    if case.now.place is None:
        parts.append(case.now.why)
    elif state in ("moved", "replaced"):
        to = f"{case.now.place.path}::{case.now.place.symbol}".removesuffix("::")
        parts.append(f"it is at {to} now ({'; '.join(case.now.reasons) or 'the old name leads there'})")
    elif case.now.reasons and case.now.standing == "led to":
        parts.append("; ".join(case.now.reasons))
    parts += case.difference.what
    if state == "unchanged" and not parts:
        parts.append(_same(case))
    told = "; ".join(dict.fromkeys(parts))
    breaks = "; ".join(dict.fromkeys(f"line {fault.line}: {fault.why}" for fault in faults))
    return f"{told}. Breaks: {breaks}" if breaks else told


def _same(case: Case) -> str:
    if case.contract.kind in _BY_NAME:
        return "the name is there"
    return "nothing that is relied on differs"
