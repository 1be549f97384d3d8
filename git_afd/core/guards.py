"""Guarded values: thresholds, tolerances and skips where the plugin defines them, and whether they moved.

Never lower the threshold or widen tolerance to make an upgrade pass (workflow, Phase 8). What stood at the
frozen base is read again from the base commit each time, so nobody has to be believed about it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from git_afd.core.finding import Finding
from git_afd.core.policy import Guard, fits

_REMEDY = "restore it; a changed threshold or tolerance is a separate decision that a person approves"


@dataclass(frozen=True, slots=True)
class Guarded:
    """One value that a guard found: whose guard, which kind, where (repository-relative path, line from 1), what."""

    guard: str
    kind: str
    path: str
    line: int
    value: str

    @property
    def place(self) -> str:
        """Where it stands, as ``path:line``."""
        return f"{self.path}:{self.line}"

    @property
    def number(self) -> float | None:
        """The value as a number, None when it is none."""
        try:
            found = float(self.value)
        except ValueError:
            return None
        return found if math.isfinite(found) else None


def guarded_in(guards: Iterable[Guard], path: str, text: str) -> Iterator[Guarded]:
    """Yield what the guards find in one file, line by line."""
    lines = text.split("\n")
    for guard in guards:
        if fits(path, (guard.path,)):
            pattern = re.compile(guard.pattern)
            for number, line in enumerate(lines, start=1):
                for found in pattern.finditer(line):
                    yield Guarded(guard.name, guard.kind, path, number, found.group(1) or "")


def bar(values: Iterable[Guarded], guard: str, floor: float) -> float:
    """Return the threshold (fraction) to be met: `floor`, or what the guard named `guard` found when that is higher."""
    return max([floor, *(item.number for item in values if item.guard == guard and item.number is not None)])


def moved(then: Collection[Guarded], now: Collection[Guarded], kinds: Collection[str]) -> tuple[Finding, ...]:
    """Compare the values of the frozen base with those of a later commit, for guards of these kinds.

    A lowered threshold and a widened tolerance have the code ``guard-relaxed``; any other change, a value that
    is gone or a new one ``guard-moved``. Lines may move; files, order and values may not.
    """
    pairs = sorted({(item.guard, item.kind, item.path) for item in (*then, *now) if item.kind in kinds})
    found: list[Finding] = []
    for guard, kind, path in pairs:
        old, new = ([item for item in side if (item.guard, item.path) == (guard, path)] for side in (then, now))
        if [item.value for item in old] != [item.value for item in new]:
            found += _compared(guard, kind, old, new)
    return tuple(found)


def _compared(guard: str, kind: str, old: list[Guarded], new: list[Guarded]) -> Iterator[Finding]:
    if len(old) != len(new):
        place = (new or old)[0].place
        said, says = (", ".join(item.value for item in side) or "nothing" for side in (old, new))
        yield Finding("guard-moved", place, f"{guard} in {place} is {says}; at the freeze it was {said}", _REMEDY)
        return
    for before, after in zip(old, new, strict=True):
        if before.value != after.value:
            code = "guard-relaxed" if _relaxed(kind, before, after) else "guard-moved"
            was = f"at the freeze it was {before.value} ({before.place})"
            yield Finding(code, after.place, f"{guard} in {after.place} is {after.value}; {was}", _REMEDY)


def _relaxed(kind: str, before: Guarded, after: Guarded) -> bool:
    if before.number is None or after.number is None:
        return False
    return after.number < before.number if kind == "threshold" else after.number > before.number
