"""Where each marked block goes in the target, found by what stands around it, or exactly why it cannot be told.

The target is the skeleton: what changed between the two upstream commits is never applied to anything. Only the
plugin's own differences move.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.reconstruction.layout import moved
from git_afd.core.reconstruction.merge import merged
from git_afd.core.reconstruction.model import BlockFate, Fate, Question
from git_afd.core.reconstruction.scene import Scene, scene_of
from git_afd.core.reconstruction.units import BRANCHES, Unit, body_end
from git_afd.core.reconstruction.versions import Versions
from git_afd.core.reconstruction.words import nearest, quoted

_KEYWORD: Final = re.compile(r"[A-Za-z_]\w*=(?!=)")


@dataclass(frozen=True, slots=True)
class Edit:
    """Rows of the target (from 1, `last` below `first` for none) that give way to lines."""

    first: int
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of one block, with its edit, and what is to be asked when there is none."""

    fate: BlockFate
    edit: Edit | None = None
    question: Question | None = None


def replay(versions: Versions) -> list[Placed]:
    """Place every block of the copy, in order."""
    return [_placed(scene_of(versions, block)) for block in versions.blocks]


def _placed(scene: Scene) -> Placed:
    block = scene.block
    if block.marker.fault in ("no end", "no start", "other label"):
        half = {"no end": "no PATCH END", "no start": "no PATCH START"}.get(block.marker.fault, "an END of other label")
        text = f"the block {block.marker.label!r} at line {block.marker.line or block.marker.end_line} has {half}"
        return _conflict(scene, 0, 0, "markers", f"{text}: which lines are the plugin's?")
    if block.straddles:
        text = f"the block {block.marker.label!r} begins or ends in the middle of an expression that is no argument"
        return _conflict(scene, 0, 0, "straddle", f"{text}: mark the whole statement, which lines are the plugin's?")
    units = scene.versions.copy.units
    if scene.own and scene.own[-1].opens and block.end < len(units) and units[block.end].depth > scene.own[-1].depth:
        text = (
            f"the block {block.marker.label!r} holds {quoted([scene.own[-1].key])} and not its body, which begins with "
            f"{quoted([units[block.end].key])}"
        )
        return _conflict(scene, 0, 0, "straddle", f"{text}: which of the target's statements belong under it?")
    if _absorbed(scene):
        return Placed(_fate(scene, 1, 1, "absorbed"))
    if scene.own and scene.own[0].kind in BRANCHES and not scene.theirs:
        return _branch(scene)
    return _covering(scene) if scene.theirs else _inserting(scene)


def _fate(scene: Scene, expected: int, found: int, fate: Fate) -> BlockFate:
    marker = scene.block.marker
    return BlockFate(marker.label, expected, found, fate, marker.line, marker.end_line, scene.does)


def _conflict(scene: Scene, expected: int, found: int, code: str, text: str) -> Placed:
    return Placed(_fate(scene, expected, found, "conflict"), None, Question(code, text, scene.block.marker.line))


def _absorbed(scene: Scene) -> bool:
    """Say whether the target holds the block's units in a row, and the old upstream did not."""
    keys = [unit.key for unit in scene.own]
    return bool(keys) and bool(_runs(scene.versions.target.units, keys)) and not _runs(scene.versions.old.units, keys)


def _runs(units: Sequence[Unit], keys: Sequence[str]) -> list[int]:
    """Return where these keys stand in a row."""
    every = [unit.key for unit in units]
    return [index for index in range(len(every) - len(keys) + 1) if every[index : index + len(keys)] == list(keys)]


# --- a block that stands for upstream's own statements


def _covering(scene: Scene) -> Placed:
    versions, (first, last) = scene.versions, scene.covered
    units = versions.target.units
    images = [versions.to_target[index] for index in range(first, last) if index in versions.to_target]
    keys = [unit.key for unit in scene.theirs]
    expected = max(len(_runs(versions.old.units, keys)), 1)
    if not images:
        return _vanished(scene, keys, expected)
    start, end = min(images), max(images) + 1
    end = _widened(scene, start, end)
    if [unit.key for unit in units[start:end]] == keys:
        found = len(_runs(units, keys))
        if found > expected:
            return _doubled(scene, keys, expected, found)
        return Placed(_fate(scene, expected, found, "placed"), _replacing(scene, start, end))
    result = merged(versions, scene.block, scene.covered, (start, end))
    if isinstance(result, Question):
        return Placed(_fate(scene, expected, 0, "conflict"), None, result)
    target = versions.target
    return Placed(
        _fate(scene, expected, 1, "merged"), Edit(target.units[start].first, target.units[end - 1].last, tuple(result))
    )


def _widened(scene: Scene, start: int, end: int) -> int:
    """Return the end with what the target has new at the end of the last compound statement that is covered."""
    units = scene.versions.target.units
    old = set(scene.versions.to_target.values())
    depth = min(unit.depth for unit in units[start:end])
    while end < len(units) and end not in old and (units[end].depth > depth or units[end].kind in BRANCHES):
        end += 1
    return end


