"""Judges again what an earlier gate's PASS rests on, before a later gate is entered (design.md, tenets 4 and 6).

A record is a claim: whoever can write to the ledger can write that a run passed. Its raw facts and files say whether
it did, and on what.
"""

from __future__ import annotations

from git_afd.actions.gate.judge import judge_raw, raw_of
from git_afd.adapters.session import Session
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.phases import GATE_OF, PHASES, Phase
from git_afd.core.standing import run_of
from git_afd.core.state import Run, Upgrade
from git_afd.errors import Blocked


def insist_earlier(session: Session, up: Upgrade, phase: Phase) -> None:
    """Raise Blocked when a gate before `phase` does not pass again from its raw evidence.

    Status has shown all of them as PASS already: that their artifacts are there, not what they say.
    """
    for earlier in PHASES[: phase.number]:
        if earlier.binding != "content":
            continue
        run = run_of(up, earlier)
        doubt = _doubt(session, up, run) if run is not None else "no passed run stands behind it"
        if doubt:
            raise Blocked(
                f"{earlier.name} does not pass from its raw evidence: {doubt}",
                f"git afd gate {GATE_OF[earlier.name]}",
                code="not-proven",
            )


def _doubt(session: Session, up: Upgrade, run: Run) -> str:
    """Say why the raw evidence of a recorded run does not bear out its PASS; empty when it does."""
    try:
        raw = raw_of(session, run)
        verdict = judge_raw(session, up, raw, but=run.name)
    except EvidenceFault as fault:
        return fault.message
    if verdict.status != "PASS":
        return f"{run.name} is {verdict.status}: {verdict.blocker}"
    said = (raw.gate, raw.identity.upgrade, raw.identity.commit, raw.identity.bound())
    if said != (run.gate, up.id, run.commit, dict(run.bound)):
        return f"the raw facts of {run.name} are of another run"
    return f"{run.name} was a diagnostic" if raw.diagnostic or verdict.partial else ""
