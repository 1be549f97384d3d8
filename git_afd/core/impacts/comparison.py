"""The whole comparison of one plugin at a target: contracts in, impacts and files out. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from git_afd.core.contracts.model import Contract, Kind
from git_afd.core.impacts.compare import compare
from git_afd.core.impacts.effect import Effect
from git_afd.core.impacts.files import plugin_files, upstream_files
from git_afd.core.impacts.places import old_place
from git_afd.core.impacts.result import Comparison, History
from git_afd.core.impacts.rows import Consumers, counts, row_of
from git_afd.core.impacts.sides import Side
from git_afd.core.outcome import Json
from git_afd.core.source.world import PLUGIN
from git_afd.core.workbook.impacts import Impact

_WORK: Final[Mapping[Kind, int]] = {"monkeypatch": 30, "copied-body": 8, "override": 4, "call": 3}
"""How long contracts of a kind take to compare, beside the others: a patch has its callers read."""


def impacts_of(contracts: Sequence[Contract], sides: tuple[Side, Side], history: History) -> list[Impact]:
    """Return what the target does to each of these contracts, in their order; nothing is dropped."""
    renames = history.renames
    consumers = Consumers(sides[0].world.trees[PLUGIN])
    undone = {path for items in history.reverts.values() for item in items for path in item.paths}
    rows: list[Impact] = []
    for contract in contracts:
        effect = compare(contract, sides, renames)
        row = row_of(effect, old_place(contract, sides[0]), consumers.of(contract))
        rows.append(_with_reverts(row, effect, undone))
    return rows


def halves(contracts: Sequence[Contract]) -> tuple[list[int], list[int]]:
    """Divide contracts (their positions) into halves of like work; those of one upstream file stay together."""
    by_file: dict[tuple[str, str], list[int]] = {}
    work: Counter[tuple[str, str]] = Counter()
    for at, contract in enumerate(contracts):
        file = contract.upstream.name, contract.upstream.path
        by_file.setdefault(file, []).append(at)
        work[file] += _WORK.get(contract.kind, 1)
    first: list[int] = []
    second: list[int] = []
    more = 0  # how much more work the first half holds
    for file in sorted(by_file, key=lambda file: (-work[file], file)):
        (second if more > 0 else first).extend(by_file[file])
        more += -work[file] if more > 0 else work[file]
    return first, second


def compared(
    contracts: Sequence[Contract], impacts: Sequence[Impact], history: History, kind_of: Callable[[str], str]
) -> Comparison:
    """Return the whole comparison from the contracts' impacts, which are in the same order.

    `kind_of` is the policy's (production, test, …).
    """
    return Comparison(
        tuple(impacts),
        plugin_files(contracts, impacts, kind_of),
        upstream_files(contracts, impacts, history.changes, history.reverts),
        _coverage(impacts),
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
