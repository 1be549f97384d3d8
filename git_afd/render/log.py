"""Words for ``git afd log``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.document import Piece, Table
from git_afd.render.log_run import run_pieces

_LONGEST = 200


def pieces(outcome: Outcome) -> Iterator[Piece]:
    """Show one row per record, what does not count, and every piece of damage with the ways to deal with it."""
    data: Mapping[str, Any] = outcome.data
    if "text" in data:
        yield from data["text"].splitlines()
        return
    rows = tuple(_row(record) for record in data["records"])
    if rows:
        yield Table(("seq", "id", "at", "kind", "upgrade", "by", "says"), rows)
    elif not data["only_damage"]:
        yield "No record fits." if data["total"] else "The ledger is empty."
    yield from (f"{record['does_not_count']}." for record in data["records"] if record["does_not_count"])
    if data["only_damage"] and not data["damage"]:
        yield "Everything in the ledger can be read."
    if data["damage"]:
        yield ""
        yield from _damage(data["damage"])
    for run in data["runs"]:
        yield ""
        yield from run_pieces(run)


def _row(record: Mapping[str, Any]) -> tuple[str, ...]:
    mark = " (does not count)" if record["does_not_count"] else ""
    who = record["by"].partition(" <")[0]
    return (
        str(record["seq"]),
        record["id"][:12],
        record["at"],
        record["kind"],
        record["upgrade"],
        who,
        record["headline"] + mark,
    )


def _damage(items: list[Mapping[str, Any]]) -> Iterator[str]:
    for item in items:
        yield f"damage {item['id'][:12]}: what stands at {item['place']} {item['reason']}"
        if item["line"]:
            cut = f" … ({len(item['line'])} characters)" if len(item["line"]) > _LONGEST else ""
            yield f"  line: {item['line'][:_LONGEST]}{cut}"
        if item["set_aside"]:
            yield f"  set aside {item['set_aside']}"
        else:
            yield "  to go on without it: git afd approve damage"
    yield "To get back what is lost, fetch refs/notes/afd/ledger from a clone that has it, or look for the last"
    yield "sound version with: git log -p refs/notes/afd/ledger"
