"""What a reconstruction is made from: one plugin function with its contracts, found on both sides of the upgrade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.contracts.likeness import code_lines, share
from git_afd.core.contracts.model import Contract, Kind
from git_afd.core.impacts.places import old_place, own_place
from git_afd.core.impacts.sides import Side
from git_afd.core.reconstruction.alias import stale
from git_afd.core.reconstruction.lost import Place, lost_setters
from git_afd.core.reconstruction.model import Copy, Lost, Names, Part, Stale
from git_afd.core.source.definitions import Import, Module
from git_afd.core.source.lookup import Absent
from git_afd.core.source.world import PLUGIN, Located
from git_afd.core.workbook.impacts import Impact

KINDS: Final[tuple[Kind, ...]] = ("copied-body", "shadow-copy", "monkeypatch", "override")
"""Kinds of contracts that stand in for an upstream function, the most telling first."""

_RELATED: Final = 0.2
_GONE: Final = ("removed", "member-removed", "replaced")

Pair = tuple[Contract, Impact]


def functions(pairs: Iterable[Pair]) -> dict[tuple[str, str], list[Pair]]:
    """Group contracts by the plugin function that stands in for them; per function only the most telling kind."""
    found: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        place = pair[0].plugin
        if pair[0].kind in KINDS and place.symbol:
            found.setdefault((place.path, place.symbol), []).append(pair)
    return {place: _best(items) for place, items in found.items()}


def _best(items: Sequence[Pair]) -> list[Pair]:
    kind = next(kind for kind in KINDS if any(pair[0].kind == kind for pair in items))
    return [pair for pair in items if pair[0].kind == kind]


def chosen(pairs: Sequence[Pair], asked: str) -> list[list[Pair]]:
    """Return the functions that an id, a unique part of one, or ``path::symbol`` names."""
    grouped = functions(pairs)
    exact = [items for (path, symbol), items in grouped.items() if asked == f"{path}::{symbol}"]
    if exact:
        return exact
    ids = {pair[0].id: (pair[0].plugin.path, pair[0].plugin.symbol) for pair in pairs}
    if asked in ids:
        return [grouped[ids[asked]]] if ids[asked] in grouped else []
    places = {place for name, place in ids.items() if name.startswith(asked) and place in grouped}
    places = places or {place for place in grouped if f"{place[0]}::{place[1]}".endswith(asked)}
    places = places or {place for name, place in ids.items() if asked in name and place in grouped}
    return [grouped[place] for place in sorted(places)]


@dataclass(frozen=True, slots=True)
class Subject:
    """The function, upstream's part of it, and what names mean; `moved` says in words which parts went elsewhere."""

    copy: Copy
    parts: tuple[Part, ...]
    names: Names
    moved: tuple[str, ...] = ()


def subject_of(
    pairs: Sequence[Pair],
    sides: tuple[Side, Side],
    text: str,
    refs: Mapping[str, tuple[str, tuple[str, ...]]],
    every: Sequence[Pair] = (),
) -> Subject | None:
    """Return what is rebuilt, None when the plugin's function is not in its file's text.

    `text` is the plugin's file; `refs` maps an upstream to the target's name and the current commit's names; `every`
    are all contracts, to know which other patches have lost their target.
    """
    contract = pairs[0][0]
    place = contract.plugin
    module = sides[0].module_at(PLUGIN, place.path)
    definition = module.definitions.get(place.symbol) if module else None
    if module is None or definition is None or definition.kind != "function":
        return None
    outer = module.definitions.get(place.symbol.rpartition(".")[0])
    copy = Copy(
        text,
        definition.line,
        definition.end_line,
        contract.markers,
        method=outer is not None and outer.kind == "class",
        lost=_lost(pairs, every, sides) if contract.markers else (),
    )
    found = [_part(pair, sides) for pair in pairs]
    target = next((located for _, located in found if located is not None), None)
    ref, old_refs = refs.get(contract.upstream.name, ("", ()))
    names = _names(module, copy, contract, target, sides, (ref, old_refs))
    moved = tuple(
        f"{pair[0].upstream.path}::{pair[0].upstream.symbol} is {located.path}::{located.symbol} now: {pair[1].reason}"
        for pair, (_, located) in zip(pairs, found, strict=True)
        if located is not None and (located.path, located.symbol) != (pair[0].upstream.path, pair[0].upstream.symbol)
    )
    return Subject(copy, tuple(part for part, _ in found), names, moved)


