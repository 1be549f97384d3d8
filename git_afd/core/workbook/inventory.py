"""Phase 1's tables: contracts, feature cells, and who read what before (workflow Phase 1; domain facts §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, get_args

from git_afd.core.contracts.model import KINDS, SignatureMatch
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Json
from git_afd.core.plain import fields
from git_afd.core.workbook.row import Row, RowFault, only_tables, rows_of

COPIES: Final = ("monkeypatch", "copied-body", "shadow-copy", "override")
"""Kinds that stand in for an upstream body: they must say which invariant they keep."""

PATHLESS: Final = ("environment", "pin")
"""Kinds that may speak of an upstream without naming a file of it."""

ACTIONS: Final = ("keep", "rebase", "replace", "remove", "stop")
SIGNATURES: Final[tuple[str, ...]] = get_args(SignatureMatch)
FEATURE_STATUSES: Final = ("validated", "unit-only", "implemented", "unsupported", "unknown")

AXES: Final = (
    "runner-generation",
    "model",
    "execution-mode",
    "dbo-ubatch",
    "pcp",
    "cam",
    "gate-placement",
    "parallelism",
    "quantization",
    "speculative",
)
"""The workflow's list of what a feature matrix spans; an axis without a cell is shown as an unknown one."""


@dataclass(frozen=True, slots=True)
class PluginPlace:
    """A place in the plugin at the frozen base: repository-relative path, qualified symbol, lines from 1."""

    path: str
    symbol: str = ""
    line: int = 0
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class UpstreamPlace:
    """A place in an upstream: its name, path and qualified symbol (either may be empty), and the path as a module."""

    name: str
    path: str = ""
    symbol: str = ""
    module: str = ""


@dataclass(frozen=True, slots=True)
class Contract:
    """One thing that the plugin relies on upstream. `unknown` says why something of it could not be found out."""

    id: str
    kind: str
    plugin: PluginPlace
    upstream: UpstreamPlace
    invariant: str = ""
    state_owner: str = ""
    lifetime: str = ""
    dependencies: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    removal: str = ""
    action: str = ""
    signature: str | None = None
    markers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    unknown: str | None = None

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the workflow asks of every copied or patched function and this row does not say."""
        if self.kind not in COPIES:
            return ()
        return tuple(
            name for name in ("state_owner", "lifetime", "dependencies", "tests", "removal") if not getattr(self, name)
        )


@dataclass(frozen=True, slots=True)
class Feature:
    """One cell of the feature matrix. `evidence` names files of the plugin (``path`` or ``path:line``) or contracts."""

    cell: str
    axis: str = ""
    evidence: tuple[str, ...] = ()
    impact: str = ""
    adaptation: str = ""
    npu_test: str = ""
    status: str = "unknown"


@dataclass(frozen=True, slots=True, order=True)
class Read:
    """Somebody read a document: its path, its blob id at the freeze, and who says so."""

    path: str
    blob: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What phase 1 judges, wherever its rows came from."""

    contracts: tuple[Contract, ...] = ()
    features: tuple[Feature, ...] = ()
    reads: tuple[Read, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return the rows with the field names of ``inventory --json``."""
        return {
            "contracts": [fields(row) for row in self.contracts],
            "features": [fields(row) for row in self.features],
            "reads": [fields(row) for row in self.reads],
        }


@dataclass(slots=True)
class Parsed:
    """Rows that could be read, and everything that could not. Rows are good for use only without faults."""

    inventory: Inventory
    faults: list[RowFault] = field(default_factory=list)


def parse_inventory(document: Mapping[str, Json], *, stored: bool = False) -> Parsed:
    """Read ``[[contract]]``, ``[[feature]]`` and ``[[read]]``. Total: faults name table, row and field.

    `stored`: the rows were recorded, so what a person must say is not asked for again (the analysis may not know it).
    """
    faults: list[RowFault] = []
    only_tables(document, ("contract", "feature", "read"), faults)
    rows = {table: rows_of(document, table, faults) for table in ("contract", "feature", "read")}
    inventory = Inventory(
        tuple(_contract(row, stored=stored) for row in rows["contract"]),
        tuple(_feature(row) for row in rows["feature"]),
        tuple(_read(row) for row in rows["read"]),
    )
    _unique(rows["contract"], "id", tuple(item.id for item in inventory.contracts))
    _unique(rows["feature"], "cell", tuple(item.cell for item in inventory.features))
    return Parsed(inventory, faults)


def module_of(path: str) -> str:
    """Return the dotted module of a Python file, empty for any other."""
    if not path.endswith(".py"):
        return ""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _contract(row: Row, *, stored: bool) -> Contract:
    row.known(Contract.__dataclass_fields__)
    kind = row.choice("kind", KINDS, required=True)
    return Contract(
        id=row.name("id"),
        kind=kind,
        plugin=_plugin(row.sub("plugin")),
        upstream=_upstream(row.sub("upstream"), path_needed=kind not in PATHLESS and not stored),
        invariant=row.text("invariant", required=kind in COPIES and not stored),
        state_owner=row.text("state_owner"),
        lifetime=row.text("lifetime"),
        dependencies=row.many("dependencies"),
        tests=row.many("tests"),
        removal=row.text("removal"),
        action=row.choice("action", ACTIONS),
        signature=row.choice("signature", SIGNATURES) or None,
        markers=row.many("markers"),
        writers=row.many("writers"),
        unknown=row.text("unknown") or None,
    )


def _plugin(row: Row) -> PluginPlace:
    row.known(PluginPlace.__dataclass_fields__)
    return PluginPlace(
        row.path("path", required=True), row.text("symbol"), row.number_of("line"), row.number_of("end_line")
    )


def _upstream(row: Row, *, path_needed: bool) -> UpstreamPlace:
    row.known(UpstreamPlace.__dataclass_fields__)
    name = row.choice("name", UPSTREAMS, required=True)
    path = row.path("path", required=path_needed)
    module = row.text("module")
    if module and module != module_of(path):
        row.fault("module", f"{module!r} is not the module of {path}", "leave it out: it follows from the path")
    return UpstreamPlace(name, path, row.text("symbol"), module_of(path))


def _feature(row: Row) -> Feature:
    row.known(Feature.__dataclass_fields__)
    found = Feature(
        cell=row.text("cell", required=True),
        axis=row.choice("axis", AXES),
        evidence=row.many("evidence"),
        impact=row.text("impact"),
        adaptation=row.text("adaptation"),
        npu_test=row.text("npu_test"),
        status=row.choice("status", FEATURE_STATUSES, required=True),
    )
    if found.status not in ("", "unknown") and not found.evidence:
        row.fault("evidence", "is missing", "name a file of the plugin or a contract, or say status unknown")
    return found


def _read(row: Row) -> Read:
    row.known(Read.__dataclass_fields__)
    return Read(row.path("path", required=True), row.text("blob"), row.text("by"))


def _unique(rows: tuple[Row, ...], name: str, values: tuple[str, ...]) -> None:
    seen: dict[str, int] = {}
    for row, value in zip(rows, values, strict=True):
        if value and value in seen:
            row.fault(name, f"{value!r} is the {name} of row {seen[value]} too", "give each row its own")
        seen.setdefault(value, row.number)
