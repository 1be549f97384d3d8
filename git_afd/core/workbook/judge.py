"""Judging phases 1 and 2 from checked rows. Only an explicit PASS passes; a blocker names what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from git_afd.core.few import few
from git_afd.core.outcome import Json
from git_afd.core.state import Analysis
from git_afd.core.workbook.impacts import Impacts
from git_afd.core.workbook.inventory import AXES, Inventory

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a phase record says: status PASS or BLOCKED, what blocks it, the next allowed action."""

    status: str
    blocker: str
    next: str


def unread(inventory: Inventory, documents: Mapping[str, str]) -> tuple[str, ...]:
    """Return the frozen documents that nobody is recorded to have read as they were at the freeze."""
    done = {(read.path, read.blob) for read in inventory.reads}
    return tuple(sorted(path for path, blob in documents.items() if (path, blob) not in done))


def judge_inventory(inventory: Inventory, documents: Mapping[str, str]) -> Verdict:
    """Judge phase 1: there are contracts and feature cells, and everything that had to be read was read."""
    left = unread(inventory, documents)
    if not inventory.contracts:
        return Verdict("BLOCKED", "no contract is listed", "git afd inventory --from FILE")
    if not inventory.features:
        return Verdict("BLOCKED", "no cell of the feature matrix is listed", "git afd inventory --from FILE")
    if left:
        options = " ".join(f"--read {path}" for path in left)
        return Verdict("BLOCKED", f"not recorded as read: {few(left, _SHOWN)}", f"git afd inventory {options}")
    return Verdict("PASS", "", "git afd diff")


def judge_impacts(impacts: Impacts, inventory: Inventory, analysis: Analysis | None = None) -> Verdict:
    """Judge phase 2: each contract was compared, each impact is known and has a class.

    `analysis` is the record of an automatic comparison: its classes are proposals, and each needs a decision.
    """
    compared = {impact.contract for impact in impacts.rows}
    missing = [contract.id for contract in inventory.contracts if contract.id not in compared]
    again = "git afd diff" if analysis else "git afd diff --from FILE"
    if missing:
        return Verdict("BLOCKED", f"not compared at the target: {few(missing, _SHOWN)}", again)
    if analysis is not None:
        return _decided(analysis)
    unknown = [impact.id for impact in impacts.rows if impact.state == "unknown"]
    if unknown:
        return Verdict("BLOCKED", f"unknown at the target: {few(unknown, _SHOWN)}", again)
    unclassified = [impact.id for impact in impacts.rows if not impact.class_]
    if unclassified:
        return Verdict("BLOCKED", f"without a class: {few(unclassified, _SHOWN)}", again)
    return Verdict("PASS", "", "git afd gate architecture")


def _decided(analysis: Analysis) -> Verdict:
    left = analysis.unclassified
    if left:
        return Verdict(
            "BLOCKED", f"{len(left)} proposed classes wait for a decision: {few(left, _SHOWN)}", "git afd classify -h"
        )
    return Verdict("PASS", "", "git afd gate architecture")


def coverage(inventory: Inventory) -> dict[str, Json]:
    """Return counts and named gaps: contracts per kind, cells per status, what rows do not say, axes without a cell."""
    axes = {feature.axis for feature in inventory.features}
    return {
        "contracts": len(inventory.contracts),
        "kinds": dict(sorted(Counter(contract.kind for contract in inventory.contracts).items())),
        "features": dict(sorted(Counter(feature.status for feature in inventory.features).items())),
        "gaps": {contract.id: list(contract.gaps) for contract in inventory.contracts if contract.gaps},
        "unknown": {contract.id: contract.unknown for contract in inventory.contracts if contract.unknown},
        "unknown_axes": [axis for axis in AXES if axis not in axes],
    }
