"""Finding a name in an upstream as Python would: through re-exports, lazy tables, stars and base classes.

Four answers, never mixed up: found, absent (the tree was read and the name is not there), external (it leads
out of this tree), unknown (something on the way cannot be read).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.source.definitions import Definition, Import, Module, Unreadable

_DEPTH: Final = 24
_BASE = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a name is defined: path, module, qualified symbol (empty for a module), and the way there.

    `via` lists the re-exports that were followed (``module.name``), nearest first; `owner` is the class that
    defines an inherited member when it is not the class that was asked.
    """

    path: str
    module: str
    symbol: str
    definition: Definition | None
    via: tuple[str, ...] = ()
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """The name is not there; `place` is the module or class that was read for it."""

    name: str
    place: str


@dataclass(frozen=True, slots=True)
class External:
    """The name leads out of the tree, to `target` (``torch.nn.Module``)."""

    target: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It cannot be told; `reason` says what could not be read."""

    reason: str


Answer = Found | Absent | External | Unknown


@dataclass(slots=True)
class Tree:
    """One upstream at one commit. `paths` maps dotted module names to paths; `load` reads a path's module."""

    paths: Mapping[str, str]
    load: Callable[[str], Module | Unreadable]
    _loaded: dict[str, Module | Unreadable] = field(default_factory=dict)
    _cache: dict[tuple[str, str], Answer] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def name_of(self, path: str) -> str:
        """Return the dotted name of the module at a path, empty when no module is there."""
        if not self._names:
            self._names.update((known, name) for name, known in self.paths.items())
        return self._names.get(path, "")

    def module(self, name: str) -> Module | Unreadable | None:
        """Return a module by dotted name, None when the tree has none of that name."""
        path = self.paths.get(name)
        if path is None:
            return None
        if name not in self._loaded:
            self._loaded[name] = self.load(path)
        return self._loaded[name]

    def owns(self, dotted: str) -> bool:
        """Say whether a dotted name belongs to a package of this tree."""
        return dotted.partition(".")[0] in self.paths

    def resolve(self, dotted: str) -> Answer:
        """Find ``package.module.Class.member``: the longest module prefix, then names inside it."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            name = ".".join(parts[:cut])
            if name in self.paths:
                return self.symbol(name, ".".join(parts[cut:]))
        return Absent(dotted, parts[0]) if self.owns(dotted) else External(dotted)

    def symbol(self, module: str, symbol: str) -> Answer:
        """Find a (dotted) symbol as seen from a module."""
        key = (module, symbol)
        if key not in self._cache:
            self._cache[key] = Unknown(f"{module}.{symbol} leads to itself")  # an import cycle comes back here
            self._cache[key] = self._symbol(module, symbol)
        return self._cache[key]

    def _symbol(self, name: str, symbol: str) -> Answer:
        module = self.module(name)
        if module is None:
            return Absent(symbol, name) if self.owns(name) else External(f"{name}.{symbol}".rstrip("."))
        if isinstance(module, Unreadable):
            return Unknown(f"{self.paths[name]} cannot be read: {module.reason}")
        if not symbol:
            return Found(self.paths[name], name, "", None)
        if symbol in module.definitions and not _placeholder(module, symbol):
            return Found(self.paths[name], name, symbol, module.definitions[symbol])
        first, _, rest = symbol.partition(".")
        if first in module.definitions and not _placeholder(module, first):
            return self._inside(module, module.definitions[first], rest)
        return self._elsewhere(module, first, rest)

    def _inside(self, module: Module, outer: Definition, rest: str) -> Answer:
        """Look for ``rest`` inside a definition: a class's own or inherited member."""
        if outer.kind == "class":
            head, _, tail = rest.partition(".")
            found = self.member(Found(self.paths[module.name], module.name, outer.name, outer), head)
            if not tail or not isinstance(found, Found):
                return found
            return self.symbol(found.module, f"{found.symbol}.{tail}")
        if outer.kind == "value" and outer.value and re.fullmatch(r"[\w.]+", outer.value) and outer.value != outer.name:
            aliased = self.symbol(module.name, f"{outer.value}.{rest}")  # ``Name = Other`` at module level
            return aliased if isinstance(aliased, Found) else Unknown(f"{outer.name} is a value of {module.name}")
        return Unknown(f"{outer.name} of {module.name} is no class, so {rest} cannot be told")

    def _elsewhere(self, module: Module, first: str, rest: str) -> Answer:
        """Look for a name that the module does not define: imports, lazy tables, stars, submodules, __getattr__."""
        here = f"{module.name}.{first}"
        bound = imported(module, first)
        if bound is not None:
            return self._follow(bound.dotted, rest, here)
        if first in module.lazy:
            target_module, _, target_symbol = module.lazy[first].partition(":")
            return self._follow(f"{target_module}.{target_symbol}", rest, here)
        for star in module.stars:
            answer = self._follow(f"{star}.{first}", rest, here)
            if not isinstance(answer, Absent):
                return answer
        if here in self.paths:
            return self.symbol(here, rest)
        if module.dynamic:
            return Unknown(f"{module.name} serves names through __getattr__")
        return Absent(f"{first}.{rest}".rstrip("."), module.name)

    def _follow(self, target: str, rest: str, here: str) -> Answer:
        answer = self.resolve(f"{target}.{rest}".rstrip("."))
        if isinstance(answer, Found):
            return Found(
                answer.path, answer.module, answer.symbol, answer.definition, (here, *answer.via), answer.owner
            )
        return answer

    def member(self, klass: Found, name: str) -> Answer:
        """Find a member of a class: its own, else the first of its bases', in their order.

        Absent only when every base was read; a base outside the tree makes it External, an unreadable one Unknown.
        """
        open_ends: list[Answer] = []
        for place in self.lineage(klass):
            if not isinstance(place, Found):
                open_ends.append(place)
                continue
            module = self.module(place.module)
            if isinstance(module, Module):
                own = module.definitions.get(f"{place.symbol}.{name}")
                if own is not None:
                    owner = "" if place.symbol == klass.symbol and place.module == klass.module else place.symbol
                    return Found(place.path, place.module, own.name, own, place.via, owner)
        unknown = next((end for end in open_ends if isinstance(end, Unknown)), None)
        return unknown or next(iter(open_ends), Absent(name, f"{klass.module}.{klass.symbol}"))

    def lineage(self, klass: Found) -> Iterator[Answer]:
        """Yield a class and its bases, depth first; what cannot be followed is yielded as its answer."""
        seen: set[tuple[str, str]] = set()
        waiting: list[tuple[Answer, int]] = [(klass, 0)]
        while waiting:
            place, depth = waiting.pop(0)
            if not isinstance(place, Found):
                yield place
                continue
            if (place.module, place.symbol) in seen or depth > _DEPTH:
                continue
            seen.add((place.module, place.symbol))
            yield place
            bases = place.definition.bases if place.definition else ()
            waiting = [(self.base(place, text), depth + 1) for text in bases] + waiting

    def base(self, klass: Found, text: str) -> Answer:
        """Resolve a base expression as written in the class's module (``Base``, ``module.Base``, ``Base[int]``)."""
        match = _BASE.match(text)
        if match is None:
            return Unknown(f"the base {text} of {klass.symbol} is an expression")
        if match.group(0) in _BUILTIN:
            return External(f"builtins.{match.group(0)}")
        answer = self.symbol(klass.module, match.group(0))
        if isinstance(answer, Absent):
            return Unknown(f"the base {text} of {klass.symbol} is not defined in {klass.module}")
        if isinstance(answer, Found) and answer.definition is not None and answer.definition.kind != "class":
            return Unknown(f"the base {text} of {klass.symbol} is no class statement")
        return answer


_STAND_INS: Final = ("None", "Any", "object", "False")


def _placeholder(module: Module, name: str) -> bool:
    """Say whether a definition only stands in for an imported name (``except ImportError: name = None``)."""
    found = module.definitions[name]
    return found.kind == "value" and found.value in _STAND_INS and imported(module, name) is not None


_BUILTIN: Final = frozenset(dir(builtins))


def imported(module: Module, local: str) -> Import | None:
    """Return what a name is bound to at a module's level: a plain import before a guarded or type-checking one."""
    found = [item for item in module.imports if item.local == local and item.place != "inline"]
    order = ("module", "guarded", "type-checking")
    return min(found, key=lambda item: order.index(item.place), default=None)


def module_paths(paths: list[str]) -> dict[str, str]:
    """Map dotted module names to the ``.py`` paths of a tree (repository-relative)."""
    names: dict[str, str] = {}
    for path in paths:
        if path.endswith(".py"):
            dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            names[dotted] = path
    return names


def module_names(paths: list[str]) -> dict[str, str]:
    """Map ``.py`` paths of a tree to the modules' dotted names. A ``src/`` at the top is no part of a name."""
    return {path: name.removeprefix("src.") for name, path in module_paths(paths).items()}
