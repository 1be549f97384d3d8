"""Impacts as JSON rows with what a reader needs beside them: the contract's ends, the proposal, the decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from git_afd.core.contracts.model import Contract, Kind, Place, Target
from git_afd.core.outcome import Json
from git_afd.core.policy import fits
from git_afd.core.state import Analysis
from git_afd.core.workbook.impacts import Impact
from git_afd.core.workbook.inventory import Contract as Listed


@dataclass(frozen=True, slots=True)
class Filters:
    """Which impacts are shown: changed ones only, classes, globs over the plugin's paths, kinds. Empty: all."""

    changed: bool = False
    classes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def fits(self, row: Mapping[str, Json], path: str) -> bool:
        """Say whether a row is to be shown; `path` is the plugin's file."""
        if self.changed and row["state"] == "unchanged" and not row["breaking"]:
            return False
        if self.classes and (row["class"] or "UNCLASSIFIED") not in self.classes:
            return False
        return (not self.kinds or row["kind"] in self.kinds) and (not self.files or fits(path, self.files))


def impact_rows(
    impacts: Sequence[Impact], contracts: Mapping[str, Listed | Contract], analysis: Analysis | None, filters: Filters
) -> list[Json]:
    """Return the rows that fit, each with kind and both ends of its contract, the class as it stands, and who said so.

    ``class`` is the decision where there is one, else the proposal; ``proposed`` keeps the proposal.
    """
    rows: list[Json] = []
    decided = analysis.decided if analysis else {}
    for impact in impacts:
        contract = contracts.get(impact.contract)
        row: dict[str, Json] = {**impact.as_json(), "kind": contract.kind if contract else ""}
        row["proposed"] = impact.class_
        row["decided"] = None
        told = decided.get(impact.id)
        if told is not None:
            row["class"] = told.class_
            row["decided"] = {"by": told.by, "why": told.why, "bulk": told.bulk, "record": told.record}
        if contract is not None:
            plugin, upstream = contract.plugin, contract.upstream
            row["plugin"] = {"path": plugin.path, "symbol": plugin.symbol, "line": plugin.line}
            row["upstream"] = {"name": upstream.name, "path": upstream.path, "symbol": upstream.symbol}
        if filters.fits(row, contract.plugin.path if contract else ""):
            rows.append(row)
    return rows


def contract_of(row: Listed, kind: Kind) -> Contract:
    """Return a contract that was listed by hand, for the comparison: where its ends are, and no more."""
    plugin, upstream = row.plugin, row.upstream
    return Contract(
        row.id,
        kind,
        Place(plugin.path, plugin.symbol, plugin.line or 1, plugin.end_line or 1),
        Target(upstream.name, upstream.path, upstream.symbol, upstream.module),
    )
