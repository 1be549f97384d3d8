"""Words for ``git afd commit``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show the commit, or what it would be, or what a hook made of it."""
    data: Mapping[str, Any] = outcome.data
    name = data["root_cause"]
    if "difference" in data:
        yield f"{name} is not committed; nothing of yours was changed by this command."
        if data["difference"]:
            yield "what a hook changed:"
            yield data["difference"].rstrip("\n")
        return
    would = f"{name} would be committed" if data["dry_run"] else f"{name} is {data['commit']}"
    yield f"{would} ({data['way']}), on {data['parent'][:12]}:"
    for item in data["paths"]:
        yield f"  {_mark(item)} {item['path']}"
    if data["dry_run"]:
        yield ""
        yield data["message"].rstrip("\n")


def _mark(item: Mapping[str, str]) -> str:
    if not item["blob"].strip("0"):
        return "D"
    return "A" if not item["old_blob"].strip("0") else "M"
