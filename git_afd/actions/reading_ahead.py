"""Reading ahead: a second process parses the upstream modules that the plugin names, while this one begins its work.

It only guesses. What it did not read, or could not read, is read when it is needed, and its reason is told then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from git_afd.adapters.beside import each_beside
from git_afd.adapters.module_facts import ModuleFacts
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.lookup import Tree
from git_afd.core.source.mentioned import mentioned, with_bases

Modules = Mapping[str, Module]
"""Modules by path."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """One upstream at one side: its package, its tree, where what is read ahead is put, and which paths are wanted."""

    package: SourceTree
    tree: Tree
    facts: ModuleFacts
    wanted: Callable[[str], bool] = lambda _: True


@contextmanager
def reading_ahead(plugin: SourceTree, shelves: Sequence[Shelf]) -> Iterator[None]:
    """Read ahead for these shelves in turn until the block ends; whoever asks a shelf waits for what it will get."""
    empty = [shelf for shelf in shelves if not shelf.facts.any]
    plugin.read(plugin.names)
    with each_beside(lambda: _read(plugin, empty)) as results:
        ahead = _Ahead(results)
        for number, shelf in enumerate(empty):
            shelf.facts.ahead = partial(ahead.of, number)
        try:
            yield
        finally:
            for shelf in empty:
                shelf.facts.ahead = None


@dataclass(slots=True)
class _Ahead:
    """What the second process told so far, in the order of the shelves."""

    results: Iterator[Modules]
    told: list[Modules] = field(default_factory=list)

    def of(self, number: int) -> Modules:
        """Return what was read for a shelf; nothing when the other process does not tell."""
        while len(self.told) <= number:
            self.told.append(next(self.results, {}))
        return self.told[number]


def _read(plugin: SourceTree, shelves: Sequence[Shelf]) -> Iterator[Modules]:
    texts = [text for path in plugin.names if isinstance(text := plugin.text(path), str)]
    for shelf in shelves:
        yield {shelf.tree.paths[module.name]: module for module in _of(shelf, texts)}


def _of(shelf: Shelf, texts: Iterable[str]) -> Iterator[Module]:
    paths = shelf.tree.paths

    def read(name: str) -> Module | Unreadable | None:
        return shelf.tree.module(name) if shelf.wanted(paths[name]) else None

    return with_bases(mentioned(texts, paths), paths, read)
