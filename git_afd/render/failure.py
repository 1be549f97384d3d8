"""Words for ``git afd failure list|classify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.table import visible


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show each failure with what was kept of it, or what was recorded."""
    data: Mapping[str, Any] = outcome.data
    if outcome.verb == "failure.classify":
        done = "would be recorded" if data["dry_run"] else "recorded" if data["changed"] else "stood there already"
        yield visible(f"{data['failure']} of gate {data['gate']} is {data['class']} ({data['why']}): {done}")
        return
    if not data["failures"]:
        yield "No gate has failed."
    for one in data["failures"]:
        yield from map(visible, _lines(one))


def _lines(one: Mapping[str, Any]) -> Iterator[str]:
    state = f"closed by {one['closed_by']}" if one["closed_by"] else "open"
    class_ = f"{one['class']} ({one['why']})" if one["class"] else "not classified"
    yield f"{one['failure']} {state}: gate {one['gate']}, run {one['run']}, {class_}"
    if one.get("command"):
        yield f"  command: {one['command']}"
    failing = one.get("failing", [])
    if failing:
        more = f" and {len(failing) - 3} more" if len(failing) > 3 else ""  # noqa: PLR2004 - three fit on a line
        yield f"  failing: {', '.join(failing[:3])}{more}"
    yield f"  cleanup: {one.get('cleanup', 'unknown')}"
    yield from (f"  | {line}" for line in str(one.get("traceback", "")).splitlines())
