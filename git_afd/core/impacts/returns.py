"""What functions promise to give back, by their annotations."""

from __future__ import annotations

import re
from typing import Final

from git_afd.core.impacts.bodies import Returned
from git_afd.core.impacts.sides import Side
from git_afd.core.impacts.signatures import spelt
from git_afd.core.source.world import Located

_PLAIN: Final = ("int", "float", "str", "bool", "bytes", "None")
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


def _members(annotation: str | None) -> set[str]:
    """Return the members of a union, as spelt."""
    text = spelt(annotation)
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += {"[": 1, "]": -1}.get(sign, 0)
        if sign == "|" and not depth:
            parts.append(text[start:place])
            start = place + 1
    return {part for part in (*parts, text[start:]) if part}
