"""What the frozen commits hold at the places that rows name: the facts against which rows are checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from git_afd.core.source.world import World
from git_afd.core.workbook.symbols import Binding, Source, Unparsable, look_up, plain, still_reached

PLUGIN: Final = "plugin"
"""The side of the plugin at the frozen base commit; the other sides are names.REVISION_KEYS."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place that a row names: side, repository-relative path, qualified symbol (empty: the file itself)."""

    side: str
    path: str
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Frozen:
    """The named files. `sources` maps (side, path) to what was found, a text that says why not, or None (absent).

    `blobs` maps (side, path) to the blob id of a file that is there; `commits` maps a side to its full id;
    `reached` says of a place whose file does not define it how it may be reached all the same.
    """

    commits: Mapping[str, str]
    blobs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    sources: Mapping[tuple[str, str], Source | str | None] = field(default_factory=dict)
    reached: Mapping[Place, str] = field(default_factory=dict)

    def present(self, place: Place) -> bool:
        """Say whether path and symbol are proven to be there."""
        return not self.why_absent(place)

    def why_absent(self, place: Place) -> str:
        """Say why a place is not proven to be there, as the end of a sentence; empty when it is."""
        where = self.where(place.side)
        if (place.side, place.path) not in self.blobs:
            return f"{place.path} is no file {where}"
        if not place.symbol:
            return ""
        if not place.path.endswith(".py"):
            return f"{place.path} is no Python file, so no symbol can be proven in it"
        source = self.sources.get((place.side, place.path))
        if not isinstance(source, Source):
            return f"{place.path} cannot be read as Python {where} ({source})"
        if plain(place.symbol) in source.found:
            return ""
        hint = f"; {source.hides}, so name where it is defined" if source.hides else ""
        return f"{place.path} defines no {place.symbol} {where}{hint}"

    def why_not_moved(self, place: Place) -> str:
        """Say why a place may still define its symbol, as the end of a sentence; empty when it proven does not.

        A file that only imports the name from its new home does not define it.
        """
        where = self.where(place.side)
        if (place.side, place.path) not in self.blobs:
            return ""
        if not place.symbol:
            return f"{place.path} is there {where}"
        source = self.sources.get((place.side, place.path))
        if not isinstance(source, Source):
            return f"{place.path} cannot be read as Python {where} ({source or 'it is none'})"
        found = self.binding(place)
        return (
            f"{place.path} defines {place.symbol} {where} on line {found.line}" if found and not found.imported else ""
        )

    def why_not_gone(self, place: Place) -> str:
        """Say why a place is not proven to be gone altogether, as the end of a sentence; empty when it is."""
        return self.why_not_moved(place) or self.reached.get(place, "")

    def binding(self, place: Place) -> Binding | None:
        """Return where the file binds the symbol, None when it does not or cannot be read."""
        source = self.sources.get((place.side, place.path))
        return source.found.get(plain(place.symbol)) if isinstance(source, Source) else None

    def lines(self, place: Place) -> tuple[int, int]:
        """Return first and last line (from 1) of the symbol's definition, (0, 0) when there is none."""
        found = self.binding(place)
        return (found.line, found.end_line) if found else (0, 0)

    def where(self, side: str) -> str:
        """Say which commit a side is: ``at vllm.target 0123456789ab``."""
        name = "the frozen base" if side == PLUGIN else side
        return f"at {name} {self.commits[side][:12]}"


def survey(
    commits: Mapping[str, str],
    places: Iterable[Place],
    files: Mapping[tuple[str, str], tuple[str, bytes]],
    targets: World | None = None,
) -> Frozen:
    """Look every place up in `files`, which maps (side, path) of each file that is there to blob id and content.

    A file is parsed once and its tree dropped at once. `targets` are both upstreams at their targets: there a name
    that its file does not define is followed further.
    """
    wanted: dict[tuple[str, str], set[str]] = {}
    places = tuple(places)
    for place in places:
        names = wanted.setdefault((place.side, place.path), set())
        if place.symbol:
            names.add(place.symbol)
    sources: dict[tuple[str, str], Source | str | None] = {}
    for key, symbols in wanted.items():
        if key in files and symbols and key[1].endswith(".py"):
            sources[key] = _source(files[key][1], symbols)
    found = Frozen(commits, {key: files[key][0] for key in wanted if key in files}, sources)
    if targets is None:
        return found
    lost = [place for place in places if place.side.endswith(".target") and place.symbol and not _defined(found, place)]
    return replace(found, reached={place: still_reached(targets, place.path, place.symbol) for place in lost})


def _defined(frozen: Frozen, place: Place) -> bool:
    binding = frozen.binding(place)
    return binding is not None and not binding.imported


def _source(content: bytes, symbols: Iterable[str]) -> Source | str:
    try:
        return look_up(content, symbols)
    except Unparsable as why:
        return str(why)
