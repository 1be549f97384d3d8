"""What `status` shows: each phase's recorded status, confronted with what is true now.

A PASS that no longer holds is never shown as PASS: its content moved (*stale*), its raw evidence is gone or
damaged (BLOCKED), or the records say otherwise (phase 4 is recomputed from them each time).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from git_afd.core.phases import GATES, PHASES, Phase, first_unsettled
from git_afd.core.state import PhaseRecord, Run, Upgrade

_GATE_OF = {phase.name: gate for gate, phase in GATES.items()}


@dataclass(frozen=True, slots=True)
class Now:
    """What is true at this moment: digests of HEAD's content and whole tree, artifacts that are not present.

    `lost` maps a SHA-256 digest that some record names to ``absent`` or ``damaged``.
    """

    content: str
    whole: str
    lost: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of `status`: a phase and what is shown of it."""

    phase: Phase
    shown: str
    evidence: tuple[str, ...] = ()
    blocker: str = ""

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
    """Return the twelve rows, in order."""
    return tuple(_row(up, phase, now) for phase in PHASES)


def shown(rows: tuple[Row, ...]) -> dict[str, str]:
    """Return what each phase shows, by name."""
    return {row.phase.name: row.shown for row in rows}


def next_action(up: Upgrade, rows: tuple[Row, ...]) -> str:
    """Return the next allowed action as a command line (workflow: next_allowed_action)."""
    if up.closed:
        return "git afd report"
    phase = first_unsettled(shown(rows))
    if phase is None:
        return "git afd report"
    row = rows[phase.number]
    if row.shown == "STOPPED":
        return "git afd status"
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
    adapting = (cause for cause in up.open_root_causes if cause.kind in ("adaptation", "failure-fix"))
    causes = ", ".join(cause.name for cause in adapting)  # docs and lessons belong to phases 9 and 11
    if causes:
        return "not run", f"open: {causes}"
    left = up.undisposed
    if left:
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""  # noqa: PLR2004 - three fit on a line
        return "not run", f"not disposed of: {', '.join(left[:3])}{more}"
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
    analysis = {1: up.inventory, 2: up.diff}.get(phase.number)
    digests = {phase.name.lower(): analysis.artifact} if analysis and analysis.artifact else {}
    run = _run_of(up, phase, record)
    if phase.name in _GATE_OF and phase.binding != "base":
        if run is None:
            return Row(phase, "BLOCKED", record.evidence, "no run stands behind its PASS")
        digests = {**run.artifacts}
        moved = _moved(up, phase, run, now)
        if moved:
            return Row(phase, "stale", record.evidence, moved)
    for name, digest in digests.items():
        if digest in now.lost:
            return Row(phase, "BLOCKED", record.evidence, f"raw evidence {name} is {now.lost[digest]}")
    return Row(phase, "PASS", record.evidence)


def _run_of(up: Upgrade, phase: Phase, record: PhaseRecord) -> Run | None:
    gate = _GATE_OF.get(phase.name)
    cited = (run for run in up.runs.values() if run.record in record.evidence and run.gate == gate)
    return next((run for run in cited if run.status == "PASS"), None)


def _moved(up: Upgrade, phase: Phase, run: Run, now: Now) -> str:
    if run.bound.get("commits") != up.freeze.commits_digest or run.bound.get("policy") != up.freeze.policy_digest:
        return "it was judged for other upstream commits or another policy"
    if phase.binding == "content" and run.bound.get("content") != now.content:
        return f"production or tests changed since commit {run.commit[:12]}"
    if phase.binding == "whole" and run.bound.get("whole") != now.whole:
        return f"the tree changed since commit {run.commit[:12]}"
    return ""
