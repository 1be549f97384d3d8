"""Where an upstream sets attributes that the class of the object does not define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.core.contracts.facts import Read
from git_afd.core.contracts.imports import enclosing
from git_afd.core.source.search import Corpus, assignments
from git_afd.core.source.world import PLUGIN, Located, World

_LEAST: Final = 2
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class SetElsewhere:
    """An upstream function that sets an attribute on objects of a class that does not define it."""

    who: str
    path: str
    module: str
    symbol: str
    line: int


Setters = Mapping[tuple[Located, str], SetElsewhere]
"""By the class and the attribute."""


def setters(reads: Iterable[Read], world: World, corpus: Corpus, touched: set[str]) -> Setters:
    """Find who sets what is read and not defined: an assignment on an object that is called like what is read.

    Objects are called alike when their names are the same, when one ends in the other (``cur_forward_context``,
    ``get_forward_context()``), or when the name is the class's or two words of it. The same name and a file that the
    plugin touches (`touched`) count for more. An attribute of the same name on another object says nothing.
    """
    wanted: dict[str, list[Read]] = {}
    for read in reads:
        if not read.attribute.startswith("__"):
            wanted.setdefault(read.attribute, []).append(read)
    best: dict[tuple[Located, str], tuple[int, SetElsewhere]] = {}
    for who, tree in reversed([item for item in world.trees.items() if item[0] != PLUGIN]):
        settled = {name for _, name in best}
        for path, name, base, line in assignments(corpus(who), set(wanted) - settled):
            for read in wanted[name] if base not in ("self", "cls", "") else ():
                worth = 2 * _alike(base, read) + (path in touched)
                known = best.get((read.owner, name))
                if worth < _LEAST or (known is not None and known[0] >= worth):
                    continue
                module = world.module(who, tree.name_of(path))
                symbol = enclosing(module, line) if module else ""
                if module and symbol:
                    best[read.owner, name] = worth, SetElsewhere(who, path, module.name, symbol, line)
    return {key: place for key, (_, place) in best.items()}


def _alike(base: str, read: Read) -> int:
    """Return how much an object's name says that it is the one that is read: 2 the same, 1 alike, 0 nothing."""
    chain = read.chain.rpartition(".")[0].rpartition(".")[2].removesuffix("()").removesuffix("[]").removeprefix("get_")
    klass = _CAPITAL.sub("_", read.owner.symbol.rpartition(".")[2]).lower()
    if base == chain:
        return 2
    if "_" in base.strip("_") and f"_{base}_" in f"_{klass}_":
        return 1
    return int(any(other and (base == other or _ends(base, other) or _ends(other, base)) for other in (chain, klass)))


def _ends(longer: str, shorter: str) -> bool:
    return longer.endswith(f"_{shorter.lstrip('_')}")
