"""Searching the raw text of a whole upstream for what no look-up by name can find. Bytes in, few places out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

Corpus = Callable[[str], Mapping[str, bytes]]
"""Gives the sources of an upstream's package by path; read once, when first asked for."""

_DEF: Final = re.compile(rb"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_SET: Final = rb"(?:\b(\w+)\.(%s)[ \t]*(?::[^=\n]{1,80})?=(?!=)|\bsetattr\([ \t]*(\w+),[ \t]*[\"'](%s)[\"'])"


def importers(corpus: Mapping[str, bytes], word: str) -> Iterator[str]:
    """Yield the paths of files that seem to import a word by ``from … import``."""
    plain = word.encode()
    near = re.compile(
        rb"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\([^)]*\b%s\b|[^(\n]*\b%s\b)" % (plain, plain), re.MULTILINE
    )
    for path, data in corpus.items():
        if plain in data and near.search(data):
            yield path


def assignments(corpus: Mapping[str, bytes], names: Iterable[str]) -> Iterator[tuple[str, str, str, int]]:
    """Yield where an attribute of one of these names is assigned: path, name, object it is assigned on, line."""
    words = [name.encode() for name in names]
    if not words:
        return
    either = b"|".join(re.escape(word) for word in words)
    pattern = re.compile(_SET % (either, either))
    for path, data in corpus.items():
        if any(word in data for word in words):
            for match in pattern.finditer(data):
                base, name = (match[1], match[2]) if match[1] else (match[3], match[4])
                yield path, name.decode(), base.decode("utf-8", "replace"), data.count(b"\n", 0, match.start()) + 1


def definers(corpus: Mapping[str, bytes], names: frozenset[str]) -> dict[str, list[str]]:
    """Return for each function name the paths of files that define a function of that name."""
    wanted = {name.encode(): name for name in names}
    found: dict[str, list[str]] = {}
    for path, data in corpus.items():
        for word in set(_DEF.findall(data)) & set(wanted):
            found.setdefault(wanted[word], []).append(path)
    return found
