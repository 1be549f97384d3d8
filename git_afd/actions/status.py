"""``git afd status`` and ``git afd next``: where the upgrade of this branch stands."""

from __future__ import annotations

from git_afd.actions.hooks import inert_note
from git_afd.actions.present import present
from git_afd.adapters.ledger import Reading
from git_afd.adapters.session import Session
from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.core.standing import Now, Row, next_action, standing
from git_afd.core.state import State, Upgrade
from git_afd.errors import AfdError, Blocked, Refused


def status(session: Session) -> Outcome:
    """Return the twelve phases with status, evidence and blocker, and what is open. Exit 0 whenever it can answer."""
    reading = session.reading()
    try:
        up = session.upgrade(reading)
    except (Refused, Blocked) as reason:  # no upgrade here, or its freeze is lost: also an answer
        return _without(reading.state, reason, damage_findings(reading))
    now, unknown = _now(session, up)
    rows = standing(up, now)
    return Outcome(
        verb="status",
        data={**_data(up, rows), **_under_way(session, up)},
        findings=(*damage_findings(reading), *unknown, *reading.state.findings, *inert_note(session)),
        next=next_action(up, rows),
    )


def next_allowed(session: Session) -> Outcome:
    """Return only the next allowed action."""
    full = status(session)
    return Outcome(verb="next", data={"next": full.next}, findings=full.findings, next=full.next)


def _now(session: Session, up: Upgrade) -> tuple[Now, tuple[Finding, ...]]:
    """Return what is true now; where it cannot be found out, nothing is, and a finding says why."""
    try:
        return present(session, up), ()
    except AfdError as fault:
        return Now(content="", whole=""), (Finding(fault.code, up.id, fault.message, fault.fix),)


def _without(state: State, reason: AfdError, findings: tuple[Finding, ...]) -> Outcome:
    open_here = {up.id: up.freeze.branch for up in state.upgrades.values() if not up.closed}
    data = {"upgrade": None, "why": reason.message, "upgrades": open_here}
    return Outcome(verb="status", data=data, findings=findings, next=reason.fix)


def _data(up: Upgrade, rows: tuple[Row, ...]) -> dict[str, object]:
    freeze = up.freeze
    return {
        "upgrade": up.id,
        "branch": freeze.branch,
        "base": freeze.base,
        "primary": freeze.primary,
        "revisions": {
            key: {"ref": revision.ref, "commit": revision.commit} for key, revision in freeze.revisions.items()
        },
        "phases": [row.as_json() for row in rows],
        "root_causes": [
            {"name": cause.name, "title": cause.title, "status": cause.status, "commit": cause.commit}
            for cause in up.root_causes.values()
        ],
        "undisposed": list(up.undisposed),
        "failures": [
            {
                "name": one.name,
                "gate": one.gate,
                "run": one.run,
                "class": one.class_,
                "why": one.why,
                "architecture": bool(one.architecture),
            }
            for one in up.open_failures
        ],
        "approvals": [
            {"what": item.what, "subject": item.subject, "name": item.name, "reason": item.reason, "at": item.at}
            for item in up.approvals
        ],
        "closed": up.closed,
    }


def _under_way(session: Session, up: Upgrade) -> dict[str, object]:
    """Return the run whose process lives, and those that never ended: nothing has to be mended to start them again."""
    started = [run.name for run in up.runs.values() if run.status == "started"]
    holder = None
    if started:
        from git_afd.adapters.gate_lock import holder_of

        holder = holder_of(session.ledger.home)
    if holder is None or holder.upgrade != up.id or holder.run not in started:
        return {"running": None, "unfinished": started}
    running = {"run": holder.run, "gate": holder.gate, "pid": holder.pid, "since": holder.since}
    return {"running": running, "unfinished": [name for name in started if name != holder.run]}


def damage_findings(reading: Reading) -> tuple[Finding, ...]:
    """Return one finding for each piece of damage; what somebody has set aside is a note."""
    left = set(reading.open_damage)
    return tuple(
        Finding(
            "ledger-unreadable",
            item.place,
            f"the ledger is damaged: what stands there {item.reason}",
            "git afd log --damage",
            "error" if item in left else "note",
        )
        for item in reading.damage
    )
