"""``git afd status`` and ``git afd next``: where the upgrade of this branch stands."""

from __future__ import annotations

from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.core.records import Damage
from git_afd.core.standing import Row, next_action
from git_afd.core.state import State, Upgrade
from git_afd.errors import Refused


def status(session: Session) -> Outcome:
    """Return the twelve phases with status, evidence and blocker, and what is open. Exit 0 whenever it can answer."""
    reading = session.reading()
    try:
        up = session.upgrade(reading)
    except Refused as reason:
        return _without(reading.state, reason, _damage(reading.damage))
    rows = rows_of(session, up)
    return Outcome(
        verb="status",
        data=_data(up, rows),
        findings=(*_damage(reading.damage), *reading.state.findings),
        next=next_action(up, rows),
    )


def next_allowed(session: Session) -> Outcome:
    """Return only the next allowed action."""
    full = status(session)
    return Outcome(verb="next", data={"next": full.next}, findings=full.findings, next=full.next)


def _without(state: State, reason: Refused, findings: tuple[Finding, ...]) -> Outcome:
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
        "approvals": [
            {"what": item.what, "subject": item.subject, "name": item.name, "reason": item.reason, "at": item.at}
            for item in up.approvals
        ],
        "unfinished": [run.name for run in up.runs.values() if run.status == "started"],
        "closed": up.closed,
    }


def _damage(damage: tuple[Damage, ...]) -> tuple[Finding, ...]:
    return tuple(
        Finding("ledger-unreadable", item.place, f"a line of the ledger {item.reason}", "git afd log --damage")
        for item in damage
    )
