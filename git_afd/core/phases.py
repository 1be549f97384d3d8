"""The twelve phases as one table (workflow.md, "Required phase record"; design.md §4).

Everything that needs to know a phase reads it here: the fold, the gates, the hooks, the diagram in the docs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Status = Literal["PASS", "FAIL", "BLOCKED", "STOPPED", "SKIPPED"]
STATUSES: Final[tuple[Status, ...]] = ("PASS", "FAIL", "BLOCKED", "STOPPED", "SKIPPED")

Shown = Literal["PASS", "FAIL", "BLOCKED", "STOPPED", "SKIPPED", "stale", "not run"]
"""What `status` shows: a recorded status, or that it no longer holds, or that there is none."""

Binding = Literal["base", "records", "content", "whole"]
"""What a PASS vouches for: the frozen base; the records themselves; production and tests; the whole tree."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase: its number, the workflow's name, the command that decides it, what its PASS is bound to."""

    number: int
    name: str
    command: str
    binding: Binding
    passes_when: str


PHASES: Final = (
    Phase(0, "FREEZE_IDENTITY", "git afd freeze", "base", "four full commit ids, one supported pair and stack"),
    Phase(1, "INVENTORY_AFD_CONTRACTS", "git afd inventory", "base", "every contract and feature cell is listed"),
    Phase(2, "DIFF_BOTH_UPSTREAMS", "git afd diff", "base", "every impact has a confirmed class"),
    Phase(3, "ARCHITECTURE_GATE", "git afd gate architecture", "base", "no stop condition holds, decided to go on"),
    Phase(4, "IMPLEMENT_ATOMIC_ADAPTATIONS", "git afd commit", "records", "every impact disposed of, none open"),
    Phase(5, "STATIC_AND_UNIT_GATE", "git afd gate static", "content", "all checks and the unit suite pass"),
    Phase(6, "TARGET_NATIVE_NPU_CONTROL", "git afd gate native", "content", "one real request served natively"),
    Phase(7, "NPU_BASIC_E2E_GATE", "git afd gate basic", "content", "every expected test ran and passed"),
    Phase(8, "NPU_ACCURACY_GATE", "git afd gate accuracy", "content", "eager and graph, full set, threshold met"),
    Phase(9, "DOCUMENTATION_REFRESH_GATE", "git afd gate docs", "whole", "every claim backed by a validated cell"),
    Phase(10, "FINAL_AUDIT", "git afd gate audit", "whole", "the branch is re-proven from raw evidence"),
    Phase(11, "CAPTURE_LESSONS_AND_REPORT", "git afd report", "whole", "a reviewed lesson and the report"),
)

BY_NAME: Final[Mapping[str, Phase]] = {phase.name: phase for phase in PHASES}

GATES: Final[Mapping[str, Phase]] = {
    "architecture": PHASES[3],
    "static": PHASES[5],
    "native": PHASES[6],
    "basic": PHASES[7],
    "accuracy": PHASES[8],
    "docs": PHASES[9],
    "audit": PHASES[10],
}
"""The word after ``git afd gate`` for each phase that has one."""

GATE_OF: Final[Mapping[str, str]] = {phase.name: gate for gate, phase in GATES.items()}


def settled(status: str) -> bool:
    """Say whether a phase with this shown status lets a later one be entered (no profile allows SKIPPED)."""
    return status == "PASS"


def first_unsettled(shown: Mapping[str, str], before: int = len(PHASES)) -> Phase | None:
    """Return the first phase below number `before` that forbids entering it, None when all are PASS.

    `shown` maps phase names to what status shows; a phase that is missing there counts as not run.
    """
    for phase in PHASES[:before]:
        if not settled(shown.get(phase.name, "not run")):
            return phase
    return None
