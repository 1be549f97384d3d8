"""Words for ``git afd worktree``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.table import columns


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show the list, or what was removed."""
    data: Mapping[str, Any] = outcome.data
    rows = data["worktrees"]
    if outcome.verb == "worktree.remove":
        verb = "would remove" if data["result"] == "would" else "removed"
        yield from (f"{verb} {row['upstream']} {row['commit'][:12]}: {row['path']}" for row in rows)
    elif not rows:
        yield "No upgrade has a target worktree here."
    else:
        head = ("upgrade", "upstream", "commit", "state", "path")
        yield columns(head, ((*_start(row), row["state"], row["path"]) for row in rows), color=color)


def _start(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["upgrade"], row["upstream"], row["commit"][:12]
