"""Words for ``git afd diff``."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from git_afd.core.outcome import Outcome
from git_afd.render.inventory import phase_line

_ALL: Final = 40
"""Up to so many rows are all shown; of more, only those that are not as they were."""

Row = Mapping[str, Any]


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show the impacts by file of the plugin, the counts, the changed upstream files, and the phase."""
    data: Mapping[str, Any] = outcome.data
    if "impacts" not in data:
        yield "Nothing was recorded: rows were refused."
        return
    rows: Sequence[Row] = data["impacts"]
    shown = rows if len(rows) <= _ALL else [row for row in rows if row["state"] != "unchanged" or row["breaking"]]
    for path in dict.fromkeys(_path(row) for row in shown):
        yield _styled(path, "1", color=color)
        for row in shown:
            if _path(row) == path:
                yield from _impact(row, color=color)
    if shown:
        yield ""
    if len(shown) < len(rows):
        yield f"{len(rows) - len(shown)} impacts are unchanged and not shown; --json has all."
    yield from _counts(data)
    if "phase" in data:
        yield phase_line(data, "diff")
    elif "at" in data:
        yield f"Looked at {data['at'][:12]} ({data['how']}); nothing was recorded."


def _path(row: Row) -> str:
    plugin = row.get("plugin")
    return str(plugin["path"]) if plugin else "(not a recorded contract)"


def _impact(row: Row, *, color: bool) -> Iterator[str]:
    """Yield an impact's lines: class, state, id, where in the file; then the target where it is elsewhere; why."""
    state = f"{row['state']} (breaking)" if row["breaking"] else str(row["state"])
    plugin, upstream = row.get("plugin"), row.get("upstream")
    at = f" line {plugin['line']}" if plugin and plugin["line"] else ""
    style = "31" if row["breaking"] else _STYLES.get(str(row["class"]), "")
    yield _styled(f"  {class_of(row):<15} {state:<29} {row['id']}{at}", style, color=color)
    target = row["target"]
    if target and upstream and (target["path"], target["symbol"]) != (upstream["path"], upstream["symbol"]):
        yield f"      now {'::'.join(part for part in (target['path'], target['symbol']) if part)}"
    width = max(shutil.get_terminal_size((100, 24)).columns - 6, 60)
    yield from (f"      {line}" for line in textwrap.wrap(row["reason"], width, break_long_words=False))


_STYLES: Final = {"ARCHITECTURAL": "35", "BEHAVIORAL": "33", "NONE": "2"}


def _styled(words: str, style: str, *, color: bool) -> str:
    return f"\x1b[{style}m{words}\x1b[0m" if color and style else words


def class_of(row: Row) -> str:
    """Return the class as it stands, and whether it is only proposed."""
    if not row["class"]:
        return "-"
    waits = row.get("proposed") and row.get("decided") is None and row.get("rule") and row["class"] != "NONE"
    return f"{row['class']}?" if waits else str(row["class"])


def _counts(data: Mapping[str, Any]) -> Iterator[str]:
    """Show how many impacts there are of each state and class, and which files need a look."""
    coverage = data.get("coverage")
    if not coverage:
        return
    states = ", ".join(f"{count} {name}" for name, count in coverage["states"].items())
    classes = ", ".join(f"{count} {name}" for name, count in coverage["classes"].items())
    yield f"{coverage['impacts']} impacts: {states}; {coverage['breaking']['all']} break."
    yield f"Proposed: {classes}. A question mark says that nobody has decided yet."
    flagged = [row for row in data["files"] if row["flagged"]]
    upstream = data["upstream_files"]
    mapped = sum(bool(row["contracts"]) for row in upstream)
    yield f"{len(flagged)} of {len(data['files'])} files of the plugin need a look."
    dismissed = len(upstream) - mapped
    yield f"{len(upstream)} upstream files near it changed: {mapped} mapped to contracts, {dismissed} dismissed."
    undone = [row for row in upstream if row["reverted"]]
    if undone:
        yield f"{len(undone)} of them carry a change that was reverted inside the range."
    for reason, count in coverage["unknown_reasons"].items():
        yield f"unknown ({count}): {reason}"
