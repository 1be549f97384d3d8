"""What phases 1 to 3 share: recorded rows read back, new rows kept as an artifact, the record at the boundary.

Rows come from a file by hand; an automatic analysis hands its rows to the same functions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Final

from git_afd.adapters.session import Session
from git_afd.core import shape
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.phases import Phase
from git_afd.core.records import Draft, canonical, drafted
from git_afd.core.state import Analysis, Freeze, State, Upgrade
from git_afd.core.workbook.impacts import Impacts, parse_impacts
from git_afd.core.workbook.inventory import Inventory, parse_inventory
from git_afd.core.workbook.judge import Verdict
from git_afd.core.workbook.row import RowFault
from git_afd.errors import Blocked, Conflict, Exit, Refused

BY_HAND: Final = "by hand"


@dataclass(frozen=True)
class Rows:
    """Rows to be recorded: the record's kind, how they were found, their document, and the items that count.

    `more` are further fields of the record.
    """

    kind: str
    how: str
    document: Mapping[str, Json]
    items: Mapping[str, str]
    more: Mapping[str, Json] = field(default_factory=dict)

    @cached_property
    def content(self) -> bytes:
        """The artifact: the rows as canonical JSON, so that the same rows are the same artifact."""
        return canonical(self.document).encode("ascii") + b"\n"

    @cached_property
    def digest(self) -> str:
        """The artifact's name."""
        return sha256(self.content).hexdigest()


def documents_of(freeze: Freeze) -> dict[str, str]:
    """Return what phase 1 must have read: path to blob id, as it was at the freeze."""
    return shape.text_table(freeze.body, "documents")


def recorded_inventory(session: Session, up: Upgrade) -> Inventory | None:
    """Return the recorded rows of phase 1, None when there are none. Raises Blocked when they are gone."""
    if up.inventory is None:
        return None
    document = _stored(session, up.inventory, "inventory")
    tables = {"contract": "contracts", "feature": "features", "read": "reads"}
    parsed = parse_inventory({table: _rows(document, name) for table, name in tables.items()}, stored=True)
    _readable(parsed.faults, "inventory")
    return parsed.inventory


def recorded_impacts(session: Session, up: Upgrade) -> Impacts | None:
    """Return the recorded rows of phase 2, None when there are none. Raises Blocked when they are gone."""
    if up.diff is None:
        return None
    impacts, faults = parse_impacts({"impact": _rows(_stored(session, up.diff, "diff"), "impacts")})
    _readable(faults, "diff")
    return impacts


def refuse_silent_replacement(up: Upgrade, old: Analysis | None, new: Rows, why: str) -> None:
    """Raise Refused when recording `new` would make later phases stale and nobody said why it must be."""
    resting = {"inventory": (("diff", up.diff), ("decision", up.decision)), "diff": (("decision", up.decision),)}
    names = [name for name, item in resting[new.kind] if item is not None]
    if old is None or old.artifact == new.digest or not names or why:
        return
    given = " --from FILE" if new.how == BY_HAND else ""
    raise Refused(
        f"the recorded {new.kind} ({old.how}) differs from this one ({new.how}), "
        f"and the {' and the '.join(names)} made from it would become stale",
        f"git afd {new.kind}{given} --replace WHY",
        code="replaces",
    )


def record_phase(
    session: Session, up: Upgrade, phase: Phase, rows: Rows, verdict: Verdict, why: str
) -> tuple[Upgrade, bool]:
    """Keep the rows, record them and the phase, both or none; return the upgrade and whether the rows are new.

    What is recorded already is left alone. `why` says why recorded rows are replaced. Raises Conflict when what
    the rows rest on was recorded again since `up` was read.
    """
    session.artifacts.put_bytes(rows.content)
    body: dict[str, Json] = {"how": rows.how, "artifact": rows.digest, "items": dict(rows.items), "why": why}
    body |= rows.more

    def decide(state: State) -> Sequence[Draft]:
        now = state.upgrades[up.id]
        if rows.kind == "diff" and now.inventory != up.inventory:
            raise Conflict("the inventory was recorded again meanwhile", "run the same command again")
        old = now.inventory if rows.kind == "inventory" else now.diff
        if old is not None and _holds(now, old, rows):
            return boundary_drafts(now, phase, verdict, old.record)
        return (Draft(rows.kind, up.id, body, up.freeze.base), *boundary_drafts(now, phase, verdict, drafted(0)))

    state, written = session.ledger.transact(decide)
    return state.upgrades[up.id], any(record.kind == rows.kind for record in written)


def boundary_drafts(up: Upgrade, phase: Phase, verdict: Verdict, evidence: str) -> tuple[Draft, ...]:
    """Return the phase record that is to be written, none when it stands there already."""
    body = boundary(phase, verdict, (evidence,))
    old = up.phases.get(phase.name)
    if old is not None:
        said = Verdict(old.status, old.blocker, old.next_allowed_action)
        if boundary(phase, said, old.evidence) == body:
            return ()
    return (Draft("phase", up.id, body, up.freeze.base),)


def boundary(phase: Phase, verdict: Verdict, evidence: Sequence[str]) -> dict[str, Json]:
    """Return the phase record: exactly the workflow's five fields."""
    return {
        "phase": phase.name,
        "status": verdict.status,
        "evidence": list(evidence),
        "blocker": verdict.blocker,
        "next_allowed_action": verdict.next,
    }


def blocked_findings(phase: Phase, verdict: Verdict) -> tuple[Finding, ...]:
    """Return what keeps a phase from passing, empty when it passes."""
    if verdict.status == "PASS":
        return ()
    return (Finding("phase-blocked", phase.name, f"{phase.name} is {verdict.status}: {verdict.blocker}", verdict.next),)


def exit_of(verdict: Verdict) -> int:
    """Return the exit code of a verdict."""
    return {"PASS": Exit.DONE, "STOPPED": Exit.STOPPED, "FAIL": Exit.FAIL}.get(verdict.status, Exit.BLOCKED)


def _holds(up: Upgrade, old: Analysis, rows: Rows) -> bool:
    """Say whether exactly these rows are recorded, after everything that they rest on."""
    same = (old.artifact, old.how) == (rows.digest, rows.how)
    return same and (rows.kind == "inventory" or up.inventory is None or old.seq > up.inventory.seq)


def _stored(session: Session, analysis: Analysis, name: str) -> Mapping[str, Json]:
    data = session.artifacts.get(analysis.artifact)
    if data is None:
        raise Blocked(
            f"the rows of the recorded {name} are gone (artifact {analysis.artifact[:12] or 'none'})",
            f"git afd {name} --from FILE",
        )
    document = json.loads(data)
    return document if isinstance(document, dict) else {}


def _rows(document: Mapping[str, Json], name: str) -> list[dict[str, Json]]:
    """Return stored rows as a file would give them: what is null was not said."""
    return [_said(row) for row in shape.tables(document, name)]


def _said(row: Mapping[str, Json]) -> dict[str, Json]:
    said = {name: _said(value) if isinstance(value, dict) else value for name, value in row.items()}
    return {name: value for name, value in said.items() if value is not None}


def _readable(faults: Sequence[RowFault], name: str) -> None:
    if faults:
        raise Blocked(
            f"the recorded {name} was written by another version: {faults[0].field} {faults[0].reason}",
            f"git afd {name} --from FILE --replace WHY",
        )
