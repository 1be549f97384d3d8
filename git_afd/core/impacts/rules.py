"""Which class an impact gets proposed, by named rules: the first that fits, from top to bottom.

The classes are the workflow's (Phase 2). A proposal is no decision: ``git afd classify`` confirms or overrules it.
Every rule has cases on both sides in ``tests/impacts/test_rules.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from git_afd.core.contracts.uses import Subclass
from git_afd.core.impacts.effect import Effect

STANDS_IN: Final = ("monkeypatch", "copied-body", "shadow-copy", "override")
"""Kinds whose plugin function stands for an upstream body."""

_BY_NAME: Final = ("import", "string-reference", "test-fake")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: stable id, when it fits, the class it proposes (empty: a person must say), and why, as a sentence."""

    id: str
    class_: str
    when: Callable[[Effect], bool]
    sentence: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed class and the rule that gave it."""

    class_: str
    rule: str
    sentence: str


def propose(effect: Effect) -> Proposal:
    """Return the class that the first fitting rule proposes."""
    rule = next(rule for rule in RULES if rule.when(effect))
    return Proposal(rule.class_, rule.id, rule.sentence)


def _seam_gone(effect: Effect) -> bool:
    return effect.gone and effect.contract.kind in ("monkeypatch", "copied-body", "override") and not effect.soft_read


def _class_gone(effect: Effect) -> bool:
    return effect.gone and effect.owner_gone and not effect.soft_read


def _copy_moved(effect: Effect) -> bool:
    """Say whether a copy's origin merely went elsewhere: the copy names nothing, and its origin reads as it did."""
    untouched = effect.difference is not None and not effect.difference.body and not effect.difference.signature
    return effect.state == "moved" and effect.contract.kind == "shadow-copy" and untouched


def _base_changed(effect: Effect) -> bool:
    return _is_base(effect) and (effect.gone or effect.state == "member-removed")


def _seam_replaced(effect: Effect) -> bool:
    return effect.state == "replaced" and _stands_in(effect) and effect.contract.kind != "shadow-copy"


def _silent(effect: Effect) -> bool:
    return bool(effect.faults) and all(fault.silent for fault in effect.faults)


def _is_base(effect: Effect) -> bool:
    return any(isinstance(use, Subclass) for use in effect.contract.uses)


def _order(effect: Effect) -> bool:
    return bool(effect.difference and effect.difference.order)


def _levels(effect: Effect) -> set[str]:
    return {change.level for change in effect.difference.signature} if effect.difference else set()


def _only_annotations(effect: Effect) -> bool:
    return bool(_levels(effect)) and _levels(effect) <= {"annotation", "return"} and not _body(effect)


def _body(effect: Effect) -> bool:
    return bool(effect.difference and effect.difference.body and not effect.difference.words)


def _returns(effect: Effect) -> bool:
    shape = bool(effect.difference and effect.difference.returns)
    return shape or (effect.state == "return-changed" and effect.breaking)


def _state_writes(effect: Effect) -> bool:
    """Say whether the body writes other attributes than before."""
    told = effect.difference.what if effect.difference else ()
    return any(item.startswith(("now writes", "no longer writes")) for item in told)


def _stands_in(effect: Effect) -> bool:
    return effect.contract.kind in STANDS_IN


RULES: Final[tuple[Rule, ...]] = (
    Rule("unknown", "", lambda e: e.state == "unknown", "it could not be compared, so a person must say"),
    Rule("operators", "BEHAVIORAL", lambda e: bool(e.stack), "operators are registered with another torch"),
    Rule("same", "NONE", lambda e: e.state == "unchanged" and not e.breaking, "nothing that is relied on differs"),
    Rule("copy-moved", "NONE", _copy_moved, "the origin of a copy went elsewhere and reads as it did"),
    Rule("pin", "MECHANICAL", lambda e: e.contract.kind == "pin", "a version is written down"),
    Rule(
        "base-changed", "ARCHITECTURAL", _base_changed, "a base class of the plugin's class is gone, or has other bases"
    ),
    Rule("seam-gone", "ARCHITECTURAL", _seam_gone, "the place where the plugin puts its function is gone"),
    Rule("class-gone", "ARCHITECTURAL", _class_gone, "the class it belongs to is gone, and with it what it owned"),
    Rule(
        "seam-replaced", "ARCHITECTURAL", _seam_replaced, "another definition stands where the plugin puts its function"
    ),
    Rule(
        "provided-for", "BEHAVIORAL", lambda e: e.gone and e.soft_read, "it is gone, and the plugin takes its other way"
    ),
    Rule("gone", "BEHAVIORAL", lambda e: e.gone, "it is gone, and its surroundings stand"),
    Rule("collision", "BEHAVIORAL", lambda e: e.state == "member-added" and e.breaking, "two own or need one name"),
    Rule("added", "BEHAVIORAL", lambda e: e.state == "member-added", "what was provided for is there now"),
    Rule("binds-wrongly", "BEHAVIORAL", _silent, "the same arguments mean something else"),
    Rule("return-shape", "BEHAVIORAL", _returns, "what a call gives back has another shape"),
    Rule("order", "BEHAVIORAL", lambda e: _order(e) and _stands_in(e), "things happen in another order"),
    Rule("default", "BEHAVIORAL", lambda e: "default" in _levels(e), "a default has another value"),
    Rule("value", "BEHAVIORAL", lambda e: e.state == "value-changed", "a value or its type is another one"),
    Rule(
        "body",
        "BEHAVIORAL",
        lambda e: _body(e) and _stands_in(e),
        "the body that the plugin's function stands for changed",
    ),
    Rule("state-writes", "BEHAVIORAL", lambda e: _body(e) and _state_writes(e), "other state is written than before"),
    Rule("words", "MECHANICAL", lambda e: bool(e.difference and e.difference.words), "only messages differ"),
    Rule("annotations", "MECHANICAL", _only_annotations, "only annotations differ"),
    Rule("moved", "MECHANICAL", lambda e: e.state in ("moved", "replaced"), "it has a new place or name"),
    Rule("unreachable", "MECHANICAL", lambda e: not e.reachable, "it is there, and the plugin's way to it is not"),
    Rule(
        "signature",
        "MECHANICAL",
        lambda e: e.state == "signature-changed",
        "its signature changed, what it does did not",
    ),
    Rule("inside", "MECHANICAL", lambda e: _body(e) and not e.breaking, "its inside changed, what it writes did not"),
    Rule("differs", "BEHAVIORAL", lambda _: True, "it differs in a way that no other rule names"),
)
"""The rules, in the order in which they are tried."""
