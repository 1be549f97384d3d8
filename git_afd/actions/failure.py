"""``git afd failure list|classify``: what failed, and somebody's word on what kind of failure it is."""

from __future__ import annotations

from collections.abc import Sequence

from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.core.failing import classified_body
from git_afd.core.outcome import Json, Outcome
from git_afd.core.records import Draft
from git_afd.core.standing import next_action
from git_afd.core.state import ENVIRONMENT, Failure, State, Upgrade
from git_afd.errors import Refused


def list_all(session: Session) -> Outcome:
    """Return every failure of the upgrade with what was kept of it, in the order they were opened."""
    reading = session.reading()
    up = session.upgrade(reading)
    bodies = {one.id: one.body for one in session.ledger.records() if one.kind == "failure"}
    shown = [{**bodies.get(one.record, {}), **facts_of(one)} for one in up.failures.values()]
    for one in shown:
        one.pop("op", None)
    return Outcome("failure.list", {"upgrade": up.id, "failures": shown}, next=next_action(up, rows_of(session, up)))


def classify(session: Session, name: str, class_: str, why: str, *, dry_run: bool = False) -> Outcome:
    """Record what kind of failure `name` is; the same word again changes nothing.

    Raises Refused when it is not open, or a root cause claims to fix what is now called an environment failure.
    """
    up = session.upgrade(session.reading(strict=True))
    changed = _decided(up, name, class_, why) is not None

    def decide(state: State) -> Sequence[Draft]:
        now = state.upgrades[up.id]
        body = _decided(now, name, class_, why)
        return (Draft("failure", up.id, body, session.head or up.freeze.base),) if body else ()

    if not dry_run:
        up = session.ledger.transact(decide)[0].upgrades[up.id]
    data: dict[str, Json] = {**facts_of(up.failures[name]), "class": class_, "why": why}
    data |= {"upgrade": up.id, "changed": changed, "dry_run": dry_run}
    return Outcome("failure.classify", data, next=next_action(up, rows_of(session, up)))


def facts_of(failure: Failure) -> dict[str, Json]:
    """Return a failure for ``--json``."""
    return {
        "failure": failure.name,
        "gate": failure.gate,
        "run": failure.run,
        "class": failure.class_,
        "why": failure.why,
        "by": failure.by,
        "closed_by": failure.closed_by,
    }


def _decided(up: Upgrade, name: str, class_: str, why: str) -> dict[str, Json] | None:
    known = up.failures.get(name)
    if up.closed or known is None or not known.open:
        open_ = ", ".join(one.name for one in up.open_failures) or "none"
        raise Refused(f"{name} is no open failure; open: {open_}", "git afd failure list", code="no-failure")
    if (known.class_, known.why) == (class_, why):
        return None
    claims = (one.name for one in up.root_causes.values() if one.failure == name and one.status != "withdrawn")
    claimed = next(claims, "")
    if class_ == ENVIRONMENT and claimed:
        raise Refused(
            f"{claimed} claims to fix {name}, which no change of the plugin may do when the environment failed",
            f"git afd root-cause withdraw {claimed} --why WHY",
            code="environment-failure",
        )
    return classified_body(name, class_, why)
