"""``git afd inventory --markdown``: the workbook's tables, for a report or a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome

_PATCHES = ("AFD file/symbol", "Upstream repo/path/symbol", "Current signature", "Invariant and markers")
_COLUMNS = (*_PATCHES, "State owner/lifetime", "Tests", "Removal")
_FEATURES = ("Feature cell", "Support evidence", "Required NPU test", "Status")


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show the patch inventory by kind of contract, then the feature matrix."""
    data: Mapping[str, Any] = outcome.data
    yield "# Contract inventory"
    for kind in dict.fromkeys(row["kind"] for row in data.get("contracts", ())):
        yield f"\n## {kind}\n"
        yield from _table(_COLUMNS, (_contract(row) for row in data["contracts"] if row["kind"] == kind))
    yield "\n# Feature matrix\n"
    yield from _table(_FEATURES, (_feature(row) for row in data.get("features", ())))


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in row)} |"


def _contract(row: Mapping[str, Any]) -> tuple[str, ...]:
    plugin, upstream = row["plugin"], row["upstream"]
    notes = row.get("notes") or {}
    markers = [item if isinstance(item, str) else item["label"] for item in row["markers"]]
    state = " / ".join(part for part in (row["state_owner"], row["lifetime"]) if part)
    return (
        f"`{plugin['path']}:{plugin['line']}` {plugin['symbol']}".rstrip(),
        f"{upstream['name']} `{upstream['path']}` {upstream['symbol']}".rstrip(),
        row["signature"] or row["unknown"] or "",
        "; ".join(part for part in (row["invariant"], *markers) if part),
        state,
        ", ".join(notes.get("tests", row.get("tests", ()))),
        row["removal"],
    )


def _feature(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["cell"], ", ".join(row["evidence"]), row["npu_test"], row["status"]
