"""``git afd log``: every record in the ledger's order, what cannot be read, and everything of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.actions.kept import Kept, text_of
from git_afd.actions.log_run import run_details
from git_afd.actions.status import damage_findings, next_allowed
from git_afd.adapters.configuration import pointer
from git_afd.adapters.ledger import Reading
from git_afd.adapters.session import Session
from git_afd.core.fold import fold
from git_afd.core.headline import headline
from git_afd.core.outcome import Json, Outcome
from git_afd.core.records import Damage, Record
from git_afd.core.state import Run, State, Upgrade
from git_afd.errors import UsageFault

TEXT: Final = 1 << 20
"""How much of a file's end goes into a JSON document, in bytes."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records to show; what is empty leaves nothing out. `damage` shows only what cannot be read."""

    kinds: tuple[str, ...] = ()
    upgrade: str = ""
    run: str = ""
    damage: bool = False

    def fits(self, record: Record) -> bool:
        """Say whether a record is wanted."""
        return (
            not self.damage
            and (not self.kinds or record.kind in self.kinds)
            and self.upgrade in ("", record.upgrade)
            and self.run in ("", record.body.get("run"))
        )


def log(session: Session, wanted: Wanted) -> Outcome:
    """Return the wanted records and all damage. Everything is read anew; exit 0 whenever it can answer."""
    placed, damage = session.ledger.contents()
    state = fold(record for _, record in placed)
    reading = Reading(None, state, damage)
    why = {finding.place: finding.message for finding in state.findings}
    return Outcome(
        verb="log",
        data={
            "records": [_record(place, record, why) for place, record in placed if wanted.fits(record)],
            "total": len(placed),
            "only_damage": wanted.damage,
            "damage": [_damage(item, reading) for item in damage],
            "runs": [
                run_details(session, up, run, (record for _, record in placed)) for up, run in runs_named(state, wanted)
            ],
        },
        findings=damage_findings(reading),
        next=next_allowed(session).next,
    )


def runs_named(state: State, wanted: Wanted) -> tuple[tuple[Upgrade, Run], ...]:
    """Return the runs of that name; each upgrade counts its own."""
    ups = (up for up in state.upgrades.values() if wanted.upgrade in ("", up.id))
    return tuple((up, up.runs[wanted.run]) for up in ups if wanted.run in up.runs)


def the_run(session: Session, wanted: Wanted) -> tuple[Upgrade, Run]:
    """Return the one run of that name: where several upgrades have it, this branch's. Raises UsageFault otherwise."""
    found = runs_named(session.ledger.read().state, wanted)
    if len(found) > 1:
        here = pointer(session.git, session.branch) if session.branch else ""
        found = tuple(item for item in found if item[0].id == here) or found
    if len(found) != 1:
        known = ", ".join(up.id for up, _ in found)
        raise UsageFault(
            f"run {wanted.run} is in several upgrades: {known}" if found else f"there is no run {wanted.run}",
            "name one with --upgrade" if found else "git afd log --kind run",
        )
    return found[0]


def log_text(session: Session, wanted: Wanted, name: str) -> tuple[Kept, Iterator[bytes]]:
    """Return a file that a run left and its text in pieces. Raises UsageFault, Blocked (see kept.text_of)."""
    return text_of(session, *the_run(session, wanted), name)


def shown_text(session: Session, wanted: Wanted, name: str) -> Outcome:
    """Return a file that a run left for a program: its last TEXT bytes at most."""
    file, pieces = log_text(session, wanted, name)
    text, size = b"", 0
    for piece in pieces:
        text, size = (text + piece)[-TEXT:], size + len(piece)
    data: dict[str, Json] = {**file.as_json(), "run": wanted.run, "text_bytes": size, "left_out": size - len(text)}
    return Outcome(verb="log", data={**data, "text": text.decode(errors="replace")})


def _record(place: str, record: Record, why: Mapping[str, str]) -> Mapping[str, Json]:
    return {
        "seq": record.seq,
        "id": record.id,
        "kind": record.kind,
        "upgrade": record.upgrade,
        "at": record.at,
        "by": record.by,
        "tool": record.tool,
        "object": place,
        "headline": headline(record),
        "does_not_count": why.get(record.id, ""),
        "prev": list(record.prev),
        "body": dict(record.body),
    }


def _damage(item: Damage, reading: Reading) -> Mapping[str, Json]:
    approvals = (said for up in reading.state.upgrades.values() for said in up.approvals)
    by = next((said for said in approvals if said.what == "damage" and said.subject == item.id), None)
    return {
        "id": item.id,
        "place": item.place,
        "reason": item.reason,
        "line": item.line,
        "set_aside": f"by {by.name}: {by.reason}" if by else "",
    }
