"""``git afd inventory``: phase 1. Rows are checked at the frozen commits, judged, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from git_afd.actions.analysis import (
    BY_HAND,
    Rows,
    blocked_findings,
    boundary,
    documents_of,
    exit_of,
    record_phase,
    recorded_inventory,
    refuse_silent_replacement,
)
from git_afd.actions.present import rows_of
from git_afd.adapters.frozen_files import frozen_files
from git_afd.adapters.session import Session
from git_afd.adapters.workbook_file import read_workbook
from git_afd.core.entering import refuse_entry
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import PHASES
from git_afd.core.state import Upgrade
from git_afd.core.workbook.check import check_inventory, completed, inventory_places
from git_afd.core.workbook.inventory import Inventory, Read, parse_inventory
from git_afd.core.workbook.judge import Verdict, coverage, judge_inventory, unread
from git_afd.core.workbook.row import RowFault
from git_afd.errors import Blocked, Exit, UsageFault

_PHASE: Final = PHASES[1]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: a file of rows and how the user named it, documents that the actor has read, why to replace."""

    file: Path | None = None
    name: str = ""
    reads: tuple[str, ...] = ()
    replace: str = ""
    dry_run: bool = False


def inventory(session: Session, request: Request) -> Outcome:
    """Record rows and who read what, and judge phase 1; without either, show what is recorded.

    Refused rows give exit 3 and a finding each, and nothing is recorded. A phase that does not pass gives exit 6.
    """
    up = session.upgrade(session.reading(strict=True))
    if request.file is None and not request.reads:
        return _shown(session, up)
    refuse_entry(up, rows_of(session, up), _PHASE)
    recorded = recorded_inventory(session, up) if request.file is None else _reads_only(session, up)
    rows, findings = _gathered(session, up, request, recorded or Inventory())
    if findings:
        return Outcome(verb="inventory", data={"recorded": False}, findings=findings, exit=Exit.REFUSED)
    return _record(session, up, request, rows)


def _reads_only(session: Session, up: Upgrade) -> Inventory | None:
    """Return who read what so far: new rows replace the old ones, a reading stays done.

    Rows that are gone are what a file is to replace: then nothing is known of earlier readings either.
    """
    try:
        recorded = recorded_inventory(session, up)
    except Blocked:
        return None
    return Inventory(reads=recorded.reads) if recorded else None


def _gathered(
    session: Session, up: Upgrade, request: Request, before: Inventory
) -> tuple[Inventory, tuple[Finding, ...]]:
    """Return the rows to record, completed from the commits, or what is wrong with them."""
    documents = documents_of(up.freeze)
    unknown = [path for path in request.reads if path not in documents]
    if unknown:
        known = ", ".join(sorted(documents)) or "none"
        raise UsageFault(f"--read {unknown[0]}: it is no document of the freeze", f"frozen are {known}")
    own = tuple(Read(path, documents[path], session.actor) for path in request.reads)
    if request.file is None:
        return replace(before, reads=tuple(sorted({*before.reads, *own}))), ()
    workbook = read_workbook(request.file, request.name)
    parsed = parse_inventory(workbook.document)
    frozen = frozen_files(session, up.freeze, inventory_places(parsed.inventory))
    faults = together(parsed.faults, check_inventory(parsed.inventory, frozen, documents))
    if faults:
        return before, workbook.findings(faults)
    rows = completed(parsed.inventory, frozen, documents, session.actor)
    return replace(rows, reads=tuple(sorted({*rows.reads, *before.reads, *own}))), ()


def together(parsed: Sequence[RowFault], checked: Sequence[RowFault]) -> tuple[RowFault, ...]:
    """Return all faults; a row that could not be read is not also reproached for what it then lacks."""
    unread_rows = {(fault.table, fault.row) for fault in parsed}
    return (*parsed, *(fault for fault in checked if (fault.table, fault.row) not in unread_rows))


def _record(session: Session, up: Upgrade, request: Request, found: Inventory) -> Outcome:
    items = {contract.id: contract.kind for contract in found.contracts}
    rows = Rows("inventory", BY_HAND, found.as_json(), items)
    verdict = judge_inventory(found, documents_of(up.freeze))
    refuse_silent_replacement(up, up.inventory, rows, request.replace)
    new = False
    if not request.dry_run:
        up, new = record_phase(session, up, _PHASE, rows, verdict, request.replace)
    return _outcome(up, found, verdict, {"recorded": new, "dry_run": request.dry_run, "artifact": rows.digest})


def _shown(session: Session, up: Upgrade) -> Outcome:
    found = recorded_inventory(session, up)
    verdict = judge_inventory(found or Inventory(), documents_of(up.freeze))
    return _outcome(up, found or Inventory(), verdict, {"recorded": False, "dry_run": False})


def _outcome(up: Upgrade, found: Inventory, verdict: Verdict, more: dict[str, Json]) -> Outcome:
    data = {
        **found.as_json(),
        "how": up.inventory.how if up.inventory else BY_HAND,
        "coverage": coverage(found),
        "unread": list(unread(found, documents_of(up.freeze))),
        "phase": boundary(_PHASE, verdict, _evidence(up)),
        **more,
    }
    return Outcome("inventory", data, blocked_findings(_PHASE, verdict), verdict.next, exit_of(verdict))


def _evidence(up: Upgrade) -> list[str]:
    return [up.inventory.record] if up.inventory else []
