"""Words for ``git afd status``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.document import Piece, Table


def pieces(outcome: Outcome) -> Iterator[Piece]:
    """Show the upgrade, its four revisions, the twelve phases, and what is open."""
    data: Mapping[str, Any] = outcome.data
    if data["upgrade"] is None:
        yield f"No upgrade here: {data['why']}."
        yield from (f"  {name} on branch {branch}" for name, branch in data["upgrades"].items())
        return
    closed = f" (closed, not complete: {data['closed']})" if data["closed"] else ""
    yield f"Upgrade {data['upgrade']} on {data['branch']}, base {data['base'][:12]}{closed}"
    for key, revision in data["revisions"].items():
        yield f"  {key:<20} {revision['commit'][:12]}  {revision['ref']}"
    yield ""
    yield Table(("#", "phase", "status", "evidence", "blocker"), tuple(_row(row) for row in data["phases"]))
    yield from _open(data)


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    evidence = " ".join(str(item)[:12] for item in row["evidence"])
    return str(row["number"]), row["phase"], row["status"], evidence, row["blocker"]


def _open(data: Mapping[str, Any]) -> Iterator[str]:
    for cause in data["root_causes"]:
        if cause["status"] != "withdrawn":
            commit = f" {cause['commit'][:12]}" if cause["commit"] else ""
            yield f"{cause['name']} {cause['status']}{commit}: {cause['title']}"
    if data["undisposed"]:
        yield f"not disposed of: {len(data['undisposed'])} impact(s)"
    for one in data["failures"]:
        class_ = f"{one['class']} ({one['why']})" if one["class"] else "not classified"
        finding = ", an architecture finding" if one["architecture"] else ""
        yield f"{one['name']} open: gate {one['gate']} failed in run {one['run']}, {class_}{finding}"
    for approval in data["approvals"]:
        yield f"approved by {approval['name']}: {approval['what']} {approval['subject']} ({approval['reason']})"
    if data["running"]:
        run = data["running"]
        yield f"running: {run['run']}, gate {run['gate']}, process {run['pid']}, since {run['since']}"
        yield f"  git afd log --run {run['run']} --follow"
    for name in data["unfinished"]:
        yield f"unfinished run: {name} (its process is gone; run the gate again)"
