"""Contracts as the workbook's rows: what is recorded, judged and shown beside rows that were given by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from git_afd.core.contracts.model import Contract, Marker, Writer
from git_afd.core.outcome import Json
from git_afd.core.workbook import inventory as workbook

Annotations = Mapping[str, Mapping[str, str]]
"""What people said about contracts, by contract id: invariant, state_owner, lifetime, removal."""


def row_of(contract: Contract, said: Mapping[str, str]) -> workbook.Contract:
    """Return a contract as a row of the workbook; `said` is what a person added and goes before the comments."""
    notes = contract.notes
    upstream, plugin = contract.upstream, contract.plugin
    return workbook.Contract(
        id=contract.id,
        kind=contract.kind,
        plugin=workbook.PluginPlace(plugin.path, plugin.symbol, plugin.line, plugin.end_line),
        upstream=workbook.UpstreamPlace(upstream.name, upstream.path, upstream.symbol, upstream.module),
        invariant=said.get("invariant", "") or (notes.invariant if notes else ""),
        state_owner=said.get("state_owner", ""),
        lifetime=said.get("lifetime", ""),
        dependencies=notes.dependencies if notes else (),
        tests=notes.tests if notes else (),
        removal=said.get("removal", "") or (notes.removal if notes else ""),
        signature=contract.signature,
        markers=tuple(map(_marker, contract.markers)),
        writers=tuple(map(_writer, contract.writers)),
        unknown=contract.unknown,
    )


def _marker(marker: Marker) -> str:
    fault = f", {marker.fault}" if marker.fault else ""
    return f"{marker.label} ({marker.line}-{marker.end_line}, {marker.form}{fault})"


def _writer(writer: Writer) -> str:
    return f"{writer.order}. {writer.who} {writer.path}:{writer.line} {writer.symbol}"


def annotated(contracts: Iterable[Contract], annotations: Annotations) -> list[Json]:
    """Return contracts as JSON with the fixed field names, and with what people said about them."""
    rows: list[Json] = []
    for contract in contracts:
        row = row_of(contract, annotations.get(contract.id, {}))
        said = {name: getattr(row, name) for name in ("invariant", "state_owner", "lifetime", "removal")}
        rows.append({**contract.as_json(), **said})
    return rows
