"""State that a replaced method sets now and the plugin's does not, while upstream's other methods read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from git_afd.core.impacts.bodies import Body
from git_afd.core.impacts.effect import Case
from git_afd.core.source.world import PLUGIN, Located


def unset_state(case: Case, new: Located, klass: Located, mine: str) -> Iterator[str]:
    """Yield why the plugin's method leaves upstream's object incomplete; `mine` is the text of the plugin's file.

    What the method set at the current commit too is the plugin's own affair: it did without it. A method that set
    less than half of that does not stand for upstream's state at all (a stub), and says nothing.
    """
    before, after = case.sides[0].body(case.old), case.sides[1].body(new)
    if not isinstance(before, Body) or not isinstance(after, Body):
        return
    old = _written(before)
    if not old or 2 * sum(_sets(mine, name) for name in old) < len(old):
        return
    fresh = [name for name in _written(after) if name not in old and not _sets(mine, name)]
    methods = list(_methods(case, new, klass)) if fresh else []
    for name in fresh:
        if _at_class_level(case, klass, name) or any(_first(text, name) == "written" for _, text in methods):
            continue  # the class, or another method in time, may give it
        reader = next((place for place, text in methods if _first(text, name) == "read"), None)
        if reader is not None:
            yield f"{reader.symbol} reads self.{name}, which only {new.symbol} sets and the plugin's does not"


def _written(body: Body) -> tuple[str, ...]:
    """Return the attributes that a method sets on its object, in order."""
    names = (event.removeprefix("write self.") for event in body.events if event.startswith("write self."))
    return tuple(dict.fromkeys(name for name in names if "." not in name))


def _sets(text: str, name: str) -> bool:
    """Say whether a text sets an attribute of that name on anything."""
    plain = re.escape(name)
    return re.search(rf"\.{plain}\s*(?::[^=\n]+)?=(?!=)|setattr\([^,]+,\s*[\"']{plain}[\"']", text) is not None


def _at_class_level(case: Case, klass: Located, name: str) -> bool:
    family = case.sides[1].world.ancestry(klass).classes
    return any(
        (own := case.sides[1].world.own(item, name)) is not None and own.definition is not None for item in family
    )


def _methods(case: Case, new: Located, klass: Located) -> Iterator[tuple[Located, str]]:
    """Yield the other methods that run on such objects, with their sources: none that the plugin's class overrides."""
    side = case.sides[1]
    for place in _family(case, klass):
        for member in side.world.members(place):
            name = member.symbol.rpartition(".")[2]
            nearest = side.world.member(klass, name)
            hidden = isinstance(nearest, Located) and nearest.who == PLUGIN
            text = side.source(member) if member.kind == "function" and member != new and not hidden else None
            if text is not None:
                yield member, text


def _family(case: Case, klass: Located) -> Iterator[Located]:
    """Yield the upstream classes of an object: the class and its bases, and the classes below it in its module."""
    side = case.sides[1]
    yield from (place for place in side.world.ancestry(klass).classes if place.who != PLUGIN)
    module = side.world.module(klass.who, klass.module) if klass.who != PLUGIN else None
    for item in module.definitions.values() if module else ():
        below = Located(klass.who, klass.path, klass.module, item.name, item)
        if item.kind == "class" and below != klass and klass in side.world.ancestry(below).classes:
            yield below


def _first(text: str, name: str) -> str:
    """Say what a method does first with an attribute of its object: ``read``, ``written``, or nothing."""
    found = re.search(rf"\bself\.{re.escape(name)}\b(\s*(?::[^=\n]+)?=(?!=))?", text)
    if found is None or re.search(rf"(?:has|get)attr\(self,\s*[\"']{re.escape(name)}[\"']", text):
        return ""
    return "written" if found[1] else "read"
