"""Contracts from monkey patches: which assignments are patches, what they replace, who else writes the same target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from git_afd.core.contracts.book import Book, Draft, target_at
from git_afd.core.contracts.facts import Facts, Write
from git_afd.core.contracts.model import Place, Writer
from git_afd.core.contracts.signatures import compare, verdict
from git_afd.core.contracts.uses import Patch, PatchForm
from git_afd.core.source import search
from git_afd.core.source.definitions import Module
from git_afd.core.source.lookup import imported
from git_afd.core.source.world import PLUGIN, Located, World

_BINDS: Final = {"classmethod": ("classmethod",), "staticmethod": ("staticmethod",), "property": ("property",)}


@dataclass(frozen=True, slots=True)
class Sorted:
    """Writes told apart: patches, originals that are saved or put back, and state that is kept upstream."""

    patches: tuple[Write, ...]
    kept: tuple[Write, ...]
    states: tuple[Write, ...]


def sort_writes(facts: Facts, world: World) -> Sorted:
    """Tell patches from saved originals and from state.

    A patch assigns something callable, or replaces a function or class, or is an assignment at module level to a
    name that upstream defines. Assigning upstream's own definition saves it, or puts it back.
    """
    patches: list[Write] = []
    kept: list[Write] = []
    states: list[Write] = []
    for write in facts.writes:
        found = present(world, write)
        if write.value.original and (found is None or found.dotted == write.value.name):
            kept.append(write)
        else:
            replaces = write.value.callable or (found is not None and found.kind in ("function", "class"))
            at_import = not write.spot.symbol and not write.attribute.startswith("__")
            (patches if replaces or at_import else states).append(write)
    return Sorted(tuple(patches), tuple(kept), tuple(states))


def present(world: World, write: Write) -> Located | None:
    """Return what upstream defines under the written name, None when nothing."""
    if write.owner.kind == "class":
        found = world.member(write.owner, write.attribute)
    else:
        found = world.symbol(write.owner.module, write.attribute)
    return found if isinstance(found, Located) else None


def add_patches(book: Book, facts: Facts, world: World, found: Sorted, corpus: search.Corpus) -> dict[str, Draft]:
    """Add a contract per patched target; return the drafts by what is written (``module.Class.name``)."""
    drafts: dict[str, Draft] = {}
    aliases = _Aliases(world, corpus, found.patches, facts)
    for write in found.patches:
        theirs = present(world, write)
        ours = write.value.place
        place = Place(write.spot.path, write.spot.symbol, write.spot.line, write.spot.line)
        if ours is not None and ours.path == write.spot.path:
            place = Place(ours.path, ours.symbol, ours.line, ours.end_line)
        use = replace(
            _use(write, theirs, _saved(facts, found.kept, write, theirs)),
            rebound=aliases.rebound(write, theirs),
            missed=aliases.missed(write, theirs),
        )
        target = target_at(write.owner, write.attribute)
        draft = book.add("monkeypatch", target, place, use, f"assignment ({use.form})")
        signature = theirs.definition.signature if theirs and theirs.definition else None
        if theirs and theirs.kind == "function" and signature and write.value.signature and ours:
            differences = compare(signature, write.value.signature, _BINDS.get(use.wrapped, ()))
            draft.signature = verdict(differences)
        drafts[_key(write)] = draft
    return drafts


def _use(write: Write, theirs: Located | None, saved: str) -> Patch:
    form: PatchForm = write.form
    if write.owner.kind == "module" and theirs is not None and theirs.module != write.owner.module:
        form = "alias"
    return Patch(
        write.spot.line,
        write.owner.dotted,
        form,
        write.value.name,
        theirs.path if theirs else "",
        theirs.symbol if theirs else "",
        write.value.wrapped,
        write.value.signature,
        saved,
        condition=write.condition,
        added=theirs is None,
    )


def _saved(facts: Facts, kept: Sequence[Write], write: Write, theirs: Located | None) -> str:
    if theirs is None:
        return ""
    for other in kept:
        if (
            other.spot.path == write.spot.path
            and other.value.name == theirs.dotted
            and other.attribute != write.attribute
        ):
            return f"{other.owner.dotted}.{other.attribute}"
    return facts.saved.get((write.spot.path, theirs.dotted), "")


@dataclass(slots=True)
class _Aliases:
    """Which modules bind a patched module-level name by ``from … import``: those keep the old object."""

    world: World
    corpus: search.Corpus
    patches: Sequence[Write]
    facts: Facts

    def rebound(self, write: Write, theirs: Located | None) -> tuple[str, ...]:
        """Return the other modules whose alias of the same definition is assigned as well."""
        if theirs is None or write.owner.kind != "module":
            return ()
        if (write.spot.path, write.attribute) in self.facts.everywhere:
            return ("sys.modules[*]",)
        others = (other for other in self.patches if other.attribute == write.attribute and other.owner != write.owner)
        return tuple(dict.fromkeys(other.owner.module for other in others if present(self.world, other) == theirs))

    def missed(self, write: Write, theirs: Located | None) -> tuple[str, ...]:
        """Return the upstream modules that bind the name at their level and are not assigned."""
        rebound = self.rebound(write, theirs)
        if theirs is None or write.owner.module != theirs.module or rebound == ("sys.modules[*]",):
            return ()
        if write.owner.kind != "module":
            return ()
        done = {theirs.module, *rebound}
        return tuple(name for name in self._binding(theirs) if name not in done)

    def _binding(self, theirs: Located) -> Iterator[str]:
        for who, tree in self.world.trees.items():
            if who == PLUGIN:
                continue
            for path in search.importers(self.corpus(who), theirs.symbol):
                module = tree.module(tree.name_of(path))
                if isinstance(module, Module) and self._binds(module, theirs):
                    yield module.name

    def _binds(self, module: Module, theirs: Located) -> bool:
        for item in module.imports:
            if item.symbol == theirs.symbol and item.place in ("module", "guarded"):
                bound = imported(module, item.local)
                return bound is not None and self.world.symbol(module.name, item.local) == theirs
        return False


def add_writers(drafts: Mapping[str, Draft], mine: Iterable[Write], theirs: Mapping[str, tuple[Write, ...]]) -> None:
    """List every writer of each patched target in install order.

    Platform patches of an upstream are applied while plugins are loaded, before the plugin's own; worker patches
    when a worker starts, after them.
    """
    others: dict[str, list[tuple[str, Write]]] = {}
    for who, writes in theirs.items():
        for write in writes:
            others.setdefault(_key(write), []).append((who, write))
    own: dict[str, list[tuple[str, Write]]] = {}
    for write in mine:
        own.setdefault(_key(write), []).append((PLUGIN, write))
    for wanted, draft in drafts.items():
        rows = others.get(wanted, [])
        before = [row for row in rows if "/worker/" not in row[1].spot.path]
        after = [row for row in rows if row not in before]
        draft.writers = tuple(
            Writer(who, write.spot.path, write.spot.line, write.value.name, order)
            for order, (who, write) in enumerate([*before, *own.get(wanted, []), *after], start=1)
        )


def _key(write: Write) -> str:
    return f"{write.owner.dotted}.{write.attribute}"
