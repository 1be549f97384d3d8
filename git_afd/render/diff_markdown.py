"""``git afd diff --markdown``: the workbook's impact table, for a report or a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from git_afd.core.outcome import Outcome
from git_afd.render.diff import class_of
from git_afd.render.markdown import table

_HEAD: Final = (
    *("Upstream path/symbol", "Old contract", "Target contract", "Class", "Plugin consumers", "Preserved invariant"),
    *("Adaptation", "Test", "Risk", "Order"),
)


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show one table of impacts for each file of the plugin, then the files."""
    data: Mapping[str, Any] = outcome.data
    yield "# Impact matrix"
    rows = data.get("impacts", ())
    for path in dict.fromkeys(_path(row) for row in rows):
        yield f"\n## {path}\n"
        yield from table(_HEAD, (_impact(row) for row in rows if _path(row) == path))
    if data.get("files"):
        yield "\n# Files of the plugin\n"
        yield from table(("File", "Needs a look", "Why"), (_file(row) for row in data["files"]))
        yield "\n# Changed upstream files near them\n"
        yield from table(("Upstream", "File", "Status", "Why"), (_upstream(row) for row in data["upstream_files"]))


def _path(row: Mapping[str, Any]) -> str:
    plugin = row.get("plugin")
    return str(plugin["path"]) if plugin else "(no file)"


def _impact(row: Mapping[str, Any]) -> tuple[str, ...]:
    upstream = row.get("upstream") or {"name": "", "path": "", "symbol": ""}
    what = f"{upstream['name']} `{upstream['path']}` {upstream['symbol']}".rstrip()
    state = f"{row['state']}{', breaking' if row['breaking'] else ''}: {row['reason']}"
    new = f"`{row['new']}`; {state}" if row["new"] else state
    return (
        what,
        f"`{row['old']}`" if row["old"] else "",
        new,
        class_of(row),
        ", ".join(row["consumers"]),
        row["invariant"],
        row["adaptation"] or row["action"],
        ", ".join(row["tests"]),
        row["risk"],
        row["order"],
    )


def _file(row: Mapping[str, Any]) -> tuple[str, ...]:
    return f"`{row['path']}`", "yes" if row["flagged"] else "no", row["why"]


def _upstream(row: Mapping[str, Any]) -> tuple[str, ...]:
    old = f" (was `{row['old']}`)" if row["old"] else ""
    reverted = f"; {'; '.join(row['reverted'])}" if row["reverted"] else ""
    return row["upstream"], f"`{row['path']}`{old}", row["status"], f"{row['why']}{reverted}"
