"""Aligning two versions of a function unit by unit: in order, the same before the similar, long before short."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from git_afd.core.reconstruction.units import Unit, alike

SIMILAR: Final = 0.6
_OTHER_DEPTH: Final = 0.4
_NEXT_TO: Final = 0.3
_MARKED: Final = 0.5


def align(left: Sequence[Unit], right: Sequence[Unit], lesser: Container[int] = ()) -> dict[int, int]:
    """Map indices of `left` to those of `right`: what is the same, and what was changed but is still recognised.

    The heaviest common subsequence (a same unit weighs by its length, one at another depth a little less); what
    begins and ends alike is taken as it is, so that a repeated statement is never taken for its twin. `lesser` are
    indices of `left` that give way to others of the same key.
    """
    start = 0
    while start < min(len(left), len(right)) and _same(left[start], right[start]):
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and _same(left[-1 - end], right[-1 - end]):
        if len(left) - 1 - end in lesser:
            break
        end += 1
    found = {index: index for index in range(start)}
    behind = {index - start for index in range(start, len(left) - end) if index in lesser}
    middle = _heaviest(left[start : len(left) - end], right[start : len(right) - end], behind)
    found.update({start + one: start + other for one, other in middle})
    found.update({len(left) - 1 - index: len(right) - 1 - index for index in range(end)})
    return dict(sorted(found.items()))


def _same(one: Unit, other: Unit) -> bool:
    return one.key == other.key and one.depth == other.depth


def _heaviest(left: Sequence[Unit], right: Sequence[Unit], lesser: Container[int]) -> list[tuple[int, int]]:
    rows, columns = len(left), len(right)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    weights = [[_weight(one, other, index in lesser) for other in right] for index, one in enumerate(left)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            weight = weights[row][column]
            next_too = row + 1 < rows and column + 1 < columns and weights[row + 1][column + 1] > 0
            both = best[row + 1][column + 1] + weight + (_NEXT_TO if next_too else 0.0) if weight else 0.0
            best[row][column] = max(both, best[row + 1][column], best[row][column + 1])
    return list(_walk(best, weights))


def _walk(best: list[list[float]], weights: list[list[float]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    row = column = 0
    while row < len(weights) and column < len(weights[0]):
        if weights[row][column] and best[row][column] > max(best[row + 1][column], best[row][column + 1]):
            found.append((row, column))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return found


def _weight(one: Unit, other: Unit, lesser: bool) -> float:  # noqa: FBT001 - private
    if one.kind != other.kind:
        return 0.0
    degree = alike(one, other)
    if degree < SIMILAR:
        return 0.0
    size = min(len(one.words), 20) / 10
    weight = (1.0 + size) if degree == 1.0 else degree * (0.4 + size / 2)
    return max(weight - _OTHER_DEPTH * (one.depth != other.depth) - _MARKED * lesser, 0.05)
