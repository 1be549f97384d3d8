"""Contracts from imports: at module level, inline, under TYPE_CHECKING, guarded, and by name at run time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from git_afd.core.contracts.book import Book, target_of
from git_afd.core.contracts.facts import Facts, Said
from git_afd.core.contracts.model import Place, Target
from git_afd.core.contracts.survey import Source
from git_afd.core.contracts.uses import Import
from git_afd.core.names import PACKAGES
from git_afd.core.source import definitions
from git_afd.core.source.definitions import ImportPlace, Module
from git_afd.core.source.lookup import Absent, External, Unknown
from git_afd.core.source.world import PLUGIN, Located, World


def add_imports(book: Book, sources: Sequence[Source], world: World, facts: Facts) -> None:
    """Add a contract per imported name of an upstream and place that imports it."""
    for source in sources:
        module = world.module(PLUGIN, source.module)
        if module is None:
            continue
        for item in _upstream(module.imports, world):
            runtime = (source.path, item.local) in facts.used or item.local in (module.exports or ())
            held = (source.path, item.local) in facts.held
            use = Import(
                item.line, item.local, _place(item, source, facts), runtime and item.place != "type-checking", held=held
            )
            symbol = enclosing(module, item.line) if item.place != "module" else ""
            _add(book, world, item.dotted, Place(source.path, symbol, item.line, item.line), use)
        for star in module.stars:
            if _is_upstream(star, world):
                _add(book, world, star, Place(source.path, "", 1, 1), Import(1, "*", "module"))
    for said in facts.said:
        if said.role in ("module", "find_spec") and _is_upstream(said.text, world):
            _dynamic(book, world, said)


def _place(item: definitions.Import, source: Source, facts: Facts) -> ImportPlace:
    """Return where an import stands: one that only the current version runs has another one beside it."""
    bound = (path == source.path and first <= item.line <= last for path, first, last in facts.bound)
    return "guarded" if item.place != "type-checking" and any(bound) else item.place


def _dynamic(book: Book, world: World, said: Said) -> None:
    use = Import(said.spot.line, said.text, "inline" if said.spot.symbol else "module", dynamic=True)
    _add(book, world, said.text, Place(said.spot.path, said.spot.symbol, said.spot.line, said.spot.line), use)


def _upstream(imports: Iterable[definitions.Import], world: World) -> Iterable[definitions.Import]:
    """Yield imports from an upstream; ``import a.b.c`` gives one for a.b.c, not another for a."""
    found = [item for item in imports if _is_upstream(item.module, world)]
    whole = {(item.line, item.module.partition(".")[0]) for item in found if not item.symbol and "." in item.local}
    for item in found:
        if item.symbol or "." in item.local or (item.line, item.local) not in whole:
            yield item


def _is_upstream(dotted: str, world: World) -> bool:
    return world.owner(dotted) not in (None, PLUGIN) or dotted.partition(".")[0] in PACKAGES.values()


def _add(book: Book, world: World, dotted: str, place: Place, use: Import) -> None:
    target, unknown = locate(world, dotted)
    words = {"type-checking": "for annotations only", "guarded": "guarded", "inline": "inside a function"}
    how = "import by name" if use.dynamic else f"import {words.get(use.place, '')}".rstrip()
    book.add("import", target, place, use, how, unknown)


def locate(world: World, dotted: str) -> tuple[Target, str]:
    """Return what a dotted upstream name stands for, and why it is unknown where it cannot be found.

    A name that an upstream module merely imports from elsewhere (``from vllm.utils import torch``) is that
    module's name.
    """
    found = world.resolve(dotted)
    if isinstance(found, Located):
        return target_of(found, dotted), ""
    outer, _, name = dotted.rpartition(".")
    home = world.resolve(outer) if outer else found
    who = world.owner(dotted) or ""
    if isinstance(home, Located) and isinstance(found, External):
        return Target(home.who, home.path, name, home.module, dotted), ""
    if isinstance(found, Unknown):
        return _nowhere(home, who, name, dotted), found.reason
    reason = f"{outer or dotted} has no {name}" if isinstance(found, Absent) else f"{dotted} is not in the sources"
    return _nowhere(home, who, name, dotted), reason


def _nowhere(home: object, who: str, name: str, dotted: str) -> Target:
    if isinstance(home, Located) and home.kind == "module":
        return Target(home.who, home.path, name, home.module, dotted)
    return Target(who, "", name, "", dotted)


def enclosing(module: Module, line: int) -> str:
    """Return the innermost function or class around a line, empty for none."""
    found, start = "", 0
    for item in module.definitions.values():
        if item.kind != "value" and item.line <= line <= item.end_line and item.line >= start:
            found, start = item.name, item.line
    return found
