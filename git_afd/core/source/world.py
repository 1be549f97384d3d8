"""Several source trees as one importable world: the plugin and its upstreams, names followed from tree to tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.source.definitions import Definition, Module, SelfAttribute
from git_afd.core.source.lookup import Absent, External, Found, Tree, Unknown

PLUGIN: Final = "plugin"
_HOPS: Final = 12


@dataclass(frozen=True, slots=True)
class Located:
    """Where something is defined: whose tree (``plugin`` or an upstream), path, module, qualified symbol.

    The symbol is empty for a module. `attribute` is set for an attribute that only methods assign on ``self``.
    `of` is the class on which a member was looked up when that is not the class that defines it.
    """

    who: str
    path: str
    module: str
    symbol: str
    definition: Definition | None = field(default=None, compare=False, repr=False)
    attribute: SelfAttribute | None = field(default=None, compare=False, repr=False)

    @property
    def dotted(self) -> str:
        """The full dotted name: ``module.symbol``."""
        return f"{self.module}.{self.symbol}" if self.symbol else self.module

    @property
    def kind(self) -> str:
        """``module``, ``class``, ``function`` or ``value``."""
        if not self.symbol:
            return "module"
        return self.definition.kind if self.definition else "value"

    @property
    def line(self) -> int:
        """First line of the definition, from 1; 1 for a module."""
        return self.definition.line if self.definition else self.attribute.line if self.attribute else 1

    @property
    def end_line(self) -> int:
        """Last line of the definition."""
        return self.definition.end_line if self.definition else self.line


Result = Located | Absent | External | Unknown


@dataclass(frozen=True, slots=True)
class Ancestry:
    """A class's linearised classes, itself first, and the bases that could not be followed."""

    classes: tuple[Located, ...]
    open_ends: tuple[Absent | External | Unknown, ...] = ()


