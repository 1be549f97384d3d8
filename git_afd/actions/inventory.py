"""``git afd inventory``: phase 1. contracts found in the sources or given by hand, judged and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from git_afd.actions.inventory_at import Filters, shown
from git_afd.actions.present import rows_of
from git_afd.actions.take_impacts import inventory_with_impacts, question_of
from git_afd.actions.take_inventory import HOW
from git_afd.adapters.frozen_files import frozen_files
from git_afd.adapters.session import Session
from git_afd.adapters.workbook_file import read_workbook
from git_afd.core.contracts.rows import row_of
from git_afd.core.contracts.subject import Inventory as Taken
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
    """What is asked: a file of rows and how the user named it, documents that the actor has read, why to replace.

    Without a file the sources are analysed; `filters` and `markdown` only choose what is shown, and how.
    """

    file: Path | None = None
    name: str = ""
    reads: tuple[str, ...] = ()
    replace: str = ""
    dry_run: bool = False
    filters: Filters = field(default_factory=Filters)
    markdown: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """Rows to be recorded, how they were found, and what the analysis says in full where there was one."""

    rows: Inventory
    how: str
    taken: Taken | None = None


def inventory(session: Session, request: Request) -> Outcome:
    """Find or take rows, record them and who read what, and judge phase 1.

    Rows given by hand stay until they are replaced with a reason: then they are only shown. Refused rows give
    exit 3 and a finding each, and nothing is recorded. A phase that does not pass gives exit 6.
    """
    up = session.upgrade(session.reading(strict=True))
    by_hand = up.inventory is not None and up.inventory.how == BY_HAND
    if request.file is None and not request.reads and by_hand and not request.replace:
        return _shown(session, up, request)
    refuse_entry(up, rows_of(session, up), _PHASE)
    found, findings = _gathered(session, up, request)
    if findings:
        return Outcome(verb="inventory", data={"recorded": False}, findings=findings, exit=Exit.REFUSED)
    return _record(session, up, request, found)


def _reads_only(session: Session, up: Upgrade) -> Inventory | None:
    """Return who read what so far: new rows replace the old ones, a reading stays done.

    Rows that are gone are what a file is to replace: then nothing is known of earlier readings either.
    """
    try:
        recorded = recorded_inventory(session, up)
    except Blocked:
        return None
    return Inventory(reads=recorded.reads) if recorded else None


def _gathered(session: Session, up: Upgrade, request: Request) -> tuple[_Found, tuple[Finding, ...]]:
    """Return the rows to record, completed from the commits, or what is wrong with them."""
    documents = documents_of(up.freeze)
    unknown = [path for path in request.reads if path not in documents]
    if unknown:
        known = ", ".join(sorted(documents)) or "none"
        raise UsageFault(f"--read {unknown[0]}: it is no document of the freeze", f"frozen are {known}")
    own = tuple(Read(path, documents[path], session.actor) for path in request.reads)
    before = _reads_only(session, up) or Inventory()
    reads = tuple(sorted({*before.reads, *own}))
    if request.file is not None:
        return _by_hand(session, up, request, reads)
    recorded = recorded_inventory(session, up) if request.reads else None
    if recorded is not None and up.inventory is not None:
        return _Found(replace(recorded, reads=reads), up.inventory.how), ()
    taken = inventory_with_impacts(session, question_of(session, up))
    rows = tuple(row_of(contract, {}) for contract in taken.contracts)
    return _Found(Inventory(rows, taken.features, reads), HOW, taken), ()


def _by_hand(
    session: Session, up: Upgrade, request: Request, reads: tuple[Read, ...]
) -> tuple[_Found, tuple[Finding, ...]]:
    """Return the rows of a file, or every fault of them."""
    workbook = read_workbook(request.file or Path(), request.name)
    parsed = parse_inventory(workbook.document)
    frozen = frozen_files(session, up.freeze, inventory_places(parsed.inventory))
    documents = documents_of(up.freeze)
    faults = together(parsed.faults, check_inventory(parsed.inventory, frozen, documents))
    if faults:
        return _Found(parsed.inventory, BY_HAND), workbook.findings(faults)
    rows = completed(parsed.inventory, frozen, documents, session.actor)
    return _Found(replace(rows, reads=tuple(sorted({*rows.reads, *reads}))), BY_HAND), ()


def together(parsed: Sequence[RowFault], checked: Sequence[RowFault]) -> tuple[RowFault, ...]:
    """Return all faults; a row that could not be read is not also reproached for what it then lacks."""
    unread_rows = {(fault.table, fault.row) for fault in parsed}
    return (*parsed, *(fault for fault in checked if (fault.table, fault.row) not in unread_rows))


def _record(session: Session, up: Upgrade, request: Request, found: _Found) -> Outcome:
    items = {contract.id: contract.kind for contract in found.rows.contracts}
    rows = Rows("inventory", found.how, found.rows.as_json(), items)
    verdict = judge_inventory(found.rows, documents_of(up.freeze))
    refuse_silent_replacement(up, up.inventory, rows, request.replace)
    new = False
    if not request.dry_run:
        up, new = record_phase(session, up, _PHASE, rows, verdict, request.replace)
    more: dict[str, Json] = {"recorded": new, "dry_run": request.dry_run, "artifact": rows.digest, "how": found.how}
    return _outcome(up, found, request, verdict, more)


def _shown(session: Session, up: Upgrade, request: Request) -> Outcome:
    rows = recorded_inventory(session, up) or Inventory()
    verdict = judge_inventory(rows, documents_of(up.freeze))
    how = up.inventory.how if up.inventory else BY_HAND
    return _outcome(up, _Found(rows, how), request, verdict, {"recorded": False, "dry_run": False, "how": how})


def _outcome(up: Upgrade, found: _Found, request: Request, verdict: Verdict, more: dict[str, Json]) -> Outcome:
    data = {
        **_tables(up, found, request),
        "unread": list(unread(found.rows, documents_of(up.freeze))),
        "phase": boundary(_PHASE, verdict, _evidence(up)),
        **more,
    }
    verb = "inventory.markdown" if request.markdown else "inventory"
    return Outcome(verb, data, blocked_findings(_PHASE, verdict), verdict.next, exit_of(verdict))


def _tables(up: Upgrade, found: _Found, request: Request) -> dict[str, Json]:
    """Return contracts, features, reads and coverage: in full after an analysis, else as they were recorded."""
    written = found.rows.as_json()
    if found.taken is not None:
        return {**written, **shown(found.taken, up, request.filters)}
    contracts = written["contracts"] if isinstance(written["contracts"], list) else []
    said = [{**row, **up.annotations.get(row["id"], {})} for row in contracts]
    return {**written, "contracts": request.filters.rows(said), "coverage": coverage(found.rows)}


def _evidence(up: Upgrade) -> list[str]:
    return [up.inventory.record] if up.inventory else []
