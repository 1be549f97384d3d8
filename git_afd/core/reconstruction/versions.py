"""The three versions side by side: the copy, the old upstream, the target, each as lines and units, aligned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.contracts.model import Marker
from git_afd.core.reconstruction.align import align
from git_afd.core.reconstruction.operands import (
    condition_around,
    exploded_condition,
    same_condition,
    spread_condition,
)
from git_afd.core.reconstruction.spread import exploded, opener_around, spread
from git_afd.core.reconstruction.units import Reading, Unit, read_units

_WORD: Final = re.compile(r"[A-Za-z_]\w*|\S")
_BOUND: Final = re.compile(r"\bas (\w+)|\bfor (\w+) in|^(\w+) = ")


@dataclass(slots=True)
class Version:
    """One version of the function: its lines from the margin, and its units in order."""

    lines: list[str]
    units: list[Unit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Block:
    """A marked block of the copy: marker, rows of its halves (from 1), indices of its first and past its last unit.

    `straddles` says that a unit lies across one of its ends.
    """

    marker: Marker
    first: int
    last: int
    start: int
    end: int
    straddles: bool = False


@dataclass(slots=True)
class Versions:
    """All three, with maps of unit indices: copy to old, old to target; and the blocks of the copy."""

    copy: Version
    old: Version
    target: Version
    to_old: dict[int, int] = field(default_factory=dict)
    to_target: dict[int, int] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)

    @property
    def from_old(self) -> dict[int, int]:
        """Old unit index to the copy's."""
        return {old: own for own, old in self.to_old.items()}

    def marked(self, index: int) -> bool:
        """Say whether a unit of the copy lies in a block."""
        return any(block.start <= index < block.end for block in self.blocks)


def read_versions(
    copy: list[str], old: list[str], target: list[str], markers: Sequence[Marker], reading: Reading
) -> Versions:
    """Read and align the three versions; `markers` have rows of the copy's lines. Raises NoUnits."""
    versions = Versions(Version(copy), Version(old), Version(target), reading=reading)
    _read(versions, markers)
    renamed = renamed_locals(versions)
    if renamed:
        versions.reading = Reading(reading.aliases, {**reading.renamed, **renamed})
        _read(versions, markers)
    return versions


def _read(versions: Versions, markers: Sequence[Marker]) -> None:
    for version in (versions.copy, versions.old, versions.target):
        version.units = _units(version.lines, versions.reading)
    for marker in markers:
        _open(versions, marker, versions.reading)
    versions.blocks = [_block(marker, versions.copy.units) for marker in markers]
    versions.to_old = align(
        versions.copy.units, versions.old.units, {i for i in range(len(versions.copy.units)) if versions.marked(i)}
    )
    versions.to_target = align(versions.old.units, versions.target.units)


def renamed_locals(versions: Versions) -> dict[str, str]:
    """Return local names that the copy gave another name everywhere, by their name in the copy."""
    units, old = versions.copy.units, versions.old.units
    names: dict[str, str] = {}
    for own, other in versions.to_old.items():
        mine, theirs = _WORD.findall(units[own].key), _WORD.findall(old[other].key)
        if mine != theirs and len(mine) == len(theirs):
            for one, two in zip(mine, theirs, strict=True):
                if one != two:
                    names.setdefault(one, two)
    before, after = ({word for unit in side for word in unit.words} for side in (old, units))
    bound = {word for unit in units for match in _BOUND.findall(unit.key) for word in match if word}
    return {
        one: two
        for one, two in names.items()
        if one in bound and two.isidentifier() and one not in before and two not in after
    }


def _units(lines: Sequence[str], reading: Reading) -> list[Unit]:
    return [unit for unit in read_units(lines, reading) if unit.kind != "global" or not reading.aliases]


def _open(versions: Versions, marker: Marker, reading: Reading) -> None:
    """Take apart the brackets around a block that lies inside an expression, in all three versions."""
    units = versions.copy.units
    around = next((unit for unit in units if unit.first < marker.line and marker.end_line <= unit.last), None)
    opener = opener_around(versions.copy.lines, around, marker.line, marker.end_line, reading) if around else None
    if opener is None:
        if around is not None:
            _open_condition(versions, around, marker, reading)
        return
    for version in (versions.copy, versions.old, versions.target):
        if version is not versions.copy:
            version.lines[:] = spread(version.lines, version.units, opener, reading)
            version.units = _units(version.lines, reading)
        version.units = exploded(version.lines, version.units, opener, reading)


def _open_condition(versions: Versions, around: Unit, marker: Marker, reading: Reading) -> None:
    """Take apart the condition around a block that adds, drops or replaces operands."""
    copy = versions.copy
    found = condition_around(copy.lines, around, marker.line, marker.end_line, reading)
    if found is None:
        return
    keys = [item.key for item in found.operands if not marker.line < item.row < marker.end_line]
    old = same_condition(versions.old.lines, versions.old.units, found, keys, reading)
    if old is None:
        return
    copy.units = exploded_condition(copy.lines, copy.units, found)
    for version in (versions.old, versions.target):
        there = same_condition(version.lines, version.units, found, keys, reading)
        if there is not None:
            version.lines[:] = spread_condition(version.lines, there, found.operator)
            version.units = _units(version.lines, reading)
            now = same_condition(version.lines, version.units, found, keys, reading)
            version.units = exploded_condition(version.lines, version.units, now) if now else version.units


def _block(marker: Marker, units: Sequence[Unit]) -> Block:
    inside = [index for index, unit in enumerate(units) if marker.line < unit.first and unit.last < marker.end_line]
    after = next((index for index, unit in enumerate(units) if unit.first > marker.line), len(units))
    start, end = (inside[0], inside[-1] + 1) if inside else (after, after)
    across = any(unit.first < mark < unit.last + 1 for unit in units for mark in (marker.line, marker.end_line))
    return Block(marker, marker.line, marker.end_line, start, end, across)
