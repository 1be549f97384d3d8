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


Work = Callable[[], object]
"""Further pure work."""

Later = Callable[[Work], object]
"""Gives the result of further work, None when the other process does not tell."""


@contextmanager
def reading_ahead(plugin: SourceTree, steps: Sequence[Shelf | Work]) -> Iterator[Later]:
    """Read ahead for shelves and do further work, in the order in which it is needed, until the block ends.

    Whoever asks a shelf waits for what it will get. One process does it all, one thing after the other: there are
    two cores, and what is needed first must not wait for what is needed last.
    """
    empty = [step for step in steps if not (isinstance(step, Shelf) and step.facts.any)]
    plugin.read(plugin.names)
    with each_beside(lambda: _results(plugin, empty)) as results:
        ahead = _Ahead(results)
        shelves = [(number, step) for number, step in enumerate(empty) if isinstance(step, Shelf)]
        for number, shelf in shelves:
            shelf.facts.ahead = partial(ahead.modules, number)
        try:
            yield lambda work: ahead.of(empty.index(work))
        finally:
            for _, shelf in shelves:
                shelf.facts.ahead = None


@dataclass(slots=True)
class _Ahead:
    """What the second process told so far, in the order of its steps."""

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


def _results(plugin: SourceTree, steps: Sequence[Shelf | Work]) -> Iterator[object]:
    texts = [text for path in plugin.names if isinstance(text := plugin.text(path), str)]
    for step in steps:
        if isinstance(step, Shelf):
            yield {step.tree.paths[module.name]: module for module in _of(step, texts)}
        else:
            yield step()


def _of(shelf: Shelf, texts: Iterable[str]) -> Iterator[Module]:
    paths = shelf.tree.paths

    def read(name: str) -> Module | Unreadable | None:
        return shelf.tree.module(name) if shelf.wanted(paths[name]) else None

    return with_bases(mentioned(texts, paths), paths, read)
