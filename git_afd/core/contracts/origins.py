"""Where a copied body comes from: the patched target, the overridden member, the stated source, or a likeness."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.contracts.headers import Declared
from git_afd.core.contracts.likeness import code_lines, likeness, share
from git_afd.core.source import search
from git_afd.core.source.definitions import Module
from git_afd.core.source.world import PLUGIN, Located, World

_TOO_COMMON: Final = 8
_ALIKE: Final = 0.6
_NEAR: Final = 0.4
_CONTAINED: Final = 0.8
_HINT: Final = 0.3
_WORTH: Final = 6
"""Fewer code lines than this look alike by chance."""


@dataclass(slots=True)
class Origins:
    """Finds upstream functions for plugin functions. `wanted` are the plugin's function names."""

    world: World
    corpus: search.Corpus
    wanted: frozenset[str]
    _modules: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _definers: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    _lines: dict[tuple[str, str, int], Counter[str]] = field(default_factory=dict)
    _texts: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def stated(self, said: Declared, name: str, place: Located) -> Located | None:
        """Return the function that a stated source names.

        By its path and symbol (or the plugin function's name); without a path by a class that the plugin's module
        sees, or by a module's last name (``gpu_ubatch_wrapper._cat``).
        """
        for who, module in self._stated_modules(said):
            loaded = self.world.module(who, module)
            for symbol in (*said.symbols, name) if loaded else ():
                found = _in_module(loaded, symbol) if loaded else None
                if found is not None and loaded:
                    return Located(who, self.world.trees[who].paths[module], module, found, loaded.definitions[found])
        for symbol in said.symbols:
            seen = self.world.resolve(f"{place.module}.{symbol}")
            if isinstance(seen, Located) and seen.who != PLUGIN and seen.kind == "function":
                return seen
        return None

    def _stated_modules(self, said: Declared) -> list[tuple[str, str]]:
        """Return the upstream modules that a stated path is, or that have a stated name as their last."""
        if not self._modules:
            for who, tree in self.world.trees.items():
                for module, path in tree.paths.items() if who != PLUGIN else ():
                    self._modules.setdefault(path, []).append((who, module))
                    self._modules.setdefault(module.rpartition(".")[2], []).append((who, module))
        if said.path:
            return self._modules.get(said.path, [])
        return [place for symbol in said.symbols for place in self._modules.get(symbol.split(".")[0], ())]

    def lines(self, place: Located) -> Counter[str]:
        """Return an upstream function's code lines."""
        return self._code(place.who, place.path, place.line, place.end_line)

    def _code(self, who: str, path: str, first: int, last: int) -> Counter[str]:
        key = (who, path, first)
        if key not in self._lines:
            self._lines[key] = code_lines(self._text(who, path), first, last)
        return self._lines[key]

    def _text(self, who: str, path: str) -> list[str]:
        if (who, path) not in self._texts:
            data = self.corpus(who).get(path, b"")
            self._texts[who, path] = data.decode("utf-8", "replace").splitlines()
        return self._texts[who, path]

    def namesakes(self, name: str, ours: Counter[str]) -> Iterator[Located]:
        """Yield upstream functions of a name whose bodies share something with ours.

        A name that too many functions have says nothing. Bodies are compared as text, so that only a file that
        holds a likely origin is parsed.
        """
        if name.startswith("__"):
            return
        found = [(who, path) for who in self.world.trees if who != PLUGIN for path in self._of(who).get(name, [])]
        if len(found) > _TOO_COMMON:
            return
        for who, path in found:
            for first, last in search.blocks(self._text(who, path), name):
                if likeness(ours, self._code(who, path, first, last)) >= _HINT:
                    yield from self._at(who, path, name, first)

    def _at(self, who: str, path: str, name: str, line: int) -> Iterator[Located]:
        module = self.world.module(who, self.world.trees[who].name_of(path))
        for item in module.definitions.values() if module else ():
            inside = item.line <= line <= item.end_line
            if module and inside and item.kind == "function" and item.name.rpartition(".")[2] == name:
                yield Located(who, path, module.name, item.name, item)

    def _of(self, who: str) -> Mapping[str, list[str]]:
        if who not in self._definers:
            self._definers[who] = search.definers(self.corpus(who), self.wanted)
        return self._definers[who]

    def best(self, ours: Counter[str], candidates: Iterable[Located]) -> tuple[Located | None, float]:
        """Return the most similar candidate and its likeness."""
        scored = [(self.score(ours, self.lines(place)), place) for place in candidates]
        if not scored:
            return None, 0.0
        value, place = max(scored, key=lambda item: item[0])
        return place, value

    @staticmethod
    def score(ours: Counter[str], theirs: Counter[str]) -> float:
        """Return the likeness of two bodies; a large part taken over whole counts as much as a like whole."""
        both = likeness(ours, theirs)
        return max(both, share(ours, theirs)) if sum(theirs.values()) >= _WORTH else both

    @staticmethod
    def is_copy(ours: Counter[str], theirs: Counter[str], *, near: bool = False) -> bool:
        """Say whether a body without markers is a copy of another.

        `near`: the other is the member it overrides or the source it states; a namesake elsewhere must be liker.
        """
        if min(sum(ours.values()), sum(theirs.values())) < _WORTH:
            return near and likeness(ours, theirs) == 1 and sum(ours.values()) >= _WORTH // 2
        return likeness(ours, theirs) >= (_NEAR if near else _ALIKE) or share(ours, theirs) >= _CONTAINED


def _in_module(module: Module, symbol: str) -> str | None:
    """Return the definition that a stated symbol names in a module (``Class.method``, ``module.function``, a name)."""
    names = module.definitions
    parts = symbol.split(".")
    for start in range(len(parts)):
        tail = ".".join(parts[start:])
        if tail in names and names[tail].kind == "function":
            return tail
    last = re.compile(rf"(?:\w+\.)?{re.escape(parts[-1])}\Z")
    found = [name for name, item in names.items() if item.kind == "function" and last.match(name)]
    return found[0] if len(found) == 1 else None
