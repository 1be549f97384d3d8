"""Guarded values: thresholds, tolerances and skips where the plugin defines them, and whether they moved.

Never lower the threshold or widen tolerance to make an upgrade pass (workflow, Phase 8). What stood at the
frozen base is read again from the base commit each time, so nobody has to be believed about it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from git_afd.core.finding import Finding
from git_afd.core.policy import Guard, fits

_REMEDY = "restore it; a changed threshold or tolerance is a separate decision that a person approves"
_CLASS = re.compile(r"\\.|\[[^\]]*\]|\(\?[a-zA-Z]+\)")
_WORD = re.compile(r"\w+")
_LONG = 4
_EVERYWHERE = ("pytest", "mark", "self", "test")


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


@dataclass(frozen=True, slots=True)
class GuardChange:
    """One guarded value that is not as it was: whose, where, what stands there now and what stood there before.

    `relaxed` says that a threshold is lower, a tolerance wider, or a skip new.
    """

    guard: str
    kind: str
    path: str
    place: str
    now: str
    was: str
    relaxed: bool

    @property
    def subject(self) -> str:
        """What an approval of it names: the value that may stand there, whatever stood there before."""
        return f"{self.guard} in {self.path}: {self.now}"

    @property
    def finding(self) -> Finding:
        """The change as a finding."""
        code = "guard-relaxed" if self.relaxed else "guard-moved"
        return Finding(code, self.place, f"{self.guard} in {self.place} is {self.now}; {self.was}", _REMEDY)


def moved(
    then: Collection[Guarded],
    now: Collection[Guarded],
    kinds: Collection[str],
    approved: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Finding, ...]:
    """Compare the values of the frozen base with those of a later commit, for guards of these kinds.

    A lowered threshold and a widened tolerance have the code ``guard-relaxed``; any other change, a value that
    is gone or a new one ``guard-moved``. Lines may move; files, order and values may not. What `approved` holds
    (GuardChange.subject to the name of who decided) is a note, ``guard-approved``.
    """
    return tuple(_said(change, approved.get(change.subject)) for change in changed_values(then, now, kinds))


def _said(change: GuardChange, name: str | None) -> Finding:
    if name is None:
        return change.finding
    return Finding("guard-approved", change.place, f"{change.finding.message}; {name} approved it", "", "note")


def changed_values(
    then: Collection[Guarded], now: Collection[Guarded], kinds: Collection[str]
) -> tuple[GuardChange, ...]:
    """Return what :func:`moved` finds, as values."""
    pairs = sorted({(item.guard, item.path) for item in (*then, *now) if item.kind in kinds})
    found: list[GuardChange] = []
    for guard, path in pairs:
        old, new = ([item for item in side if (item.guard, item.path) == (guard, path)] for side in (then, now))
        if [item.value for item in old] != [item.value for item in new]:
            found += _compared(old, new)
    return tuple(found)


def new_skips(then: Collection[Guarded], now: Collection[Guarded]) -> tuple[GuardChange, ...]:
    """Return the skips and deselections that nothing of `then` accounts for.

    A skip may move to another line or file; both sides hold every file that differs.
    """
    had = Counter((item.guard, _folded(item.value)) for item in then if item.kind == "skip")
    found: list[GuardChange] = []
    for item in (one for one in now if one.kind == "skip"):
        key = (item.guard, _folded(item.value))
        had[key] -= 1
        if had[key] < 0:
            said = (item.guard, item.kind, item.path, item.place, key[1])
            found.append(GuardChange(*said, "it was not there before", relaxed=True))
    return tuple(found)


def words_of(guards: Iterable[Guard]) -> tuple[str, ...]:
    """Return words of which a line that a guard finds is likely to hold one: a quick look before the pattern itself.

    The hooks take it, since regular expressions cost them more than all else. A pattern without a word of four
    letters gives the empty word, which every file holds.
    """
    found: dict[str, None] = {}
    for guard in guards:
        said = _WORD.findall(_CLASS.sub(" ", guard.pattern))
        words = [word for word in said if len(word) >= _LONG and word not in _EVERYWHERE]
        found |= dict.fromkeys(words or [""])
    return tuple(found)


def _folded(value: str) -> str:
    return " ".join(value.split())


def _compared(old: list[Guarded], new: list[Guarded]) -> Iterator[GuardChange]:
    first = (new or old)[0]
    if len(old) != len(new):
        said, says = (", ".join(item.value for item in side) or "nothing" for side in (old, new))
        was = f"at the freeze it was {said}"
        yield GuardChange(first.guard, first.kind, first.path, first.place, says, was, relaxed=False)
        return
    for before, after in zip(old, new, strict=True):
        if before.value != after.value:
            was = f"at the freeze it was {before.value} ({before.place})"
            relaxed = _relaxed(first.kind, before, after)
            yield GuardChange(after.guard, after.kind, after.path, after.place, after.value, was, relaxed)


def _relaxed(kind: str, before: Guarded, after: Guarded) -> bool:
    if before.number is None or after.number is None:
        return False
    return after.number < before.number if kind == "threshold" else after.number > before.number
