"""What full accuracy means: the policy's word on size, modes, threshold, and on what would lower any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

LOWERS: Final = ("AFD_*_LIMIT", "AFD_*_THRESHOLD", "AFD_*_TOLERANCE")
"""Globs of environment variables that lower what is measured or demanded, when a policy names none of its own."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far from the native control a mode may be; None where the policy declares no bound. All are fractions 0 to 1.

    ``drop`` bounds are one-sided, ``change`` bounds two-sided. Points are the difference of two shares (0.02 is two
    percentage points), relative ones that difference as a fraction of the native share.
    """

    drop_points: float | None = None
    drop_relative: float | None = None
    change_points: float | None = None
    change_relative: float | None = None

    def declared(self) -> Iterator[tuple[str, float]]:
        """Yield each bound that the policy declares, by its key."""
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None:
                yield name.replace("_", "-"), value


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What full accuracy means: task, metric, number of questions, modes, threshold (fraction 0 to 1).

    `lowers` are globs of environment variables that would lower it (workflow, Phase 8); `harmless` maps a variable
    to the one value of it that lowers nothing. `bounds` hold against the native control.
    """

    task: str
    metric: str
    expected_size: int
    modes: tuple[str, ...]
    threshold: float
    threshold_guard: str = ""
    lowers: tuple[str, ...] = LOWERS
    harmless: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)

    def lowering(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Return the variables that are set and would lower what accuracy measures or demands, sorted."""
        return tuple(name for name, value in sorted(environment.items()) if value and self._lowers(name, value))

    def steers(self, name: str) -> bool:
        """Say whether a variable of this name can lower anything, whatever its value."""
        return any(fnmatchcase(name, glob) for glob in self.lowers)

    def _lowers(self, name: str, value: str) -> bool:
        return self.steers(name) and self.harmless.get(name) != value
