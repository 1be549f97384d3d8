"""What functions promise to give back, by their annotations."""

from __future__ import annotations

import re
from typing import Final

from git_afd.core.impacts.bodies import Returned
from git_afd.core.impacts.sides import Side
from git_afd.core.impacts.signatures import spelt
from git_afd.core.source.world import Located

_PLAIN: Final = ("int", "float", "str", "bool", "bytes", "None")
_ELEMENTS: Final = (*_PLAIN, "tuple", "list", "dict", "set", "frozenset")
_GENERIC: Final = re.compile(r"(?P<head>[\w.]+)\[(?P<inner>.*)\]\Z")
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*\Z")


def returned_class(place: Located, side: Side) -> Located | None:
    """Return the one upstream class that a function is annotated to return, None when it is anything else."""
    signature = place.definition.signature if place.definition else None
    names = [item for item in _members(signature.returns if signature else None) if item != "None"]
    if len(names) != 1 or not _NAME.match(names[0]):
        return None
    found = side.world.symbol(place.module, names[0])
    return found if isinstance(found, Located) and found.kind == "class" else None


def incompatible(old: str | None, new: str | None, mine: str | None, own: Returned) -> str:
    """Say why a plugin function that gives back the old type does not give back the new one; empty when it may.

    The types must have nothing in common, and the plugin's function must visibly give the old one: by its own
    annotation, or by constants where upstream promises an object now.
    """
    before, after = _members(old), _members(new)
    if not after or before & after or "Any" in after or "object" in after:
        return ""
    gives = _members(mine)
    known = before or set(_PLAIN)
    told = (gives and gives <= known) or (not gives and own.forms <= {"literal", "none"} and own.forms)
    plain = all(item not in _PLAIN for item in after) and (not before or all(item in _PLAIN for item in before))
    if told and (plain or (before and gives == before and all(item in _PLAIN for item in after))):
        return f"upstream returns {new} now, the plugin's function gives {mine or 'a constant'}"
    return ""


def other_elements(old: str | None, new: str | None) -> str:
    """Say how the elements of a collection that is given back changed: the same collection, of other things now.

    ``list[dict[int, X]]`` that became ``list[dict[tuple[int, int], X]]`` holds other keys. A wider or narrower
    element, another spelling, or another collection says nothing.
    """
    before, after = _members(old) - {"None"}, _members(new) - {"None"}
    if len(before) != 1 or len(after) != 1:
        return ""
    pair = _differing(before.pop(), after.pop())
    return f"holds {pair[1]} now, was {pair[0]}" if pair else ""


def _differing(old: str, new: str) -> tuple[str, str] | None:
    """Return the first elements in the same place of two annotations that have nothing in common."""
    first, second = _GENERIC.match(old), _GENERIC.match(new)
    if first is None or second is None or first["head"] != second["head"]:
        return None
    parts, others = _split(first["inner"], ","), _split(second["inner"], ",")
    if len(parts) != len(others):
        return None
    for part, other in zip(parts, others, strict=True):
        if _members(part) & _members(other) or "Any" in (part, other):
            continue
        if _head(part) == _head(other) and _GENERIC.match(part):
            inner = _differing(part, other)
            if inner:
                return inner
        elif _head(part) in _ELEMENTS and _head(other) in _ELEMENTS:
            return part, other
    return None


def _head(annotation: str) -> str:
    return annotation.partition("[")[0]


def _members(annotation: str | None) -> set[str]:
    """Return the members of a union, as spelt."""
    return set(_split(spelt(annotation), "|"))


def _split(text: str, sign: str) -> list[str]:
    """Return the parts of an annotation between signs that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for place, each in enumerate(text):
        depth += {"[": 1, "]": -1}.get(each, 0)
        if each == sign and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [part for part in (*parts, text[start:]) if part]
