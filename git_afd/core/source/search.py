"""Searching the raw text of a whole upstream for what no look-up by name can find. Bytes in, few places out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

Corpus = Callable[[str], Mapping[str, bytes]]
"""Gives the sources of an upstream's package by path; read once, when first asked for."""

_DEF: Final = re.compile(rb"def (\w+)")
"""It begins with plain text, which is sought eight times as fast as a pattern that begins with a word boundary."""

_SET: Final = rb"\.(%s)[ \t]*(?::[^=\n]{1,80})?=(?!=)"
_SETATTR: Final = rb"setattr\([ \t]*(\w+),[ \t]*[\"'](%s)[\"']"
_FEW: Final = 16
"""So many words are sought one by one in less time than the pattern takes."""

_NAME_END: Final = re.compile(rb"\w+\Z")


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
    assigned, by_name = re.compile(_SET % either), re.compile(_SETATTR % either)
    few = len(words) <= _FEW
    for path, data in corpus.items():
        if few and not any(word in data for word in words):
            continue
        for match in assigned.finditer(data):
            yield path, match[1].decode(), _before(data, match.start()).decode("utf-8", "replace"), _line(data, match)
        for match in by_name.finditer(data):
            yield path, match[2].decode(), match[1].decode("utf-8", "replace"), _line(data, match)


def _line(data: bytes, match: re.Match[bytes]) -> int:
    return data.count(b"\n", 0, match.start()) + 1


def _before(data: bytes, end: int) -> bytes:
    """Return the name that ends just before a position."""
    found = _NAME_END.search(data, max(0, end - 80), end)
    return found[0] if found else b""


def blocks(lines: Sequence[str], name: str) -> Iterator[tuple[int, int]]:
    """Yield first and last line (from 1) of each function of a name, by indentation alone."""
    start = re.compile(rf"([ \t]*)(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b")
    for number, line in enumerate(lines):
        match = start.match(line) if name in line else None
        if match is not None:
            yield number + 1, _last_line(lines, number, len(match[1]))


def _last_line(lines: Sequence[str], first: int, indent: int) -> int:
    body = first
    while body < len(lines) and not lines[body].partition("  #")[0].rstrip().endswith(":"):
        body += 1
    last = body + 1
    for number in range(body + 1, len(lines)):
        text = lines[number]
        if text.strip():
            if len(text) - len(text.lstrip()) <= indent:
                break
            last = number + 1
    return last


def definers(corpus: Mapping[str, bytes], names: frozenset[str]) -> dict[str, list[str]]:
    """Return for each function name the paths of files that define a function of that name."""
    wanted = {name.encode(): name for name in names}
    found: dict[str, list[str]] = {}
    for path, data in corpus.items():
        for word in set(_DEF.findall(data)) & set(wanted):
            found.setdefault(wanted[word], []).append(path)
    return found