def _part(pair: Pair, sides: tuple[Side, Side]) -> tuple[Part, Located | None]:
    contract, impact = pair
    upstream = contract.upstream
    before = old_place(contract, sides[0])
    old = (sides[0].source(before) or "") if before else ""
    after = _after(pair, sides)
    new = (sides[1].source(after) or "") if after else ""
    place = after or before
    symbol = place.symbol if place else upstream.symbol
    path = place.path if place else upstream.path
    klass = symbol.rpartition(".")[0]
    gone = "" if new else _gone(contract, impact, sides)
    return Part(symbol, path, old, new, klass, gone), after if new else None


def _lost(pairs: Sequence[Pair], every: Sequence[Pair], sides: tuple[Side, Side]) -> tuple[Lost, ...]:
    """Return the other patches of the same upstream whose target is gone, with what they alone set."""
    gone: dict[str, Place] = {}
    living: list[Place] = []
    upstream = pairs[0][0].upstream.name
    for (path, symbol), items in functions(every).items():
        contract = items[0][0]
        place = (path, symbol, contract.plugin.line, contract.markers)
        if any(impact.state not in _GONE for _, impact in items):
            living.append(place)
        elif contract.upstream.name == upstream and contract.plugin != pairs[0][0].plugin:
            gone[f"{contract.upstream.path}::{contract.upstream.symbol}"] = place
    return lost_setters(gone, living, upstream, sides) if gone else ()


def _after(pair: Pair, sides: tuple[Side, Side]) -> Located | None:
    """Return the target's function: at the old place, or at a new home of the same name."""
    contract, impact = pair
    if impact.state in _GONE or impact.target is None:
        return None
    module = sides[1].module_at(contract.upstream.name, impact.target.path)
    found = own_place(sides[1], contract.upstream.name, module.name, impact.target.symbol) if module else None
    same = found is not None and found.symbol.rpartition(".")[2] == contract.upstream.symbol.rpartition(".")[2]
    return found if found is not None and same and found.kind == "function" else None


def _gone(contract: Contract, impact: Impact, sides: tuple[Side, Side]) -> str:
    """Say where it went, or where something of its name or its class's is now."""
    upstream = contract.upstream
    said = f"{upstream.name} has no {upstream.path}::{upstream.symbol} at the target ({impact.reason})"
    if impact.target is not None:
        return f"{said}; {impact.target.path}::{impact.target.symbol} stands there now"
    near = _relatives(contract, sides)
    return f"{said}; {near}" if near else f"{said}; nothing there is like it"


def _relatives(contract: Contract, sides: tuple[Side, Side]) -> str:
    """Say which functions of the same folder hold most of the old body now, as a clause; empty for none."""
    upstream, before = contract.upstream, old_place(contract, sides[0])
    ours = _code(sides[0], before) if before else Counter[str]()
    folder = upstream.path.rpartition("/")[0]
    found: list[tuple[float, str]] = []
    for path in sides[1].corpus(upstream.name):
        module = sides[1].module_at(upstream.name, path) if path.rpartition("/")[0] == folder else None
        for item in module.definitions.values() if module else ():
            if module and item.kind == "function":
                place = Located(upstream.name, path, module.name, item.name, item)
                found.append((share(ours, _code(sides[1], place)), f"{path}::{item.name} (line {item.line})"))
    best = [(degree, name) for degree, name in sorted(found, reverse=True)[:2] if degree >= _RELATED]
    return "; ".join(f"{round(100 * degree)} % of its lines stand in {name}" for degree, name in best)


