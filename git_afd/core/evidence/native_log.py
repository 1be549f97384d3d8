"""What a server's log says of itself: the plugins it loaded, what it was told, and what it made of that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.native_cell import LogWords

_COLOR: Final = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Told:
    """What the log says: plugins by name, whether the general ones were `listed` and `every` plugin was loaded.

    Besides: the arguments that the server took, vLLM's versions, every value of each facet, lines that say a fallback.
    """

    plugins: tuple[str, ...] = ()
    listed: bool = False
    every: bool = False
    arguments: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fallbacks: tuple[str, ...] = ()


def read_log(data: bytes, words: LogWords) -> Told:
    """Read a log, colours and all, as it came from the server."""
    text = _COLOR.sub(b"", data).decode(errors="replace")
    engines = list(re.finditer(words.engine, text))
    lines = [_line(text, match) for match in engines]
    return Told(
        plugins=_once(match.group(1) for match in re.finditer(words.loaded, text)),
        listed=re.search(words.listed, text) is not None,
        every=re.search(words.every, text) is not None,
        arguments=_once(match.group(1) for match in re.finditer(words.arguments, text)),
        versions=_once(match.group(1) for match in engines),
        shown={name: _once(_values(pattern, lines)) for name, pattern in words.shows.items()},
        fallbacks=_once(
            _line(text, match).strip()[:300] for name in words.fallbacks for match in re.finditer(name, text)
        ),
    )


def _line(text: str, match: re.Match[str]) -> str:
    end = text.find("\n", match.end())
    return text[text.rfind("\n", 0, match.start()) + 1 : end if end >= 0 else len(text)]


def _values(pattern: str, lines: list[str]) -> Iterator[str]:
    """Yield what each line shows: a named group as ``name=value``, one that took no part is left out."""
    for line in lines:
        match = re.search(pattern, line)
        if match:
            named = {number: name for name, number in match.re.groupindex.items()}
            said = ((named.get(number), value) for number, value in enumerate(match.groups(), start=1) if value)
            yield " ".join(f"{name}={value}" if name else value for name, value in said)


def _once(items: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
