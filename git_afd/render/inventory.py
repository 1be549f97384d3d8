"""Words for ``git afd inventory``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from git_afd.core.outcome import Outcome
from git_afd.render.table import columns

_ALL: Final = 200
"""Up to so many contracts are listed; of more, only the counts: a list of thousands hides what it ends with."""


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show the contracts, the feature cells, what is covered, what nobody said, and the phase where one is judged."""
    data: Mapping[str, Any] = outcome.data
    if "contracts" not in data:
        yield "Nothing was recorded: rows were refused."
        return
    if len(data["contracts"]) > _ALL:
        number = len(data["contracts"])
        yield f"{number} contracts are not listed: choose with --kind, --file or --unknown; --json has all."
    elif data["contracts"]:
        of_contracts = ("contract", "kind", "plugin", "upstream", "signature", "invariant")
        yield columns(of_contracts, (_contract(row) for row in data["contracts"]), color=color)
    if data["features"]:
        yield ""
        of_features = ("cell", "status", "evidence", "NPU test")
        yield columns(of_features, (_feature(row) for row in data["features"]), color=color)
    yield from _surfaces(data, color=color)
    yield from _gaps(data)
    yield ""
    if "phase" in data:
        yield phase_line(data, "inventory")
    else:
        yield f"Looked at {data['at'][:12]} ({data['how']}); nothing was recorded."


def _surfaces(data: Mapping[str, Any], *, color: bool) -> Iterator[str]:
    """Show how many contracts each high-risk surface holds, and how the copied functions are documented."""
    coverage = data["coverage"]
    if "surfaces" not in coverage:
        return
    yield ""
    yield columns(
        ("surface", "contracts"), ((row["surface"], str(row["contracts"])) for row in coverage["surfaces"]), color=color
    )
    yield ""
    yield (
        f"{coverage['contracts']} contracts, {coverage['production']} of them in production files; "
        f"{coverage['markers']} marker blocks, {coverage['markers_sound']} sound"
    )
    parts = {
        "with a stated source": "with_source",
        "with a true one": "with_true_source",
        "with a reason": "with_reason",
        "with tests": "with_tests",
        "with a removal plan": "with_removal",
    }
    said = ", ".join(f"{coverage[name]} {words}" for words, name in parts.items())
    yield f"{coverage['copied_functions']} copied functions: {said}"


def phase_line(data: Mapping[str, Any], name: str) -> str:
    """Return the line that says how the phase stands and whether something was recorded."""
    phase = data["phase"]
    done = "recorded" if data["recorded"] else "would be recorded" if data["dry_run"] else "nothing new"
    return f"{phase['phase']}: {phase['status']} ({name} {data['how']}; {done})"


def _contract(row: Mapping[str, Any]) -> tuple[str, ...]:
    plugin, upstream = row["plugin"], row["upstream"]
    line = f":{plugin['line']}" if plugin["line"] else ""
    there = "::".join(part for part in (upstream["path"], upstream["symbol"]) if part)
    return (
        row["id"],
        row["kind"],
        f"{plugin['path']}{line} {plugin['symbol']}",
        f"{upstream['name']} {there}",
        row["signature"] or "",
        row["invariant"],
    )


def _feature(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["cell"], row["status"], " ".join(row["evidence"]), row["npu_test"]


def _gaps(data: Mapping[str, Any]) -> Iterator[str]:
    coverage = data["coverage"]
    if "surfaces" not in coverage:
        for name, fields in coverage["gaps"].items():
            yield f"gap: {name} does not say {', '.join(fields)}"
    elif coverage["gaps"]:
        number = len(coverage["gaps"])
        yield f"gap: {number} contracts do not say all that the workflow asks for (git afd inventory annotate)"
    for name, reason in coverage["unknown"].items():
        yield f"unknown: {name}: {reason}"
    if coverage["unknown_axes"]:
        yield f"unknown: no cell of the feature matrix for {', '.join(coverage['unknown_axes'])}"
    for path, reason in coverage.get("files_unreadable", {}).items():
        yield f"unknown: {path} cannot be read: {reason}"
    for read in data.get("reads", ()):
        yield f"read: {read['path']} {read['blob'][:12]} by {read['by']}"
