"""What `status` shows: each phase's recorded status, confronted with what is true now.

A PASS that no longer holds is never shown as PASS: its content moved (*stale*), its raw evidence is gone or
damaged (BLOCKED), or the records say otherwise (phase 4 is recomputed from them each time).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from git_afd.core.failing import how_to_classify, unclassified
from git_afd.core.few import few
from git_afd.core.phases import GATE_OF, GATES, PHASES, Phase, first_unsettled
from git_afd.core.recovering import next_step
from git_afd.core.state import ADAPTING, Analysis, Decision, PhaseRecord, Run, Upgrade

_LAST_ANALYSIS: Final = 3
"""The architecture gate: until it has passed, no failure is mended."""


@dataclass(frozen=True, slots=True)
class Now:
    """What is true at this moment: digests of HEAD's content and whole tree, artifacts that are not present.

    `lost` maps a SHA-256 digest that some record names to ``absent`` or ``damaged``; `simulated` says whether
    the frozen policy accepts evidence of a simulated NPU host (the demo's own does, no other may).
    """

    content: str
    whole: str
    lost: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of `status`: a phase and what is shown of it."""

    phase: Phase
    shown: str
    evidence: tuple[str, ...] = ()
    blocker: str = ""
    step: str = ""
    """The command that an open failure waits for before this phase can be decided; empty: none does."""

    def as_json(self) -> dict[str, object]:
        """Return the row for ``--json``."""
        return {
            "number": self.phase.number,
            "phase": self.phase.name,
            "status": self.shown,
            "evidence": list(self.evidence),
            "blocker": self.blocker,
        }


def standing(up: Upgrade, now: Now) -> tuple[Row, ...]:
    """Return the twelve rows, in order; the first that is unsettled says what an open failure waits for."""
    rows = tuple(_row(up, phase, now) for phase in PHASES)
    phase = first_unsettled(shown(rows))
    if phase is None or phase.number <= _LAST_ANALYSIS or not up.open_failures:
        return rows
    step = next_step(up, now.content)
    return tuple(replace(row, step=step) if row.phase is phase else row for row in rows)


def shown(rows: tuple[Row, ...]) -> dict[str, str]:
    """Return what each phase shows, by name."""
    return {row.phase.name: row.shown for row in rows}


def next_action(up: Upgrade, rows: tuple[Row, ...]) -> str:
    """Return the next allowed action as a command line (workflow: next_allowed_action)."""
    if up.closed:
        return "git afd report"
    stopped = any(row.shown == "STOPPED" for row in rows)
    failure = None if stopped else unclassified(up)
    phase = first_unsettled(shown(rows))
    if failure is not None or phase is None:
        return how_to_classify(failure) if failure else "git afd report"
    row = rows[phase.number]
    if row.step or row.shown == "STOPPED":
        return row.step or "git afd close --why WHY"
    if phase.name == "IMPLEMENT_ATOMIC_ADAPTATIONS":
        causes = up.open_root_causes
        return f"git afd commit --root-cause {causes[0].name}" if causes else "git afd root-cause add"
    record = up.phases.get(phase.name)
    if record is not None and record.status == row.shown and row.shown != "PASS" and record.next_allowed_action:
        return record.next_allowed_action
    return phase.command


def implementation(up: Upgrade) -> tuple[str, str]:
    """Return phase 4's status and blocker, computed: PASS when nothing is open and nothing undisposed."""
    if up.decision is None or up.decision.decide != "continue":
        return "not run", ""
    adapting = (cause for cause in up.open_root_causes if cause.kind in ADAPTING)
    causes = ", ".join(cause.name for cause in adapting)  # docs and lessons belong to phases 9 and 11
    if causes:
        return "not run", f"open: {causes}"
    left = up.undisposed
    if left:
        return "not run", f"not disposed of: {few(left)}"
    return "PASS", ""


def _row(up: Upgrade, phase: Phase, now: Now) -> Row:
    record = up.phases.get(phase.name)
    if phase.binding == "records":
        status, blocker = implementation(up)
        return Row(phase, status, record.evidence if record else (), blocker)
    if record is None:
        return Row(phase, "not run")
    if record.status != "PASS":
        return Row(phase, record.status, record.evidence, record.blocker)
    return _passed(up, phase, record, now)


def _passed(up: Upgrade, phase: Phase, record: PhaseRecord, now: Now) -> Row:
    """Confront a recorded PASS with what it rests on."""
    if phase.name in GATE_OF and phase.binding != "base":
        run = run_of(up, phase)
        fault = _fault(run, now)
        if run is None or fault:
            return Row(phase, "BLOCKED", record.evidence, fault)
        moved = _moved(up, phase, run, now)
        artifacts: Mapping[str, str] = run.artifacts
    else:
        analysis = {1: up.inventory, 2: up.diff}.get(phase.number)
        moved = _overtaken(up, phase, record)
        artifacts = {phase.name.lower(): analysis.artifact} if analysis and analysis.artifact else {}
    if moved:
        return Row(phase, "stale", record.evidence, moved)
    lost = [f"raw evidence {name} is {now.lost[digest]}" for name, digest in artifacts.items() if digest in now.lost]
    return Row(phase, "BLOCKED" if lost else "PASS", record.evidence, "; ".join(lost[:1]))


def _overtaken(up: Upgrade, phase: Phase, record: PhaseRecord) -> str:
    """Say which newer record a PASS of phases 1 to 3 does not rest on; empty when it rests on the newest."""
    basis: tuple[Analysis | Decision | None, ...] = (up.inventory, up.diff, up.decision)
    if not 1 <= phase.number <= len(basis):
        return ""
    own = basis[phase.number - 1]
    if own is None or own.record not in record.evidence:
        return "what it rests on was recorded again since"
    before = max((item.seq for item in basis[: phase.number - 1] if item), default=0)
    if own.seq < before:
        return "an earlier phase was recorded again since"
    finding = next((one.name for one in up.architecture_findings if one.architecture > own.seq), "")
    return f"{finding} is an architecture finding since" if finding and own is up.decision else ""


def run_of(up: Upgrade, phase: Phase) -> Run | None:
    """Return the passed run that the record of a gate's phase rests on, None when it names none."""
    record = up.phases.get(phase.name)
    gate = GATE_OF.get(phase.name)
    cited = (run for run in up.runs.values() if record and run.record in record.evidence and run.gate == gate)
    return next((run for run in cited if run.status == "PASS" and not run.diagnostic), None)


def _fault(run: Run | None, now: Now) -> str:
    if run is None:
        return "no passed run stands behind its PASS"
    if run.simulated and not now.simulated:
        return "its run was simulated, which this policy does not accept"
    from git_afd.core.evidence.raw_run import FILE

    bare = FILE not in run.artifacts and GATES[run.gate].binding == "content"
    return f"run {run.name} keeps no raw facts, so nothing stands behind its PASS" if bare else ""


def _moved(up: Upgrade, phase: Phase, run: Run, now: Now) -> str:
    if run.bound.get("commits") != up.freeze.commits_digest or run.bound.get("policy") != up.freeze.policy_digest:
        return "it was judged for other upstream commits or another policy"
    if phase.binding == "content" and run.bound.get("content") != now.content:
        return f"production or tests changed since commit {run.commit[:12]}"
    if phase.binding == "whole" and run.bound.get("whole") != now.whole:
        return f"the tree changed since commit {run.commit[:12]}"
    return ""
