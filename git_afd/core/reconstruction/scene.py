"""One block and its surroundings: what stands before and after it, and which upstream statements it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from git_afd.core.reconstruction.units import Unit
from git_afd.core.reconstruction.versions import Block, Versions


@dataclass(frozen=True, slots=True)
class Scene:
    """One block and its surroundings: indices of old units before, covered (first, past the last), and after."""

    versions: Versions
    block: Block
    before: int
    covered: tuple[int, int]
    after: int

    @property
    def own(self) -> list[Unit]:
        """The units inside the block."""
        return self.versions.copy.units[self.block.start : self.block.end]

    @property
    def theirs(self) -> list[Unit]:
        """The old upstream's units that the block stands for."""
        return self.versions.old.units[self.covered[0] : self.covered[1]]

    @property
    def does(self) -> str:
        """What the block does to upstream's statements, in a word."""
        if not self.theirs:
            return "inserts"
        kept = {self.versions.to_old.get(index) for index in range(self.block.start, self.block.end)}
        inside = [index for index in range(*self.covered) if index in kept]
        return "deletes" if not self.own else "encloses" if inside else "replaces"


def covered_by(versions: Versions) -> set[int]:
    """Return the indices of the old units that blocks stand for."""
    scenes = [scene_of(versions, block) for block in versions.blocks]
    return {index for scene in scenes for index in range(*scene.covered)}


def scene_of(versions: Versions, block: Block) -> Scene:
    """Return what a block stands between in the old upstream, and what it stands for there."""
    outside = {own: old for own, old in versions.to_old.items() if not versions.marked(own)}
    before = max((old for own, old in outside.items() if own < block.start), default=-1)
    after = min((old for own, old in outside.items() if own >= block.end), default=len(versions.old.units))
    mine = [old for own, old in versions.to_old.items() if block.start <= own < block.end]
    gap = (before + 1, max(after, before + 1))
    loose = any(
        own not in versions.to_old and not versions.marked(own) for own in _between(versions, block, before, after)
    )
    others = any(other is not block and _in_gap(versions, other, before, after) for other in versions.blocks)
    if mine:
        gap = (min(mine), max(mine) + 1) if loose or others else gap
    elif loose or others:
        gap = (gap[0], gap[0])
    return Scene(versions, block, gap[0] - 1, gap, gap[1])


def _between(versions: Versions, block: Block, before: int, after: int) -> Iterator[int]:
    """Yield the copy's units between a block's neighbours that are its own or nobody's."""
    back = versions.from_old
    first = back.get(before, -1) + 1
    last = back.get(after, len(versions.copy.units))
    return (index for index in range(first, last) if not block.start <= index < block.end)


def _in_gap(versions: Versions, other: Block, before: int, after: int) -> bool:
    back = versions.from_old
    return back.get(before, -1) < other.start and other.end <= back.get(after, len(versions.copy.units))
