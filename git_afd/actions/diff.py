"""``git afd diff``: phase 2. Contracts are compared at the target (or impacts given by hand), judged, recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
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
from git_afd.actions.take_impacts import HOW, kept_impacts, question_of, take_impacts
from git_afd.adapters.frozen_files import frozen_files
from git_afd.adapters.session import Session
from git_afd.adapters.workbook_file import read_workbook
from git_afd.core.classifying import with_proposals
from git_afd.core.contracts.model import KINDS, Contract
from git_afd.core.entering import refuse_entry
from git_afd.core.finding import Finding
from git_afd.core.impacts.result import Comparison
from git_afd.core.impacts.shown import Filters, contract_of, impact_rows
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import PHASES
from git_afd.core.state import Analysis, Upgrade
from git_afd.core.workbook.check import check_impacts, completed_impacts, impact_places
from git_afd.core.workbook.impacts import Impacts, parse_impacts
from git_afd.core.workbook.inventory import Inventory
from git_afd.core.workbook.judge import Verdict, judge_impacts
from git_afd.errors import Exit, Refused

_PHASE: Final = PHASES[2]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: a file of rows and how the user named it, and why recorded rows are replaced.

    Without a file the contracts are compared; `filters` and `markdown` only choose what is shown, and how.
    """

    file: Path | None = None
    name: str = ""
    replace: str = ""
    dry_run: bool = False
    filters: Filters = field(default_factory=Filters)
    markdown: bool = False


@dataclass(frozen=True)
class _Found:
    """Impacts, how they were found, and the whole comparison where the tool made it."""

    impacts: Impacts
    how: str
    comparison: Comparison | None = None

    @cached_property
    def rows(self) -> Rows:
        """What is recorded. An automatic comparison proposes classes; what has none is listed as open."""
        items = {impact.id: impact.class_ for impact in self.impacts.rows if impact.class_}
        if self.comparison is None:
            return Rows("diff", self.how, self.impacts.as_json(), items)
        changed = {item: class_ for item, class_ in items.items() if class_ != "NONE"}
        left: list[Json] = [impact.id for impact in self.impacts.rows if not impact.class_]
        document = {**self.impacts.as_json(), **file_tables(self.comparison)}
        return Rows("diff", self.how, document, changed, {"proposed": True, "open": left})

    def proposals(self, up: Upgrade) -> Analysis | None:
        """Return what the comparison amounts to with the decisions made before; None for rows given by hand."""
        if self.comparison is None:
            return None
        proposed = {impact.id: impact.class_ for impact in self.impacts.rows if impact.class_ != "NONE"}
        return with_proposals(Analysis("", self.how, self.rows.digest, {}), proposed, up.diff)


def diff(session: Session, request: Request) -> Outcome:
    """Compare the contracts or take rows, record them and judge phase 2.

    Rows given by hand stay until they are replaced with a reason: then they are only shown. Refused rows give
    exit 3 and a finding each, and nothing is recorded. A phase that does not pass gives exit 6.
    """
    up = session.upgrade(session.reading(strict=True))
    by_hand = up.diff is not None and up.diff.how == BY_HAND
    inventory = recorded_inventory(session, up) or Inventory()
    if request.file is None and by_hand and not request.replace:
        found = _Found(recorded_impacts(session, up) or Impacts(), BY_HAND)
        verdict = judge_impacts(found.impacts, inventory)
        return _outcome(up, found, inventory, (request, verdict, {"recorded": False, "dry_run": False}))
    refuse_entry(up, rows_of(session, up), _PHASE)
    if request.file is None:
        return _record(session, up, request, inventory, _compared(session, up, inventory))
    taken, findings = _given(session, up, request.file, request.name, inventory)
    if findings:
        return Outcome(verb="diff", data={"recorded": False}, findings=findings, exit=Exit.REFUSED)
    return _record(session, up, request, inventory, _Found(taken, BY_HAND))


def listed_contracts(up: Upgrade, inventory: Inventory) -> tuple[Contract, ...]:
    """Return the contracts of an inventory that was given by hand; none where the tool took it."""
    if up.inventory is None or up.inventory.how != BY_HAND:
        return ()
    kinds = {kind: kind for kind in KINDS}
    return tuple(contract_of(row, kinds[row.kind]) for row in inventory.contracts if row.kind in kinds)


def _compared(session: Session, up: Upgrade, inventory: Inventory) -> _Found:
    if not inventory.contracts:
        raise Refused("no contract is recorded, so there is nothing to compare", "git afd inventory")
    question, listed = question_of(session, up), listed_contracts(up, inventory)
    known = None if listed else kept_impacts(session, question)
    comparison = known or take_impacts(session, question, listed).comparison
    return _Found(Impacts(comparison.impacts), HOW, comparison)


def _given(
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


def _record(session: Session, up: Upgrade, request: Request, inventory: Inventory, found: _Found) -> Outcome:
    rows = found.rows
    verdict = judge_impacts(found.impacts, inventory, found.proposals(up))
    refuse_silent_replacement(up, up.diff, rows, request.replace)
    new = False
    if not request.dry_run:
        up, new = record_phase(session, up, _PHASE, rows, verdict, request.replace)
    more: dict[str, Json] = {"recorded": new, "dry_run": request.dry_run, "artifact": rows.digest, "how": found.how}
    return _outcome(up, found, inventory, (request, verdict, more))


def file_tables(comparison: Comparison) -> dict[str, Json]:
    """Return both tables of files: the plugin's own, and the changed upstream ones near it."""
    return {
        "files": [item.as_json() for item in comparison.files],
        "upstream_files": [item.as_json() for item in comparison.upstream_files],
    }


def _outcome(
    up: Upgrade, found: _Found, inventory: Inventory, asked: tuple[Request, Verdict, Mapping[str, Json]]
) -> Outcome:
    request, verdict, more = asked
    contracts = {contract.id: contract for contract in inventory.contracts}
    data: dict[str, Json] = {
        "impacts": impact_rows(found.impacts.rows, contracts, up.diff, request.filters),
        "how": up.diff.how if up.diff else found.how,
        "phase": boundary(_PHASE, verdict, _evidence(up)),
    }
    if found.comparison is not None:
        data |= {**file_tables(found.comparison), "coverage": found.comparison.coverage}
    data |= more
    verb = "diff.markdown" if request.markdown else "diff"
    return Outcome(verb, data, blocked_findings(_PHASE, verdict), verdict.next, exit_of(verdict))


def _evidence(up: Upgrade) -> list[str]:
    return [up.diff.record] if up.diff else []
