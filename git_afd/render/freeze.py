"""Words for ``git afd freeze``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.few import few
from git_afd.core.outcome import Outcome
from git_afd.render.table import columns

_HEADS = {
    "frozen": "Frozen: upgrade {upgrade} on branch {branch}, base {base:.12}",
    "already": "Frozen already, nothing changed: upgrade {upgrade} on branch {branch}, base {base:.12}",
    "restored": "Frozen already, a lost worktree put back: upgrade {upgrade} on branch {branch}, base {base:.12}",
    "dry-run": "Would freeze: upgrade {upgrade} on branch {branch}, base {base:.12}",
}


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show the four revisions and how each was found, the pairs, the stack, the places, what is left alone."""
    data: Mapping[str, Any] = outcome.data
    if data["result"] == "blocked":
        yield "FREEZE_IDENTITY BLOCKED; nothing was recorded"
        yield from _explained(data, color=color)
        return
    yield _HEADS[data["result"]].format(**data)
    rows = ((key, row["commit"][:12], row["ref"], row.get("how", "")) for key, row in data["revisions"].items())
    yield columns(("revision", "commit", "ref", "evidence"), rows, color=color)
    for side, pair in (data["pair"] or {}).items():
        yield f"{side} pair: {pair.get('verdict', 'unknown')}: {pair.get('reason', '')}"
    members = (data["stack"] or {}).get("members", {})
    yield "target stack: " + (
        ", ".join(f"{name} {stated[0]['value']}" for name, stated in members.items()) or "unstated"
    )
    for name, path in data["worktrees"].items():
        reused = data["sources"].get(name, {}).get("reused")
        yield f"target {name}: {path}{' (the provided checkout, re-used)' if reused else ''}"
    for name, proof in (data["untouched"] or {}).items():
        yield f"source {name}: untouched, {proof.get('paths', 'no')} paths compared"
    yield from _own(data)
    yield from _explained(data, color=color)
    yield f"FREEZE_IDENTITY {data['status']}" + (f": {data['blocker']}" if data["blocker"] else "")


def _own(data: Mapping[str, Any]) -> Iterator[str]:
    dirty = data["dirty"]
    if dirty:
        yield f"left alone, since they were dirty: {few(dirty)}"
    yield f"guarded values: {data['guards']}; documents to read: {len(data['documents'] or {})}"


def _explained(data: Mapping[str, Any], *, color: bool) -> Iterator[str]:
    if data["explain"]:
        head = ("upstream", "rank", "kind", "says", "commit", "place")
        yield columns(head, (_row(row) for row in data["candidates"]), color=color)


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    says = row["text"] or row["note"]
    place = f"{row['path']}:{row['line']}" if row["line"] else row["path"]
    return row["upstream"], str(row["rank"]), row["kind"], says, row["commit"][:12] or "no commit", place