def _replacing(scene: Scene, start: int, end: int) -> Edit:
    target, own = scene.versions.target.units, scene.own
    reference = own[0].column if own else scene.theirs[0].column
    columns = target[start].column - reference
    return Edit(target[start].first, target[end - 1].last, tuple(_block_lines(scene, columns)))


def _block_lines(scene: Scene, columns: int) -> list[str]:
    lines = scene.versions.copy.lines[scene.block.first - 1 : scene.block.last]
    return moved(lines, columns)


def _vanished(scene: Scene, keys: Sequence[str], expected: int) -> Placed:
    units = scene.versions.target.units
    found = _runs(units, keys)
    lost = scene.theirs[0]
    text = (
        f"the block {scene.block.marker.label!r} {scene.does} upstream's {quoted(keys)}, "
        f"which the target has {'no longer' if not found else f'{len(found)} times'}; {nearest(lost, units)}"
    )
    return _conflict(scene, expected, len(found), "anchor-gone", f"{text}: which statement does the block stand for?")


def _doubled(scene: Scene, keys: Sequence[str], expected: int, found: int) -> Placed:
    rows = [str(scene.versions.target.units[index].first) for index in _runs(scene.versions.target.units, keys)]
    text = (
        f"the block {scene.block.marker.label!r} stands for upstream's {quoted(keys)}, which was there {expected} times"
        f" and is there {found} times in the target (lines {', '.join(rows)} of the function)"
    )
    return _conflict(scene, expected, found, "anchor-doubled", f"{text}: for which of them?")


# --- a block that only adds


def _inserting(scene: Scene) -> Placed:
    versions = scene.versions
    units = versions.target.units
    before = versions.to_target.get(scene.before) if scene.before >= 0 else -1
    after = versions.to_target.get(scene.after) if scene.after < len(versions.old.units) else len(units)
    if _starts(scene):
        at = _body_start(units)
        return Placed(_fate(scene, 1, 1, "placed"), _insertion(scene, at))
    if before is None and after is None:
        return _lost(scene)
    if before is not None and after is not None:
        return _with_both(scene, before, after)
    return _with_one(scene, before, after)


def _starts(scene: Scene) -> bool:
    """Say whether the block stands first in the function: before all that upstream does, whatever that is."""
    old = scene.versions.old.units
    head = next(index for index, unit in enumerate(old) if unit.kind in ("def", "async"))
    return scene.before <= head or (scene.before == head + 1 and old[scene.before].kind == "docstring")


def _body_start(units: Sequence[Unit]) -> int:
    head = next(index for index, unit in enumerate(units) if unit.kind in ("def", "async"))
    return head + 2 if head + 1 < len(units) and units[head + 1].kind == "docstring" else head + 1


def _with_both(scene: Scene, before: int, after: int) -> Placed:
    """Both neighbours are there; what the target put between them makes the order a question."""
    versions = scene.versions
    units, old = versions.target.units, versions.old.units
    pair = [old[index].key for index in (scene.before, scene.after) if 0 <= index < len(old)]
    expected = max(len(_runs(old, pair)), 1)
    found = len(_runs(units, [units[index].key for index in (before, after) if 0 <= index < len(units)]))
    if before + 1 == after:
        if found > expected and len(pair) == 2:  # noqa: PLR2004 - both neighbours
            return _doubled(scene, pair, expected, found)
        return Placed(_fate(scene, expected, max(found, 1), "placed"), _insertion(scene, after))
    between = units[before + 1 : after]
    closed = before + 1 if _unordered([*scene.own, *between]) else _closed(scene, before, after)
    if closed is not None:
        return Placed(_fate(scene, expected, 1, "placed"), _insertion(scene, closed))
    text = (
        f"the block {scene.block.marker.label!r} stood between {quoted(pair[:1])} and {quoted(pair[1:]) or 'the end'}; "
        f"the target has new statements there, {quoted([unit.key for unit in between])} "
        f"(line {between[0].first} of the function)"
    )
    return _conflict(scene, expected, 0, "order", f"{text}: does the block run before or after them?")


def _unordered(units: Sequence[Unit]) -> bool:
    """Say whether units are keyword arguments: their order means nothing."""
    return bool(units) and all(unit.kind == "argument" and _KEYWORD.match(unit.key) for unit in units)


def _closed(scene: Scene, before: int, after: int) -> int | None:
    """Return the place when the new statements all belong to the compound statement that ends before the block."""
    units, own = scene.versions.target.units, scene.own
    depth = own[0].depth + units[before].depth - scene.versions.old.units[scene.before].depth if own else 0
    if own and all(unit.depth > depth for unit in units[before + 1 : after]):
        return after
    return None


