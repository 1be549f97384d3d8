"""``git afd diff``: phase 2. Impacts are checked at both frozen commits, absences proven, classes judged, recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd.actions.analysis import (
    BY_HAND,
    Rows,
    blocked_findings,
    boundary,
    exit_of,
    record_phase,
    recorded_impacts,
    recorded_inventory,
    refuse_silent_replacement,
)
from git_afd.actions.inventory import together
from git_afd.actions.present import rows_of
from git_afd.adapters.frozen_files import frozen_files
from git_afd.adapters.session import Session
from git_afd.adapters.workbook_file import read_workbook
from git_afd.core.entering import refuse_entry
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import PHASES
from git_afd.core.state import Upgrade
from git_afd.core.workbook.check import check_impacts, completed_impacts, impact_places
from git_afd.core.workbook.impacts import Impacts, parse_impacts
from git_afd.core.workbook.inventory import Inventory
from git_afd.core.workbook.judge import Verdict, judge_impacts
from git_afd.errors import Exit

_PHASE: Final = PHASES[2]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: a file of rows and how the user named it, and why recorded rows are replaced."""

    file: Path | None = None
    name: str = ""
    replace: str = ""
    dry_run: bool = False


def diff(session: Session, request: Request) -> Outcome:
    """Record impacts and judge phase 2; without a file, show what is recorded.

    Refused rows give exit 3 and a finding each, and nothing is recorded. A phase that does not pass gives exit 6.
    """
    up = session.upgrade(session.reading(strict=True))
    if request.file is not None:
        refuse_entry(up, rows_of(session, up), _PHASE)
    inventory = recorded_inventory(session, up) or Inventory()
    if request.file is None:
        found = recorded_impacts(session, up) or Impacts()
        return _outcome(up, found, judge_impacts(found, inventory), {"recorded": False, "dry_run": False})
    found, findings = _gathered(session, up, request.file, request.name, inventory)
    if findings:
        return Outcome(verb="diff", data={"recorded": False}, findings=findings, exit=Exit.REFUSED)
    return _record(session, up, request, found, judge_impacts(found, inventory))


def _gathered(
    session: Session, up: Upgrade, file: Path, name: str, inventory: Inventory
) -> tuple[Impacts, tuple[Finding, ...]]:
    """Return the rows to record, completed from the commits, or what is wrong with them."""
    workbook = read_workbook(file, name)
    impacts, parse_faults = parse_impacts(workbook.document)
    frozen = frozen_files(session, up.freeze, impact_places(impacts, inventory))
    faults = together(parse_faults, check_impacts(impacts, inventory, frozen))
    if faults:
        return impacts, workbook.findings(faults)
    return completed_impacts(impacts, inventory, frozen), ()


def _record(session: Session, up: Upgrade, request: Request, found: Impacts, verdict: Verdict) -> Outcome:
    items = {impact.id: impact.class_ for impact in found.rows if impact.class_}
    rows = Rows("diff", BY_HAND, found.as_json(), items)
    refuse_silent_replacement(up, up.diff, rows, request.replace)
    new = False
    if not request.dry_run:
        up, new = record_phase(session, up, _PHASE, rows, verdict, request.replace)
    return _outcome(up, found, verdict, {"recorded": new, "dry_run": request.dry_run, "artifact": rows.digest})


def _outcome(up: Upgrade, found: Impacts, verdict: Verdict, more: dict[str, Json]) -> Outcome:
    data = {
        **found.as_json(),
        "how": up.diff.how if up.diff else BY_HAND,
        "phase": boundary(_PHASE, verdict, _evidence(up)),
        **more,
    }
    return Outcome("diff", data, blocked_findings(_PHASE, verdict), verdict.next, exit_of(verdict))


def _evidence(up: Upgrade) -> list[str]:
    return [up.diff.record] if up.diff else []
