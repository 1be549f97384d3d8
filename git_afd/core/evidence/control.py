"""The native control of accuracy: the same questions asked of the target runtime without the plugin.

Points are a difference of two shares, relative is that difference as a fraction of the native share; both are
fractions here, and neither is ever taken for the other (domain: accuracy evidence).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from git_afd.core.accuracy_rule import Bounds
from git_afd.core.evidence.lmeval import Measurement
from git_afd.core.evidence.questions import Proof, same_questions
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.percent import percent, points

HOW = "git afd gate accuracy --cell native"
TO_NAME = 'name its commands (cell = "native") in afd.toml, then freeze again'
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Control:
    """What is known of the native control when a run is judged.

    `run` is the run that measured it, empty when there is none, and `measured` its measurements by mode. `offered`
    says whether the policy names commands for it; `failed` is the accuracy run that failed before, since then the
    control is required (workflow, Phase 8).
    """

    run: str = ""
    measured: Mapping[str, Measurement] = field(default_factory=dict)
    offered: bool = False
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One mode against the native control: `points` and its 95 % interval, `relative` (None when native has none)."""

    native: Measurement
    run: str
    points: float
    interval: tuple[float, float]
    relative: float | None
    proof: Proof

    def as_json(self) -> dict[str, Json]:
        """Return it for a record and a report; every number is a fraction."""
        return {
            "run": self.run,
            "value": self.native.value,
            "interval_95": list(self.native.interval),
            "effective": self.native.effective,
            "original": self.native.original,
            "difference_points": self.points,
            "difference_points_95": list(self.interval),
            "difference_relative": self.relative,
            "same_questions": self.proof,
            "file": self.native.file,
            "digest": self.native.digest,
        }


def difference(mode: str, one: Measurement, control: Control) -> Difference | None:
    """Return how `one` differs from the control in the same mode; None when it was not measured in that mode."""
    native = control.measured.get(mode)
    if native is None:
        return None
    apart = one.value - native.value
    relative = apart / native.value if native.value else None
    return Difference(native, control.run, apart, _interval(one, native), relative, same_questions(one, native))


def judge_control(
    measured: Mapping[str, Measurement], differences: Mapping[str, Difference], control: Control, bounds: Bounds
) -> Iterator[Finding]:
    """Yield what the control says of each mode; ``native-bound`` fails, other errors decide nothing.

    A missing control is an error where it is required: after a failure, or when the policy declares a bound.
    """
    required = bool(control.failed) or any(bounds.declared())
    severity = "error" if required else "note"
    absent = [mode for mode in measured if mode not in differences]
    if absent or not measured:
        yield _absent(absent, control, severity)
    for mode, found in differences.items():
        if found.proof in ("other", "unproven"):
            why = (
                "asked other questions" if found.proof == "other" else "does not show that it asked the same questions"
            )
            text = f"{mode}: the native control (run {found.run}) {why}: nothing follows from the difference"
            yield Finding("native-incomparable", found.native.file, text, f"{HOW}, with samples logged", severity)
        else:
            yield from _beyond(mode, found, bounds)


def _absent(modes: Sequence[str], control: Control, severity: str) -> Finding:
    where = f" in mode {' and '.join(modes)}" if modes else ""
    why = f", and run {control.failed} failed before" if control.failed else ""
    text = f"no native control was measured{where}{why}: how far the plugin is from the runtime is not known"
    if not control.offered:
        return Finding("native-absent", "", f"{text} (the policy names no command for it)", TO_NAME, severity)
    return Finding("native-absent", "", text, HOW, severity)


def _beyond(mode: str, found: Difference, bounds: Bounds) -> Iterator[Finding]:
    for name, bound in bounds.declared():
        side, _, kind = name.partition("-")
        value = found.points if kind == "points" else found.relative
        shown = points if kind == "points" else _relative
        if value is None:
            text = f"{mode}: the native control is 0, so {name} cannot be judged"
            yield Finding("native-incomparable", found.native.file, text, HOW)
        elif (-value if side == "drop" else abs(value)) > bound + _ROUNDING:
            most = shown(bound).lstrip("+")
            text = f"{mode}: {shown(value)} from the native control, beyond the frozen bound {name} of {most}"
            yield Finding("native-bound", found.native.file, text, "Find the root cause; the bound stays.")


def _relative(value: float) -> str:
    return f"{percent(value, signed=True)} relative"


def _interval(one: Measurement, native: Measurement) -> tuple[float, float]:
    """Return Newcombe's 95 % interval of a difference of two shares, from the Wilson interval of each.

    It takes the two runs for independent; they answered the same questions, so it is rather too wide.
    """
    (low, high), (native_low, native_high) = one.interval, native.interval
    apart = one.value - native.value
    down = math.hypot(one.value - low, native_high - native.value)
    up = math.hypot(high - one.value, native.value - native_low)
    return max(-1.0, apart - down), min(1.0, apart + up)
