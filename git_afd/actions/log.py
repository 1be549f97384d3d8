"""``git afd log``: every record in the ledger's order, and what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from git_afd.actions.status import damage_findings, next_allowed
from git_afd.adapters.ledger import Reading
from git_afd.adapters.session import Session
from git_afd.core.fold import fold
from git_afd.core.headline import headline
from git_afd.core.outcome import Json, Outcome
from git_afd.core.records import Damage, Record


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
        },
        findings=damage_findings(reading),
        next=next_allowed(session).next,
    )


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
