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


Later = Callable[[int], object]
"""Gives the result of further work by its number, None when the other process does not tell."""


@contextmanager
def reading_ahead(
    plugin: SourceTree, shelves: Sequence[Shelf], then: Sequence[Callable[[], object]] = ()
) -> Iterator[Later]:
    """Read ahead for these shelves in turn, then do further pure work, until the block ends.

    Whoever asks a shelf waits for what it will get. One process does it all, one thing after the other: there are
    two cores, and what is needed first must not wait for what is needed last.
    """
    empty = [shelf for shelf in shelves if not shelf.facts.any]
    plugin.read(plugin.names)
    with each_beside(lambda: _work(plugin, empty, then)) as results:
        ahead = _Ahead(results)
        for number, shelf in enumerate(empty):
            shelf.facts.ahead = partial(ahead.modules, number)
        try:
            yield lambda number: ahead.of(len(empty) + number)
        finally:
            for shelf in empty:
                shelf.facts.ahead = None


@dataclass(slots=True)
class _Ahead:
    """What the second process told so far: the shelves in their order, then the further work."""

    results: Iterator[object]
    told: list[object] = field(default_factory=list)

    def of(self, number: int) -> object:
        """Return a result, waiting for it; None when the other process does not tell."""
        while len(self.told) <= number:
            self.told.append(next(self.results, None))
        return self.told[number]

    def modules(self, number: int) -> Modules:
        """Return what was read for a shelf."""
        told = self.of(number)
        return told if isinstance(told, dict) else {}


def _work(plugin: SourceTree, shelves: Sequence[Shelf], then: Sequence[Callable[[], object]]) -> Iterator[object]:
    texts = [text for path in plugin.names if isinstance(text := plugin.text(path), str)]
    for shelf in shelves:
        yield {shelf.tree.paths[module.name]: module for module in _of(shelf, texts)}
    for work in then:
        yield work()


def _of(shelf: Shelf, texts: Iterable[str]) -> Iterator[Module]:
    paths = shelf.tree.paths

    def read(name: str) -> Module | Unreadable | None:
        return shelf.tree.module(name) if shelf.wanted(paths[name]) else None

    return with_bases(mentioned(texts, paths), paths, read)
