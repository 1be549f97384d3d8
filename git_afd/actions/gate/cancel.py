"""``git afd gate NAME --cancelled --why WHY``: somebody decided that the gate is not run to its end.

An interrupted run has no verdict; this is the word on it. The phase is BLOCKED with who and why, which nothing but a
passed run takes away: an upgrade without it is closed, not complete (scenario U2).
"""

from __future__ import annotations

from collections.abc import Sequence

from git_afd.actions.gate.order import Order
from git_afd.actions.gate.record import open_upgrade
from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.core.gating import phase_body
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import GATES
from git_afd.core.records import Draft
from git_afd.core.state import State, Upgrade
from git_afd.errors import Exit, Refused


def cancel(session: Session, order: Order) -> Outcome:
    """Record that a gate was cancelled; a second time with the same words changes nothing.

    Raises Refused when the upgrade is closed or the gate has passed.
    """
    up = session.upgrade(session.reading(strict=True))
    phase = GATES[order.gate]
    _refuse_done(session, up, order)
    blocker = f"cancelled by {session.actor}: {order.why}"

    def decide(state: State) -> Sequence[Draft]:
        now = open_upgrade(state, up.id)
        evidence = _interrupted(now, order.gate)
        known = now.phases.get(phase.name)
        if known is not None and (known.status, known.blocker, known.evidence) == ("BLOCKED", blocker, evidence):
            return ()
        body = phase_body(order.gate, "BLOCKED", evidence, blocker)
        return (Draft("phase", up.id, body, session.head or up.freeze.base),)

    written = () if order.dry_run else session.ledger.transact(decide)[1]
    data: dict[str, Json] = {
        "upgrade": up.id,
        "gate": order.gate,
        "phase": phase.name,
        "run": "",
        "status": "BLOCKED",
        "cancelled": True,
        "blocker": blocker,
        "recorded": bool(written),
    }
    return Outcome(f"gate.{order.gate}", data, (), f"git afd gate {order.gate}", Exit.BLOCKED)


def _refuse_done(session: Session, up: Upgrade, order: Order) -> None:
    if up.closed:
        raise Refused(f"upgrade {up.id} is closed: {up.closed}", "git afd report", code="closed")
    row = next(row for row in rows_of(session, up) if row.phase == GATES[order.gate])
    if row.shown == "PASS":
        raise Refused(f"{row.phase.name} has passed: nothing is left to cancel", "git afd status", code="passed")


def _interrupted(up: Upgrade, gate: str) -> tuple[str, ...]:
    """Return the record of the gate's newest run when that run was interrupted: what the word is about."""
    runs = [run for run in up.runs.values() if run.gate == gate and not run.diagnostic]
    return (runs[-1].record,) if runs and runs[-1].status in ("INTERRUPTED", "started") else ()
