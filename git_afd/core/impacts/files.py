"""Which files need a look: the plugin's own, and every changed upstream file in the areas that the plugin touches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from git_afd.core.contracts.model import Contract
from git_afd.core.outcome import Json
from git_afd.core.plain import fields
from git_afd.core.workbook.impacts import Impact

NOT_NAMED = "no contract names anything in it, and what the contracts name elsewhere was compared by itself"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed file between two commits: git's status letter, the new path, the old one when it was renamed."""

    status: str
    path: str
    old: str = ""


@dataclass(frozen=True, slots=True)
class Reverted:
    """A commit that was made and reverted inside the range: both full ids, the reverted one's subject, its files."""

    commit: str
    by: str
    subject: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginFile:
    """A file of the plugin: whether it needs work at the target, why, and the contracts that say so."""

    path: str
    flagged: bool
    why: str
    contracts: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return it as the ``files[]`` entry of ``diff --json``."""
        return fields(self)


@dataclass(frozen=True, slots=True)
class UpstreamFile:
    """A changed upstream file near the plugin: mapped to contracts, or dismissed with the reason in `why`."""

    upstream: str
    path: str
    status: str
    old: str
    flagged: bool
    why: str
    contracts: tuple[str, ...] = ()
    reverted: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return it as the ``upstream_files[]`` entry of ``diff --json``."""
        return fields(self)


def plugin_files(contracts: Sequence[Contract], rows: Sequence[Impact]) -> tuple[PluginFile, ...]:
    """Return every file of the plugin that holds a contract, flagged when one of them is not as it was."""
    by_path: dict[str, list[Impact]] = {}
    for contract, row in zip(contracts, rows, strict=True):
        by_path.setdefault(contract.plugin.path, []).append(row)
    return tuple(_plugin_file(path, found) for path, found in sorted(by_path.items()))


def _plugin_file(path: str, rows: Sequence[Impact]) -> PluginFile:
    touched = [row for row in rows if row.class_ != "NONE"]
    breaking = [row for row in touched if row.breaking]
    if not touched:
        return PluginFile(path, flagged=False, why=f"all {len(rows)} contracts are as they were")
    told = [f"{len(breaking)} of {len(rows)} contracts break"] if breaking else []
    told += [f"{len(touched) - len(breaking)} others changed"] if len(touched) > len(breaking) else []
    ordered = [*breaking, *(row for row in touched if not row.breaking)]
    return PluginFile(path, flagged=True, why=", ".join(told), contracts=tuple(row.id for row in ordered))


def upstream_files(
    contracts: Sequence[Contract],
    rows: Sequence[Impact],
    changes: Mapping[str, Sequence[Change]],
    reverts: Mapping[str, Sequence[Reverted]],
) -> tuple[UpstreamFile, ...]:
    """Return the changed upstream files in the folders in which the plugin's contracts stand."""
    named = _named(contracts, rows)
    folders = {(who, path.rpartition("/")[0]) for who, path in named}
    found: list[UpstreamFile] = []
    for who, items in changes.items():
        undone = _undone(reverts.get(who, ()))
        for change in items:
            near = {change.path.rpartition("/")[0], (change.old or change.path).rpartition("/")[0]}
            if any((who, folder) in folders for folder in near):
                mapped = (*named.get((who, change.old or change.path), ()), *named.get((who, change.path), ()))
                found.append(_upstream_file(who, change, tuple(dict.fromkeys(mapped)), undone))
    return tuple(found)


def _named(contracts: Sequence[Contract], rows: Sequence[Impact]) -> dict[tuple[str, str], list[Impact]]:
    named: dict[tuple[str, str], list[Impact]] = {}
    for contract, row in zip(contracts, rows, strict=True):
        paths = {contract.upstream.path, row.target.path if row.target else ""}
        for path in paths - {""}:
            named.setdefault((contract.upstream.name, path), []).append(row)
    return named


def _undone(reverts: Iterable[Reverted]) -> dict[str, list[str]]:
    undone: dict[str, list[str]] = {}
    for item in reverts:
        for path in item.paths:
            undone.setdefault(path, []).append(f"{item.commit[:12]} {item.subject} (reverted by {item.by[:12]})")
    return undone


def _upstream_file(
    who: str, change: Change, mapped: tuple[Impact, ...], undone: Mapping[str, Sequence[str]]
) -> UpstreamFile:
    touched = [row for row in mapped if row.class_ != "NONE"]
    reverted = tuple(undone.get(change.path, ()))
    why = NOT_NAMED
    if touched:
        why = f"{len(touched)} of {len(mapped)} contracts in it changed"
    elif mapped:
        why = f"all {len(mapped)} contracts in it are as they were"
    if reverted:
        why += "; a change to it was reverted inside the range"
    contracts = tuple(row.id for row in (touched or mapped))
    return UpstreamFile(who, change.path, change.status, change.old, bool(touched), why, contracts, reverted)
