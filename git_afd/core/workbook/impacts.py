"""Phase 2's table: what the target does to each contract (workflow Phase 2; domain facts §3, impact row)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from git_afd.core.outcome import Json
from git_afd.core.plain import fields
from git_afd.core.state import CLASSES as CHANGE_CLASSES
from git_afd.core.workbook.inventory import ACTIONS
from git_afd.core.workbook.row import Row, RowFault, only_tables, rows_of

State = Literal[
    "unchanged",
    "moved",
    "signature-changed",
    "body-changed",
    "return-changed",
    "value-changed",
    "member-removed",
    "member-added",
    "removed",
    "replaced",
    "unknown",
]
STATES: Final[tuple[State, ...]] = get_args(State)
GONE: Final = ("moved", "removed", "replaced")
"""States that claim that the old place is absent at the target; the claim is proven there."""

COPY_MOVED: Final = "copy-moved:"
"""How the rule begins by which a copy does not care where its unchanged origin went (impacts.rules)."""

IMPACT_CLASSES: Final = ("NONE", *CHANGE_CLASSES)


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """A place in the contract's upstream at the target commit; lines from 1, 0 unknown."""

    path: str
    symbol: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Impact:
    """What the target does to one contract. `class_` is empty while nobody has classified it.

    `breaking` says that the plugin's use fails or binds wrongly at the target. `proof` says what shows that a
    replacement is equivalent or that a removed workaround was absorbed. `rule` names the rule that proposed the
    class, empty for a row that was given by hand.
    """

    id: str
    contract: str
    state: str
    breaking: bool
    class_: str
    reason: str
    target: TargetPlace | None = None
    consumers: tuple[str, ...] = ()
    old: str = ""
    new: str = ""
    invariant: str = ""
    action: str = ""
    proof: str = ""
    adaptation: str = ""
    tests: tuple[str, ...] = ()
    risk: str = ""
    order: str = ""
    rule: str = ""

    def as_json(self) -> dict[str, Json]:
        """Return the row with the field names of ``diff --json``."""
        row = fields(self)
        row["class"] = row.pop("class_")
        return row


@dataclass(frozen=True, slots=True)
class Impacts:
    """What phase 2 judges, wherever its rows came from."""

    rows: tuple[Impact, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return the rows as ``{"impacts": [...]}``."""
        return {"impacts": [row.as_json() for row in self.rows]}


_FIELDS: Final = tuple(name.rstrip("_") for name in Impact.__dataclass_fields__)


def parse_impacts(document: Mapping[str, Json]) -> tuple[Impacts, list[RowFault]]:
    """Read ``[[impact]]``. Total: faults name row and field; the rows are good for use only without any."""
    faults: list[RowFault] = []
    only_tables(document, ("impact",), faults)
    rows = rows_of(document, "impact", faults)
    impacts = tuple(_impact(row) for row in rows)
    seen: dict[str, int] = {}
    for row, impact in zip(rows, impacts, strict=True):
        if impact.id and impact.id in seen:
            row.fault("id", f"{impact.id!r} is the id of row {seen[impact.id]} too", "give each row an id of its own")
        seen.setdefault(impact.id, row.number)
    return Impacts(impacts), faults


def _impact(row: Row) -> Impact:
    row.known(_FIELDS)
    contract = row.name("contract")
    found = Impact(
        id=row.name("id", required=False) or contract,
        contract=contract,
        state=row.choice("state", STATES, required=True),
        breaking=row.flag("breaking"),
        class_=row.choice("class", IMPACT_CLASSES),
        reason=row.text("reason", required=True),
        target=_target(row),
        consumers=row.many("consumers"),
        old=row.text("old"),
        new=row.text("new"),
        invariant=row.text("invariant"),
        action=row.choice("action", ACTIONS),
        proof=row.text("proof"),
        adaptation=row.text("adaptation"),
        tests=row.many("tests"),
        risk=row.text("risk"),
        order=row.text("order"),
        rule=row.text("rule"),
    )
    _consistent(row, found)
    return found


def _target(row: Row) -> TargetPlace | None:
    if "target" not in row.body or row.body["target"] is None:
        return None
    sub = row.sub("target")
    sub.known(TargetPlace.__dataclass_fields__)
    return TargetPlace(sub.path("path", required=True), sub.text("symbol"), sub.number_of("line"))


def _consistent(row: Row, impact: Impact) -> None:
    """Refuse what a row says against itself; each rule is one line of the table in docs/reference/workbook.md."""
    if impact.class_ == "NONE" and impact.breaking:
        row.fault("class", "NONE is said of a breaking impact", "give it a class, or say breaking = false")
    copy_moved = impact.state == "moved" and impact.rule.startswith(COPY_MOVED)
    if impact.class_ == "NONE" and impact.state in GONE and not copy_moved:
        row.fault("class", f"NONE is said of a contract that is {impact.state}", "give it a class")
    if impact.state in ("moved", "replaced") and impact.target is None:
        row.fault("target", "is missing", "name path and symbol of the new place, or say state removed")
    if impact.state == "removed" and impact.target is not None:
        row.fault("target", "is given for a removed contract", "say state moved or replaced, or leave it out")
    if impact.action in ("remove", "replace") and not impact.proof:
        row.fault("proof", f"is missing for action {impact.action}", "say what shows it, else use action stop")
