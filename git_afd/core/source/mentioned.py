"""Which upstream modules a plugin's analysis will surely read, told from texts alone: a guess that costs nothing wrong.

What is guessed is read ahead by another process; what was not guessed is read when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from git_afd.core.source.definitions import Module, Unreadable

_FROM: Final = r"from[ \t]+((?:%s)(?:\.\w+)*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)"
_NAME: Final = re.compile(r"\w+")


def mentioned(texts: Iterable[str], known: Collection[str]) -> list[str]:
    """Return the modules out of `known` (dotted) that texts name, in the order in which they are first named."""
    packages = sorted({name for name in known if "." not in name}, key=len, reverse=True)
    if not packages:
        return []
    either = "|".join(map(re.escape, packages))
    dotted, imported = re.compile(rf"\b(?:{either})\b(?:\.\w+)*"), re.compile(_FROM % either)
    found: dict[str, None] = {}
    for text in texts:
        for name in dotted.findall(text):
            found[_module(name, known)] = None
        for match in imported.finditer(text):
            found |= dict.fromkeys(f"{match[1]}.{name}" for name in _NAME.findall(match[2]))
    return [name for name in found if name in known]


def _module(name: str, known: Collection[str]) -> str:
    """Return the longest beginning of a dotted name that is a module."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def with_bases(
    names: Iterable[str], known: Collection[str], read: Callable[[str], Module | Unreadable | None]
) -> Iterator[Module]:
    """Yield these modules, and those that their classes' bases are imported from, as far as they can be read."""
    waiting = dict.fromkeys(names)
    seen = set(waiting)
    while waiting:
        name = next(iter(waiting))
        del waiting[name]
        module = read(name)
        if not isinstance(module, Module):
            continue
        yield module
        for other in _of_bases(module):
            if other in known and other not in seen:
                seen.add(other)
                waiting[other] = None


def _of_bases(module: Module) -> Iterator[str]:
    heads = {base.partition(".")[0] for item in module.definitions.values() for base in item.bases}
    for item in module.imports:
        if item.local in heads:
            yield item.module
            yield f"{item.module}.{item.symbol}"
