"""Which files need a look: the plugin's own, and every changed upstream file in the areas that the plugin touches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.contracts.model import Contract
from git_afd.core.outcome import Json
from git_afd.core.plain import fields
from git_afd.core.workbook.impacts import Impact

NOT_NAMED = "no contract names anything in it, and what the contracts name elsewhere was compared by itself"

_FAR: Final = ("BEHAVIORAL", "ARCHITECTURAL")
"""Classes whose cause may reach whoever uses the place that holds the contract; a mechanical change stays inside."""


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


def plugin_files(
    contracts: Sequence[Contract], rows: Sequence[Impact], kind_of: Callable[[str], str]
) -> tuple[PluginFile, ...]:
    """Return every file of the plugin that holds a contract or uses what holds one.

    It is flagged when a contract of its own is not as it was. A production file is flagged too when it names a
    function or class of the plugin inside which something behaves otherwise: who constructs, calls or installs it may
    have to follow.
    """
    own: dict[str, list[Impact]] = {}
    used: dict[str, list[Impact]] = {}
    for contract, row in zip(contracts, rows, strict=True):
        path = contract.plugin.path
        own.setdefault(path, []).append(row)
        inside = contract.plugin.symbol and row.class_ in _FAR and kind_of(path) != "test"
        for user in row.consumers[1:] if inside else ():
            if kind_of(user) == "production":
                used.setdefault(user, []).append(row)
    paths = sorted({*own, *used})
    return tuple(_plugin_file(path, own.get(path, []), used.get(path, [])) for path in paths)


def _plugin_file(path: str, rows: Sequence[Impact], used: Sequence[Impact]) -> PluginFile:
    touched = [row for row in rows if row.class_ != "NONE"]
    breaking = [row for row in touched if row.breaking]
    if not touched and not used:
        return PluginFile(path, flagged=False, why=f"all {len(rows)} contracts are as they were")
    told = [f"{len(breaking)} of {len(rows)} contracts break"] if breaking else []
    told += [f"{len(touched) - len(breaking)} others changed"] if len(touched) > len(breaking) else []
    if not touched:
        places = dict.fromkeys(_place(row) for row in used)
        told = [f"it uses {', '.join(places)}, whose contracts changed"]
    ordered = [*breaking, *(row for row in touched if not row.breaking)] or used
    return PluginFile(path, flagged=True, why=", ".join(told), contracts=tuple(row.id for row in ordered))


def _place(row: Impact) -> str:
    """Return the plugin's definition around a contract: the function or class that other files can name."""
    path, _, symbol = row.consumers[0].partition("::")
    return f"{path}::{symbol.partition('.')[0]}"


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