@dataclass(slots=True)
class World:
    """Trees by name (``plugin``, ``vllm``, ``vllm-ascend``). Everything is read on demand and kept."""

    trees: Mapping[str, Tree]
    _owners: dict[str, str] = field(default_factory=dict)
    _resolved: dict[str, Result] = field(default_factory=dict)
    _ancestry: dict[Located, Ancestry] = field(default_factory=dict)
    _taught: dict[tuple[Located, str], Located] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note which top-level names belong to which tree; the plugin never hides an upstream."""
        for who in sorted(self.trees, key=lambda name: name != PLUGIN):
            self._owners.update({name.partition(".")[0]: who for name in self.trees[who].paths})

    def owner(self, dotted: str) -> str | None:
        """Return whose a dotted name is by its first part, None when nobody's."""
        return self._owners.get(dotted.partition(".")[0])

    def module(self, who: str, name: str) -> Module | None:
        """Return a readable module, None when it is missing or cannot be read."""
        found = self.trees[who].module(name) if who in self.trees else None
        return found if isinstance(found, Module) else None

    def resolve(self, dotted: str) -> Result:
        """Find a dotted name (module, or module-level name, or a member) in whatever tree defines it."""
        if dotted not in self._resolved:
            self._resolved[dotted] = Unknown(f"{dotted} leads to itself")
            self._resolved[dotted] = self._follow(dotted)
        return self._resolved[dotted]

    def symbol(self, module: str, name: str) -> Result:
        """Find a name as a module sees it at its level."""
        return self.resolve(f"{module}.{name}")

    def _follow(self, dotted: str) -> Result:
        """Follow a name from tree to tree; a member is asked of its class, whose bases may lie in another tree."""
        outer = self._before(dotted)
        if isinstance(outer, Located) and outer.kind == "class":
            return self.member(outer, dotted.rpartition(".")[2])
        asked = dotted
        for _ in range(_HOPS):
            who = self.owner(asked)
            if who is None:
                return External(asked)
            answer = self.trees[who].resolve(asked)
            if isinstance(answer, Found):
                return _located(who, answer)
            if not isinstance(answer, External) or answer.target == asked:
                return answer
            if outer is not None and not isinstance(outer, External) and not _is_module(outer):
                return outer if not isinstance(outer, Located) else Unknown(f"{outer.dotted} has no members to be told")
            asked = answer.target
        return Unknown(f"{dotted} is passed on too often")

    def _before(self, dotted: str) -> Result | None:
        """Return what stands before a name's last dot, None when that is a module of its tree or nobody's."""
        outer = dotted.rpartition(".")[0]
        who = self.owner(outer)
        return None if who is None or outer in self.trees[who].paths else self.resolve(outer)

    def ancestry(self, klass: Located) -> Ancestry:
        """Linearise a class's bases as Python does (C3), across trees; depth first where that has no answer."""
        if klass not in self._ancestry:
            self._ancestry[klass] = Ancestry((klass,))  # a class that inherits from itself comes back here
            self._ancestry[klass] = self._linearise(klass)
        return self._ancestry[klass]

    def _linearise(self, klass: Located) -> Ancestry:
        bases = [self.base(klass, text) for text in (klass.definition.bases if klass.definition else ())]
        known = [self.ancestry(base) for base in bases if isinstance(base, Located)]
        open_ends = [base for base in bases if not isinstance(base, Located)]
        direct = [base for base in bases if isinstance(base, Located)]
        for each in known:
            open_ends += [end for end in each.open_ends if end not in open_ends]
        return Ancestry((klass, *_merge([*(list(each.classes) for each in known), direct])), tuple(open_ends))

    def teach(self, klass: Located, text: str, base: Located) -> None:
        """Say what a base expression means that only its surroundings tell (a class inside a function)."""
        if self.base(klass, text) != base:
            self._taught[klass, text] = base
            self._ancestry.clear()

    def base(self, klass: Located, text: str) -> Result:
        """Resolve a base expression as written in the class's module."""
        if (klass, text) in self._taught:
            return self._taught[klass, text]
        found = Found(klass.path, klass.module, klass.symbol, klass.definition)
        answer = self.trees[klass.who].base(found, text)
        if isinstance(answer, Found):
            return _located(klass.who, answer)
        return self.resolve(answer.target) if isinstance(answer, External) and self.owner(answer.target) else answer

    def member(self, klass: Located, name: str) -> Result:
        """Find a member of a class: what a class in its ancestry defines, or what its methods assign on ``self``.

        Absent only when every base was read; a base outside the world makes it External.
        """
        ancestry = self.ancestry(klass)
        for place in ancestry.classes:
            own = self.own(place, name)
            if own is not None:
                return own
        unknown = next((end for end in ancestry.open_ends if isinstance(end, Unknown)), None)
        return unknown or next(iter(ancestry.open_ends), Absent(name, klass.dotted))

    def shared(self, klass: Located, name: str) -> Located | None:
        """Return an upstream base's own member of a name that a plugin class merely assigns: the state is shared."""
        bases = (place for place in self.ancestry(klass).classes[1:] if place.who != PLUGIN)
        return next((own for place in bases if (own := self.own(place, name)) is not None), None)

    def own(self, klass: Located, name: str) -> Located | None:
        """Return what a class itself defines under a name, or assigns on ``self``; None when nothing."""
        module = self.module(klass.who, klass.module)
        if module is None:
            return None
        full = f"{klass.symbol}.{name}"
        definition, attribute = module.definitions.get(full), module.attributes.get(full)
        if definition is None and attribute is None:
            return None
        return Located(klass.who, klass.path, klass.module, full, definition, attribute)

    def members(self, klass: Located) -> Iterator[Located]:
        """Yield what a class itself defines at class level, in order."""
        module = self.module(klass.who, klass.module)
        prefix = f"{klass.symbol}."
        for name, definition in module.definitions.items() if module else ():
            if name.startswith(prefix) and "." not in name[len(prefix) :]:
                yield Located(klass.who, klass.path, klass.module, name, definition)


def _is_module(result: Result) -> bool:
    return isinstance(result, Located) and result.kind == "module"


def _located(who: str, found: Found) -> Located:
    return Located(who, found.path, found.module, found.symbol, found.definition)


def _merge(rows: list[list[Located]]) -> list[Located]:
    """Merge linearisations (C3); when they contradict each other, keep the first order seen."""
    merged: list[Located] = []
    rows = [list(row) for row in rows if row]
    while rows:
        heads = [row[0] for row in rows]
        good = next((head for head in heads if not any(head in row[1:] for row in rows)), heads[0])
        merged.append(good)
        rows = [rest for row in rows if (rest := [item for item in row if item != good])]
    return merged
