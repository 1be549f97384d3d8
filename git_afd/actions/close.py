"""``git afd close``: ends an upgrade that will not be completed, and says what it owes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import settled
from git_afd.core.primary import insist_primary
from git_afd.core.records import Draft
from git_afd.core.standing import Now, Row, standing
from git_afd.core.state import State, Upgrade
from git_afd.errors import EnvironmentFault

_NEXT = "git afd report"


def close(session: Session, why: str, *, dry_run: bool = False) -> Outcome:
    """Record that the upgrade is closed, not complete; a second time changes nothing.

    Only the primary may (Refused otherwise). What is owed are the phases that did not pass, with their blockers.
    """
    up = session.upgrade(session.reading(strict=True))
    if up.closed:
        return Outcome("close", _data(up, up.closed, [], recorded=False, dry_run=dry_run), (), _NEXT)
    insist_primary(up, session.actor, "closes an upgrade", "let the primary run it")
    owed = [_owed(row) for row in _rows(session, up) if not settled(row.shown)]
    body: dict[str, Json] = {"why": why, "owed": list(owed)}

    def decide(state: State) -> Sequence[Draft]:
        return () if state.upgrades[up.id].closed else (Draft("close", up.id, body, session.head or up.freeze.base),)

    written = () if dry_run else session.ledger.transact(decide)[1]
    return Outcome("close", _data(up, why, owed, recorded=bool(written), dry_run=dry_run), (), _NEXT)


def _rows(session: Session, up: Upgrade) -> tuple[Row, ...]:
    """Return the twelve rows; where the frozen policy cannot be read any more, nothing that rests on content holds."""
    try:
        return rows_of(session, up)
    except EnvironmentFault as fault:
        rows = standing(up, Now(content="", whole=""))
        return tuple(replace(row, blocker=fault.message) if row.shown == "stale" else row for row in rows)


def _owed(row: Row) -> str:
    return f"{row.phase.name} is {row.shown}" + (f": {row.blocker}" if row.blocker else "")


def _data(up: Upgrade, why: str, owed: list[str], *, recorded: bool, dry_run: bool) -> dict[str, Json]:
    return {
        "upgrade": up.id,
        "why": why,
        "complete": False,
        "owed": list(owed),
        "recorded": recorded,
        "dry_run": dry_run,
    }
