"""Words for ``git afd diff``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.inventory import phase_line
from git_afd.render.table import columns


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show each impact with its state, class and reason, and the phase."""
    data: Mapping[str, Any] = outcome.data
    if "phase" not in data:
        yield "Nothing was recorded: rows were refused."
        return
    if data["impacts"]:
        head = ("impact", "contract", "state", "class", "target", "reason")
        yield columns(head, (_impact(row) for row in data["impacts"]), color=color)
        yield ""
    yield phase_line(data, "diff")


def _impact(row: Mapping[str, Any]) -> tuple[str, ...]:
    target = row["target"]
    place = "::".join(part for part in (target["path"], target["symbol"]) if part) if target else "-"
    state = f"{row['state']} (breaking)" if row["breaking"] else row["state"]
    return row["id"], row["contract"], state, row["class"] or "-", place, row["reason"]