def _code(side: Side, place: Located) -> Counter[str]:
    lines = (side.source(place) or "").split("\n")
    return code_lines(lines, 1, len(lines))


def _names(
    module: Module,
    copy: Copy,
    contract: Contract,
    target: Located | None,
    sides: tuple[Side, Side],
    refs: tuple[str, tuple[str, ...]],
) -> Names:
    theirs = sides[1].module_at(contract.upstream.name, target.path) if target else None
    homes = {contract.upstream.module, *([theirs.name] if theirs else [])}
    around = [item for item in module.imports if _is_seen(item, module, contract.plugin.symbol)]
    aliases = tuple(item.local for item in around if item.dotted in homes)
    left = {item.local: item.dotted for item in around if item.local in aliases} if theirs else {}
    return Names(
        aliases=aliases,
        plugin={
            **{name: f"plugin:{name}" for name in module.definitions if "." not in name},
            **{item.local: item.dotted for item in around if item.place != "type-checking"},
        },
        typing=frozenset(item.local for item in around if item.place == "type-checking"),
        upstream=_bound(theirs) if theirs else {},
        imports=_statements(theirs) if theirs else {},
        ref=refs[0],
        old_refs=refs[1],
        broken=frozenset(item.local for item in around if _is_gone(item, contract.upstream.name, sides[1])),
        home=theirs.name if theirs and theirs.name != contract.upstream.module else "",
        stale={
            alias: _stale(copy, alias, dotted, target, sides[1])
            for alias, dotted in left.items()
            if theirs and target and dotted != theirs.name
        },
    )


def _stale(copy: Copy, alias: str, dotted: str, target: Located, side: Side) -> Stale:
    """Say what an alias of the module that the function has left means at the target."""
    old, new = (side.world.module(target.who, name) for name in (dotted, target.module))
    names = frozenset(_bound(old)) if old else frozenset()
    same = (name for name in names & frozenset(_bound(new) if new else ()) if _alike(side, dotted, target.module, name))
    return stale(copy, alias, dotted, target.symbol.rpartition(".")[0], frozenset(same), names)


def _is_gone(item: Import, upstream: str, side: Side) -> bool:
    """Say whether what is imported from the upstream is not there any more."""
    return side.world.owner(item.dotted) == upstream and isinstance(side.world.resolve(item.dotted), Absent)


def _alike(side: Side, one: str, other: str, name: str) -> bool:
    return side.world.resolve(f"{one}.{name}") == side.world.resolve(f"{other}.{name}")


def _is_seen(item: Import, module: Module, symbol: str) -> bool:
    """Say whether an import is seen by a function: at module level, or in a function around it."""
    if item.place != "inline":
        return True
    outer = symbol.rpartition(".")[0]
    around = module.definitions.get(outer)
    inner = module.definitions.get(symbol)
    inside = around is not None and around.kind == "function" and around.line <= item.line <= around.end_line
    return inside and not (inner and inner.line <= item.line <= inner.end_line)


def _bound(module: Module) -> dict[str, str]:
    found = {item.local: item.dotted for item in module.imports if item.place != "inline"}
    return {**found, **{name: f"{module.name}.{name}" for name in module.definitions if "." not in name}}


def _statements(module: Module) -> dict[str, str]:
    """Return for each name of a module the statement that imports it."""
    found: dict[str, str] = {}
    for item in module.imports:
        if item.place == "inline":
            continue
        last = item.symbol or item.module
        renamed = f" as {item.local}" if item.local != last else ""
        found[item.local] = (
            f"from {item.module} import {item.symbol}{renamed}" if item.symbol else f"import {last}{renamed}"
        )
    for name in module.definitions:
        if "." not in name:
            found[name] = f"from {module.name} import {name}"
    return found
