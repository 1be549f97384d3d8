"""Where something went that is not at its old place any more. A candidate needs a reason to be believed.

A new home has the same name, is new there, and looks the same; a file that git sees as renamed needs less likeness.
The best match of bodies over a whole tree is no reason at all: it is how decoys are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.core.impacts.bodies import Body, similarity
from git_afd.core.impacts.sides import Side
from git_afd.core.source.definitions import Module
from git_afd.core.source.world import Located

Renames = Mapping[str, Mapping[str, str]]
"""Files that git sees as renamed, by upstream: old path to new path."""

_ALIKE: Final = 0.6
_SAME: Final = 0.9
_BY_RENAME: Final = 0.3
_CLEAR: Final = 0.15
_SMALL: Final = 3


@dataclass(frozen=True, slots=True)
class Home:
    """A new place and the reasons to believe it; `likeness` is a fraction, `renamed` says that the name changed."""

    place: Located
    reasons: tuple[str, ...]
    likeness: float
    renamed: bool = False


def new_home(old: Located, sides: tuple[Side, Side], renames: Renames) -> Home | None:
    """Find the new home of a definition that is gone from its place, None when nothing can be believed."""
    before, after = sides
    by_rename = _in_renamed_file(old, before, after, renames)
    if by_rename is not None:
        return by_rename
    name = old.symbol.rpartition(".")[2]
    if name.startswith("__") or (old.attribute is not None and old.definition is None):
        return None  # every class may have one: the name is no reason to believe anything
    found = [home for place in _candidates(old, name, before, after) if (home := _judged(old, place, sides))]
    found.sort(key=lambda home: home.likeness, reverse=True)
    if not found:
        return _renamed_here(old, sides)
    best = found[0]
    rivals = [home for home in found[1:] if best.likeness - home.likeness < _CLEAR]
    if rivals:
        followed = [home for home in (best, *rivals) if _followed(old, home.place, sides)]
        return _with(followed[0], "those who imported it import it from there") if len(followed) == 1 else None
    return _with(best, "those who imported it import it from there") if _followed(old, best.place, sides) else best


def _with(home: Home, reason: str) -> Home:
    return Home(home.place, (*home.reasons, reason), home.likeness, home.renamed)


def _in_renamed_file(old: Located, before: Side, after: Side, renames: Renames) -> Home | None:
    path = renames.get(old.who, {}).get(old.path)
    module = after.module_at(old.who, path) if path else None
    if module is None or not path:
        return None
    kept = similarity(_names(old, before), list(_top_level(module)))
    if kept < _ALIKE and (not old.symbol or old.kind == "value"):
        return None  # git goes by lines: a file that defines other things is another module
    if not old.symbol:
        return Home(Located(old.who, path, module.name, ""), (f"git sees {old.path} renamed to {path}",), kept)
    definition = module.definitions.get(old.symbol)
    if definition is None:
        return None
    place = Located(old.who, path, module.name, old.symbol, definition)
    alike = likeness(old, place, (before, after))
    if alike < _BY_RENAME:
        return None
    return Home(place, (f"git sees {old.path} renamed to {path}", _words(alike)), alike)


def _candidates(old: Located, name: str, before: Side, after: Side) -> Iterator[Located]:
    """Yield definitions of the name and kind that were not at that place before."""
    if not old.symbol:
        return
    for path in after.definers(old.who, name):
        module = after.module_at(old.who, path)
        if module is None or _looks_unrelated(path):
            continue
        earlier = before.module_at(old.who, path)
        for definition in module.definitions.values():
            symbol = definition.name
            if symbol.rpartition(".")[2] != name or definition.kind != old.kind:
                continue
            if ("." in symbol) != ("." in old.symbol) or (earlier and symbol in earlier.definitions):
                continue
            yield Located(old.who, path, module.name, symbol, definition)


def _looks_unrelated(path: str) -> bool:
    return path.startswith(("tests/", "examples/", "benchmarks/")) or "/tests/" in path


def _judged(old: Located, place: Located, sides: tuple[Side, Side]) -> Home | None:
    alike = likeness(old, place, sides)
    floor = _SAME if "." in old.symbol and not _kin(old, place) else _ALIKE
    if _is_small(old, sides[0]) and not _followed(old, place, sides):
        return None
    return Home(place, ("same name", _words(alike)), alike) if alike >= floor else None


def _kin(old: Located, place: Located) -> bool:
    """Say whether a member stays in a class of the same name, or in the same file."""
    same_class = old.symbol.rpartition(".")[0] == place.symbol.rpartition(".")[0]
    return same_class or old.path == place.path


def _is_small(old: Located, before: Side) -> bool:
    if old.kind == "function":
        body = before.body(old)
        return isinstance(body, Body) and len(body.lines) < _SMALL
    return old.kind == "value"


def likeness(old: Located, new: Located, sides: tuple[Side, Side]) -> float:
    """Return how alike two definitions are, as a fraction from 0 to 1."""
    if old.kind == "function" and new.kind == "function":
        first, second = sides[0].body(old), sides[1].body(new)
        if not isinstance(first, Body) or not isinstance(second, Body):
            return 0.0
        return similarity((*first.lines, _head(old)), (*second.lines, _head(new)))
    if old.kind == "class" and new.kind == "class":
        return similarity(_members(old, sides[0]), _members(new, sides[1]))
    same = old.kind == new.kind and old.definition and new.definition
    return 1.0 if same and old.definition.value == new.definition.value else 0.0  # type: ignore[union-attr]  # both are there


def _head(place: Located) -> str:
    signature = place.definition.signature if place.definition else None
    return ", ".join(item.name for item in signature.parameters) if signature else ""


def _members(klass: Located, side: Side) -> list[str]:
    names = [member.symbol.rpartition(".")[2] for member in side.world.members(klass)]
    return [*names, *(f"base {base}" for base in (klass.definition.bases if klass.definition else ()))]


def _followed(old: Located, place: Located, sides: tuple[Side, Side]) -> bool:
    """Say whether some file that imported the old name imports this one now."""
    before, after = sides
    if "." in place.symbol or "." in old.symbol:
        return False
    then, now = _import_pattern(old), _import_pattern(place)
    earlier = before.corpus(old.who)
    word = place.symbol.encode()
    return any(
        path != place.path and word in data and now.search(data) and then.search(earlier.get(path, b""))
        for path, data in after.corpus(old.who).items()
    )


def _import_pattern(place: Located) -> re.Pattern[bytes]:
    """Return what finds ``from module import name`` in raw source, absolute or relative."""
    last = re.escape(place.module.rpartition(".")[2].encode())
    name = re.escape(place.symbol.encode())
    return re.compile(rb"from[ \t]+[\w.]*\b%s[ \t]+import[ \t]*(?:\([^)]*\b%s\b|[^(\n]*\b%s\b)" % (last, name, name))


def _renamed_here(old: Located, sides: tuple[Side, Side]) -> Home | None:
    """Find a definition of another name in the same module or class with (nearly) the same body, that is new there."""
    if old.kind != "function" or _is_small(old, sides[0]):
        return None
    module = sides[1].world.module(old.who, old.module)
    earlier = sides[0].world.module(old.who, old.module)
    outer = old.symbol.rpartition(".")[0]
    found: list[Home] = []
    for name, definition in (module.definitions if module else {}).items():
        new = definition.kind == "function" and (earlier is None or name not in earlier.definitions)
        if new and name.rpartition(".")[0] == outer:
            place = Located(old.who, old.path, old.module, name, definition)
            alike = likeness(old, place, sides)
            if alike >= _SAME:
                found.append(
                    Home(place, ("it stands in the same place under a new name", _words(alike)), alike, renamed=True)
                )
    return found[0] if len(found) == 1 else None


def _names(old: Located, before: Side) -> list[str]:
    module = before.world.module(old.who, old.module)
    return list(_top_level(module)) if module else []


def _top_level(module: Module) -> Iterator[str]:
    """Yield the names of the functions and classes that a module itself defines."""
    for name, definition in module.definitions.items():
        if "." not in name and definition.kind != "value":
            yield name


def _words(alike: float) -> str:
    return "same body" if alike == 1.0 else f"{alike:.0%} of it is the same"
