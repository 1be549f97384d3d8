"""Judges accuracy from result files: full in every mode, each mode its own run, the frozen threshold met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from git_afd.core.accuracy_rule import Accuracy
from git_afd.core.evidence.control import Control, Difference, difference, judge_control
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.lmeval import Measurement, check_samples, parse_result
from git_afd.core.evidence.questions import same_questions
from git_afd.core.evidence.status import Status
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.percent import percent


@dataclass(frozen=True, slots=True)
class ResultFile:
    """The raw result of one mode: `name` for messages, its bytes, and the samples file when the run kept one."""

    name: str
    data: bytes
    samples_name: str = ""
    samples: bytes | None = None


@dataclass(frozen=True, slots=True)
class AccuracyVerdict:
    """PASS only when every mode that the policy names was measured in full and reached the threshold.

    `measured` holds what could be read, by mode. `diagnostic` names the modes whose run was not the full set:
    they are kept and shown, and never count. `differences` compares each mode with the native control.
    """

    status: Status
    measured: Mapping[str, Measurement]
    diagnostic: tuple[str, ...]
    findings: tuple[Finding, ...]
    differences: Mapping[str, Difference] = field(default_factory=dict)

    def metrics(self) -> dict[str, dict[str, Json]]:
        """Return, by mode, what a record keeps and a report shows; all shares are fractions 0 to 1."""
        shown = {mode: _shown(one, full=mode not in self.diagnostic) for mode, one in self.measured.items()}
        for mode, one in self.differences.items():
            shown[mode]["native"] = one.as_json()
        return shown


def judge_accuracy(
    results: Mapping[str, ResultFile], rule: Accuracy, control: Control | None = None
) -> AccuracyVerdict:
    """Judge the result files, by mode, against the frozen `rule` and the native `control` (None: it is judged itself).

    A full run below the threshold, or beyond a declared bound, is FAIL. A mode that is missing, unreadable, limited,
    the same run as another or not shown to have asked the same questions decides nothing: BLOCKED. Nothing in the
    environment is asked.
    """
    measured, faults = _measured(results, rule)
    diagnostic = tuple(mode for mode, one in measured.items() if not one.is_full(rule.expected_size))
    blocking = [
        *faults,
        *(
            Finding("mode-missing", mode, f"{rule.task} was not measured in mode {mode}.", "Run it in that mode too.")
            for mode in rule.modes
            if mode not in results
        ),
        *(_not_full(mode, measured[mode], rule) for mode in diagnostic),
        *_same_runs(measured),
        *_other_questions({mode: one for mode, one in measured.items() if mode not in diagnostic}),
    ]
    low = [
        _too_low(mode, one, rule)
        for mode, one in measured.items()
        if mode in rule.modes and mode not in diagnostic and not one.value >= rule.threshold
    ]
    notes = [_odd(mode, one) for mode, one in measured.items() if not _is_count(one)]
    found = _differences(measured, control)
    said = [] if control is None else list(judge_control(measured, found, control, rule.bounds))
    low += [one for one in said if one.code == "native-bound"]
    blocking += [one for one in said if one.severity == "error" and one.code != "native-bound"]
    notes += [one for one in said if one.severity == "note"]
    status: Status = "FAIL" if low else "BLOCKED" if blocking or not rule.modes else "PASS"
    return AccuracyVerdict(status, measured, diagnostic, (*low, *blocking, *notes), found)


def _differences(measured: Mapping[str, Measurement], control: Control | None) -> dict[str, Difference]:
    if control is None:
        return {}
    found = {mode: difference(mode, one, control) for mode, one in measured.items()}
    return {mode: one for mode, one in found.items() if one is not None}


def _measured(results: Mapping[str, ResultFile], rule: Accuracy) -> tuple[dict[str, Measurement], list[Finding]]:
    measured: dict[str, Measurement] = {}
    faults: list[Finding] = []
    for mode, result in sorted(results.items()):
        try:
            one = parse_result(result.data, result.name, rule.task, rule.metric)
            if result.samples is not None:
                asked = check_samples(result.samples, result.samples_name, one, rule.metric)
                one = replace(one, questions=asked)
            measured[mode] = one
        except EvidenceFault as fault:
            faults.append(fault.as_finding())
    return measured, faults


def _not_full(mode: str, one: Measurement, rule: Accuracy) -> Finding:
    """Name the count found and what full would be: a run that is not full is a diagnostic, whatever its value."""
    size = rule.expected_size
    if one.limit is not None:
        why = f"lm-eval's limit was {one.limit:g}"
    elif one.original != size:
        why = f"the staged data set holds {one.original}"
    else:
        why = f"only {one.effective} were asked"
    message = (
        f"{mode}: {one.effective} of {size} samples of {rule.task} ({why}); full is {size} of {size} without a limit, "
        "so this run is a diagnostic only."
    )
    return Finding("not-full", one.file, message, f"Run {rule.task} in mode {mode} on all {size} samples.")


def _same_runs(measured: Mapping[str, Measurement]) -> Iterator[Finding]:
    for (mode, one), (other_mode, other) in combinations(measured.items(), 2):
        same = "the same file" if one.digest == other.digest else "of the same run"
        if one.digest == other.digest or (one.date and one.date == other.date):
            message = f"The results of {mode} and {other_mode} are {same} ({one.file}, {other.file})."
            yield Finding("same-run", other.file, message, "Give each mode the result of its own run.")


def _other_questions(measured: Mapping[str, Measurement]) -> Iterator[Finding]:
    """Yield each pair of modes that asked other questions, or that cannot be shown to have asked the same."""
    for (mode, one), (other_mode, other) in combinations(measured.items(), 2):
        proof = same_questions(one, other)
        if proof == "other":
            text = f"{mode} and {other_mode} were asked other questions ({one.file}, {other.file})."
            yield Finding("other-questions", other.file, text, "Let both modes run the same task on the same data.")
        elif proof == "unproven":
            text = f"Nothing shows that {mode} and {other_mode} were asked the same: no task hash, no samples."
            yield Finding("questions-unproven", other.file, text, "Let lm-eval log its samples (--log_samples).")


def _too_low(mode: str, one: Measurement, rule: Accuracy) -> Finding:
    low, high = one.interval
    message = (
        f"{mode}: {rule.metric} of {rule.task} is {percent(one.value)} on {one.effective} samples (95 % interval "
        f"{percent(low)} to {percent(high)}), below the frozen threshold {percent(rule.threshold)}."
    )
    return Finding("below-threshold", one.file, message, "Compare with the native control; find the root cause.")


def _is_count(one: Measurement) -> bool:
    hits = one.value * one.effective
    return abs(hits - round(hits)) < 1e-6 * max(1, one.effective)


def _odd(mode: str, one: Measurement) -> Finding:
    message = f"{mode}: {one.value!r} is no whole number of right answers out of {one.effective}."
    return Finding("odd-value", one.file, message, "Look whether the metric is an average of other things.", "note")


def _shown(one: Measurement, *, full: bool) -> dict[str, Json]:
    low, high = one.interval
    return {
        "value": one.value,
        "stderr": one.stderr,
        "interval_95": [low, high],
        "original": one.original,
        "effective": one.effective,
        "limit": one.limit,
        "full": full,
        "date": one.date,
        "model": one.model,
        "task_version": one.task_version,
        "task_hash": one.task_hash,
        "questions": one.questions,
        "file": one.file,
        "digest": one.digest,
    }
