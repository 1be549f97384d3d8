"""The whole comparison of one plugin at a target: contracts in, impacts and files out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from git_afd.core.contracts.model import Contract
from git_afd.core.impacts.compare import compare
from git_afd.core.impacts.effect import Effect
from git_afd.core.impacts.files import Change, PluginFile, Reverted, UpstreamFile, plugin_files, upstream_files
from git_afd.core.impacts.homes import Renames
from git_afd.core.impacts.places import old_place
from git_afd.core.impacts.rows import Consumers, counts, row_of
from git_afd.core.impacts.sides import Side
from git_afd.core.outcome import Json
from git_afd.core.source.world import PLUGIN
from git_afd.core.workbook.impacts import Impact


@dataclass(frozen=True, slots=True)
class History:
    """What happened between the two commits of each upstream: changed files, and what was undone on the way."""

    changes: Mapping[str, Sequence[Change]]
    reverts: Mapping[str, Sequence[Reverted]] = field(default_factory=dict)

    @property
    def renames(self) -> Renames:
        """Files that git sees as renamed: old path to new path, by upstream."""
        return {who: {item.old: item.path for item in items if item.old} for who, items in self.changes.items()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Impacts in the order of the contracts, files of both kinds, and what the comparison covers."""

    impacts: tuple[Impact, ...]
    files: tuple[PluginFile, ...]
    upstream_files: tuple[UpstreamFile, ...]
    coverage: Mapping[str, Json]


def compare_all(contracts: Sequence[Contract], sides: tuple[Side, Side], history: History) -> Comparison:
    """Compare every contract; nothing is dropped, and what cannot be told is counted with its reason."""
    renames = history.renames
    consumers = Consumers(sides[0].world.trees[PLUGIN])
    undone = {path for items in history.reverts.values() for item in items for path in item.paths}
    rows: list[Impact] = []
    for contract in contracts:
        effect = compare(contract, sides, renames)
        row = row_of(effect, old_place(contract, sides[0]), consumers.of(contract))
        rows.append(_with_reverts(row, effect, undone))
    return Comparison(
        tuple(rows),
        plugin_files(contracts, rows),
        upstream_files(contracts, rows, history.changes, history.reverts),
        _coverage(rows),
    )


def _with_reverts(row: Impact, effect: Effect, undone: Iterable[str]) -> Impact:
    path = effect.contract.upstream.path
    if effect.state == "unchanged" and path and path in undone:
        return replace(row, reason=f"{row.reason} (a change to {path} was reverted inside the range)")
    return row


def _coverage(rows: Sequence[Impact]) -> dict[str, Json]:
    reasons: dict[str, int] = {}
    for row in rows:
        if row.state == "unknown":
            reasons[row.reason] = reasons.get(row.reason, 0) + 1
    return {"impacts": len(rows), **counts(rows), "unknown_reasons": reasons}
