"""Writes what a gate did into the ledger: the run before and after it, and the phase at its boundary."""

from __future__ import annotations

from collections.abc import Sequence

from git_afd.actions.gate.failure_facts import failure_facts
from git_afd.actions.gate.order import Order
from git_afd.adapters.session import Session
from git_afd.core.evidence.gate_verdict import GateVerdict
from git_afd.core.evidence.raw_run import RawRun
from git_afd.core.failing import closed_by, next_failure, opened_body
from git_afd.core.gating import finished_body, next_run, phase_body, started_body
from git_afd.core.phases import GATES, first_unsettled
from git_afd.core.records import Draft, drafted
from git_afd.core.state import State, Upgrade
from git_afd.errors import Conflict


def begin(session: Session, raw: RawRun) -> str:
    """Record that a run starts; return its name, which is decided on exactly the state that the record extends."""

    def decide(state: State) -> Sequence[Draft]:
        up = open_upgrade(state, raw.identity.upgrade)
        return (Draft("run", up.id, started_body(next_run(up), raw), raw.identity.commit),)

    _, records = session.ledger.transact(decide)
    return str(records[0].body["run"])


def finish(
    session: Session, name: str, raw: RawRun, verdict: GateVerdict, kept: str, *, origin: str = "here"
) -> tuple[Upgrade, str]:
    """Record how a run ended and, when it may decide its phase, the phase and the failures it opens or closes.

    `kept` is the digest of its raw facts. An empty `name` gives the next free one (an import has no start).
    Returns the upgrade then, and the run's name.
    """

    def decide(state: State) -> Sequence[Draft]:
        up = open_upgrade(state, raw.identity.upgrade)
        body = finished_body(name or next_run(up), raw, verdict, kept, origin=origin)
        run = Draft("run", up.id, body, raw.identity.commit)
        if raw.interrupted or raw.diagnostic:
            return (run,)
        if verdict.status == "PASS":
            _still_in_order(up, raw.gate)
        phase = phase_body(raw.gate, verdict.status, [drafted(0)], verdict.blocker)
        named = str(body["run"])
        failures = tuple(closed_by(up, raw.gate, raw.identity.content, named)) if verdict.status == "PASS" else ()
        if facts is not None:
            failures = (opened_body(next_failure(up), named, raw.gate, facts),)
        said = (("phase", phase), *(("failure", one) for one in failures))
        return (run, *(Draft(kind, up.id, one, raw.identity.commit) for kind, one in said))

    facts = None
    if verdict.status == "FAIL" and not (raw.interrupted or raw.diagnostic):
        facts = failure_facts(session, open_upgrade(session.reading().state, raw.identity.upgrade), raw, verdict)
    state, records = session.ledger.transact(decide)
    return state.upgrades[raw.identity.upgrade], str(records[0].body["run"])


def block(session: Session, up: Upgrade, order: Order, commit: str, blocker: str) -> bool:
    """Record that a gate is BLOCKED before anything could run; return whether anything was written.

    A phase that passed or failed keeps its record: that this host cannot repeat it says nothing against that. A
    diagnostic decides nothing, this neither.
    """
    if not order.counts:
        return False

    def decide(state: State) -> Sequence[Draft]:
        record = open_upgrade(state, up.id).phases.get(GATES[order.gate].name)
        known = (record.status, record.blocker) if record is not None else ("", "")
        if known[0] in ("PASS", "FAIL") or known == ("BLOCKED", blocker):
            return ()
        return (Draft("phase", up.id, phase_body(order.gate, "BLOCKED", (), blocker), commit),)

    return bool(session.ledger.transact(decide)[1])


def open_upgrade(state: State, name: str) -> Upgrade:
    """Return the upgrade. Raises Conflict when it was closed since it was looked at."""
    up = state.upgrades.get(name)
    if up is None or up.closed:
        raise Conflict(f"upgrade {name} was closed meanwhile", "git afd status")
    return up


def _still_in_order(up: Upgrade, gate: str) -> None:
    earlier = first_unsettled(up.recorded, GATES[gate].number)
    if earlier is not None:
        raise Conflict(f"{earlier.name} was recorded as {up.recorded.get(earlier.name)} meanwhile", "git afd status")