def _lost(scene: Scene) -> Placed:
    versions = scene.versions
    old, units = versions.old.units, versions.target.units
    pair = [index for index in (scene.before, scene.after) if 0 <= index < len(old)]
    near = "; ".join(nearest(old[index], units) for index in pair)
    text = (
        f"the block {scene.block.marker.label!r} stood between {' and '.join(quoted([old[i].key]) for i in pair)}, "
        f"and the target has neither; {near}"
    )
    return _conflict(scene, 1, 0, "anchor-gone", f"{text}: before which statement does the block go now?")


def _with_one(scene: Scene, before: int | None, after: int | None) -> Placed:
    """One neighbour is gone: the other one tells the place when it is the only one of its kind."""
    versions = scene.versions
    old, units = versions.old.units, versions.target.units
    kept, lost = (scene.before, scene.after) if before is not None else (scene.after, scene.before)
    at = before + 1 if before is not None else after
    if kept < 0 or kept >= len(old) or at is None:
        return _lost(scene)
    once = [unit.key for unit in units].count(old[kept].key)
    expected = [unit.key for unit in old].count(old[kept].key)
    gone = old[lost]
    text = (
        f"the block {scene.block.marker.label!r} stood {'before' if before is not None else 'after'} "
        f"{quoted([gone.key])}, which the target no longer has; {nearest(gone, units)}"
    )
    if once == expected == 1 and gone.depth < old[kept].depth:
        text += f"; its other neighbour {quoted([old[kept].key])} lies deeper"
    where = "after" if before is not None else "before"
    place = f"{where} {quoted([old[kept].key])} (line {units[at - 1 if before is not None else at].first})"
    return _conflict(scene, 1, 0, "anchor-gone", f"{text}: does the block go {place}, or elsewhere?")


def _branch(scene: Scene) -> Placed:
    """Put a block that goes on with an if statement after the body of the same header."""
    versions, block = scene.versions, scene.block
    copy, units = versions.copy.units, versions.target.units
    depth = copy[block.start].depth
    header = next((index for index in range(block.start - 1, -1, -1) if copy[index].depth == depth), -1)
    while header >= 0 and header not in versions.to_old and copy[header].kind in BRANCHES:
        header = next((index for index in range(header - 1, -1, -1) if copy[index].depth == depth), -1)
    image = versions.to_target.get(versions.to_old.get(header, -1))
    key = copy[header].key if header >= 0 else ""
    if image is None:
        text = (
            f"the block {block.marker.label!r} goes on with {quoted([key])}, which the target no longer has; "
            f"{nearest(copy[header], units)}"
        )
        return _conflict(scene, 1, 0, "anchor-gone", f"{text}: which statement does the branch belong to?")
    end = body_end(units, image)
    following = units[end] if end < len(units) else None
    was = versions.old.units[scene.after].kind if scene.after < len(versions.old.units) else ""
    goes_on = following is not None and following.depth == units[image].depth and following.kind in BRANCHES
    if following is not None and goes_on and was != following.kind:
        text = (
            f"the block {block.marker.label!r} goes on with {quoted([key])}, and so does the target now with "
            f"{quoted([following.key])} (line {following.first} of the function)"
        )
        return _conflict(scene, 1, 2, "order", f"{text}: which branch comes first?")
    return Placed(_fate(scene, 1, 1, "placed"), _insertion(scene, end, column=units[image].column))


def _insertion(scene: Scene, at: int, *, column: int | None = None) -> Edit:
    """Return the edit that puts the block before unit `at` of the target, with the empty lines it had around it."""
    copy, target, block = scene.versions.copy, scene.versions.target, scene.block
    row = target.units[at - 1].last if at else 0
    last = row
    while last < len(target.lines) and not target.lines[last].strip():
        last += 1
    above = _empty(copy.lines, range(block.first - 2, -1, -1)) if at else 0
    below = _empty(copy.lines, range(block.last, len(copy.lines)))
    below = below or last - row
    ends = last >= len(target.lines)
    columns = (_column(scene, at) if column is None else column) - _own_column(scene)
    lines = _block_lines(scene, columns)
    return Edit(row + 1, last, (*[""] * above, *lines, *([""] * below if not ends else [])))


def _own_column(scene: Scene) -> int:
    if scene.own:
        return scene.own[0].column
    line = scene.versions.copy.lines[scene.block.first - 1]
    return len(line) - len(line.lstrip())


def _column(scene: Scene, at: int) -> int:
    """Return the column of the block in the target: as it stands to a neighbour in the copy."""
    versions = scene.versions
    back, units = versions.from_old, versions.target.units
    images = {target: old for old, target in versions.to_target.items()}
    for index in (at, at - 1):
        old = images.get(index, -1)
        own = back.get(old) if old in (scene.before, scene.after) else None
        if 0 <= index < len(units) and own is not None:
            return units[index].column + _own_column(scene) - versions.copy.units[own].column
    return _own_column(scene)


def _empty(lines: Sequence[str], rows: range) -> int:
    count = 0
    for row in rows:
        if lines[row].strip():
            break
        count += 1
    return min(count, 2)
