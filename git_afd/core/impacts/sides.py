"""The current and the target sources, side by side: worlds to find names in, texts to read bodies from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from git_afd.core.impacts.bodies import Body, NoBody, Returned, read_body
from git_afd.core.source.definitions import Definition, Module, Unreadable
from git_afd.core.source.lookup import Absent, External, Found, Tree, Unknown, imported
from git_afd.core.source.versions import Versions
from git_afd.core.source.world import Located, Result, World

_DEPTH: Final = 3
"""So many functions are followed that give on what another one gave."""

Texts = Callable[[str, str], "str | None"]
"""Gives the text of a file by upstream and path; None when it is missing or no text."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What a dotted name leads to, and whether it does so at run time.

    `guard` says why it may not be there when the program runs: a hop that is imported under TYPE_CHECKING, or a
    definition that stands under a condition only. `hops` are the re-exports that were followed.
    """

    place: Located
    hops: tuple[str, ...] = ()
    guard: str = ""


@dataclass(slots=True)
class Side:
    """One side: the world of both upstreams (and the plugin) at it, texts, versions that prune dead branches.

    `corpus` gives the raw sources of an upstream's package by path; it is read once, when first asked for. `torch` is
    the version of torch that each upstream is built for, where it says so.
    """

    world: World
    texts: Texts
    corpus: Callable[[str], Mapping[str, bytes]]
    versions: Versions = field(default_factory=dict)
    torch: Mapping[str, str] = field(default_factory=dict)
    _bodies: dict[Located, Body | NoBody] = field(default_factory=dict)
    _reached: dict[str, Reached | Result] = field(default_factory=dict)
    _lines: dict[tuple[str, str], list[str] | None] = field(default_factory=dict)
    _definers: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _holding: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def tree(self, who: str) -> Tree | None:
        """Return an upstream's tree."""
        return self.world.trees.get(who)

    def source(self, place: Located) -> str | None:
        """Return the source lines of a definition, None when they cannot be read."""
        if place.definition is None:
            return None
        key = (place.who, place.path)
        if key not in self._lines:
            text = self.texts(*key)
            self._lines[key] = text.split("\n") if text is not None else None
        lines = self._lines[key]
        return "\n".join(lines[place.line - 1 : place.end_line]) if lines is not None else None

    def body(self, place: Located) -> Body | NoBody:
        """Return a function's body, or why there is none."""
        if place not in self._bodies:
            source = self.source(place)
            self._bodies[place] = (
                NoBody(f"{place.path} cannot be read") if source is None else read_body(source, self.versions)
            )
        return self._bodies[place]

    def returned(self, place: Located, depth: int = 0) -> Returned | None:
        """Return what a function gives back, also where it gives on what another one gave; None without a body.

        The other is found in the same module, through its imports, or in the class; a coroutine or a generator that
        is given on stays one value.
        """
        body = self.body(place)
        if isinstance(body, NoBody):
            return None
        own = body.returned
        given = [inner for name in body.passed_on if (inner := self._given(place, name, depth)) is not None]
        if not given or len(given) < len(body.passed_on):
            return own
        forms = own.forms - {"value"} if body.only_passes_on else own.forms
        return replace(own, forms=forms.union(*(item.forms for item in given)))

    def _given(self, place: Located, name: str, depth: int) -> Returned | None:
        if depth >= _DEPTH:
            return None
        if name.startswith("self."):
            klass = self.world.resolve(f"{place.module}.{place.symbol.rpartition('.')[0]}")
            is_class = isinstance(klass, Located) and klass.kind == "class"
            found = self.world.member(klass, name.removeprefix("self.")) if is_class else None  # type: ignore[arg-type]  # it is a class
        else:
            found = self.world.symbol(place.module, name)
        if not isinstance(found, Located) or found.kind != "function" or found == place:
            return None
        inner = self.returned(found, depth + 1)
        usual = inner is not None and inner.forms and not inner.generator and not inner.is_async
        return inner if usual else None

    def reach(self, dotted: str) -> Reached | Result:
        """Find a dotted name and say whether it is there at run time."""
        if dotted not in self._reached:
            self._reached[dotted] = self._reach(dotted)
        return self._reached[dotted]

    def _reach(self, dotted: str) -> Reached | Result:
        found = self.world.resolve(dotted)
        if not isinstance(found, Located):
            return found
        if "." in found.symbol:  # a member: whether its class is there at run time is asked of the class
            return Reached(found, (), conditional(found.definition))
        tree = self.tree(self.world.owner(dotted) or "")
        answer = tree.resolve(dotted) if tree else found
        hops = answer.via if isinstance(answer, Found) else ()
        guard = next((reason for hop in hops if (reason := self._guard(hop))), "")
        return Reached(found, hops, guard or conditional(found.definition))

    def _guard(self, hop: str) -> str:
        module_name, _, name = hop.rpartition(".")
        module = self.world.module(self.world.owner(hop) or "", module_name)
        bound = imported(module, name) if module else None
        if bound is not None and bound.place == "type-checking":
            return f"{module_name} imports {name} under TYPE_CHECKING only"
        return ""

    def unreadable(self, who: str, module: str) -> str:
        """Say why a module cannot be read, empty when it can or is not there."""
        tree = self.tree(who)
        found = tree.module(module) if tree else None
        return found.reason if isinstance(found, Unreadable) else ""

    def definers(self, who: str, name: str) -> list[str]:
        """Return the paths of files whose text defines a name (function, class or value), anywhere in it."""
        key = (who, name)
        if key not in self._definers:
            self._definers[key] = self._defining(who, name)
        return self._definers[key]

    def _defining(self, who: str, name: str) -> list[str]:
        plain = re.escape(name.encode())
        pattern = re.compile(
            rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+%s\b|^%s[ \t]*[:=]" % (plain, plain), re.MULTILINE
        )
        corpus = self.corpus(who)
        return [path for path in self.holding(who, name) if pattern.search(corpus[path])]

    def mentions(self, who: str, word: str) -> bool:
        """Say whether a word stands anywhere in an upstream's sources."""
        return bool(self.holding(who, word))

    def callers(self, who: str, name: str) -> list[str]:
        """Return the paths of files whose text calls something of a name through an object (``.name(``)."""
        return self.holding(who, f".{name}(")

    def holding(self, who: str, text: str) -> list[str]:
        """Return the paths of files that hold a text, in order. Each text is sought once: it takes milliseconds."""
        key = (who, text)
        if key not in self._holding:
            word = text.encode()
            self._holding[key] = [path for path, data in self.corpus(who).items() if word in data]
        return self._holding[key]

    def module_at(self, who: str, path: str) -> Module | None:
        """Return the readable module of a path."""
        tree = self.tree(who)
        name = tree.name_of(path) if tree else ""
        return self.world.module(who, name) if name else None


def conditional(definition: Definition | None) -> str:
    """Say under which test a definition stands, empty for none."""
    condition = definition.condition if definition else ""
    return f"it is defined under `if {condition}` only" if condition else ""


def why_missing(found: object) -> str:
    """Say as the end of a sentence why a name was not found."""
    if isinstance(found, Unknown):
        return found.reason
    if isinstance(found, Absent):
        return f"{found.place} has no {found.name.removeprefix(f'{found.place}.')}"
    if isinstance(found, External):
        return f"it leads out of the sources, to {found.target}"
    return "it was not found"
