"""Words for ``git afd reconstruct``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.table import columns, visible

_TITLES = {
    "then": "What the plugin's copy changed at the current commit",
    "now": "What it changes at the target",
    "change": "What changes in the plugin's file",
}


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show the new function (or the three views), then what is left over, then whether it is complete."""
    data: Mapping[str, Any] = outcome.data
    if "three_way" in data:
        for name, title in _TITLES.items():
            yield from (title, "", *_diff(data["three_way"][name], color=color), "")
    else:
        yield from (_printable(line) for line in str(data["text"]).rstrip("\n").split("\n"))
        yield ""
    rows = [
        (item["label"], item["does"], f"{item['found']} of {item['expected']}", item["fate"]) for item in data["blocks"]
    ]
    if rows:
        yield columns(("block", "does", "anchors", "fate"), rows, color=color)
    for item in data["deviations"]:
        what = item["copy"] or item["upstream"]
        decided = item["decided"] or "to be decided"
        yield visible(f"{item['id']} line {item['line']}: {item['form']}: {' '.join(what.split())} ({decided})")
    yield from (visible(f"import: {statement}") for statement in data["imports"])
    yield from (visible(f"note: {note}") for note in data["notes"])
    place = f"{data['plugin']['path']}::{data['plugin']['symbol']}"
    if "written" in data:
        done = "written" if data["written"] else "would be written"
        yield visible(f"{place}: {done}, for {data['root_cause']}")
    else:
        yield visible(f"{place}: {'complete' if data['complete'] else 'not complete'}")


def _diff(lines: str, *, color: bool) -> Iterator[str]:
    styles = {"+": "32", "-": "31", "@": "36"}
    for line in lines.split("\n"):
        style = styles.get(line[:1]) if color else None
        yield f"\x1b[{style}m{_printable(line)}\x1b[0m" if style else _printable(line)


def _printable(line: str) -> str:
    """Keep tabs: they are code."""
    return "\t".join(visible(part) for part in line.split("\t"))
