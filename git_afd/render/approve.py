"""Words for ``git afd approve``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show what is approved, by whom and why; for a dry run, what would be asked."""
    data: Mapping[str, Any] = outcome.data
    if data["result"] == "would-ask":
        yield "Would ask on a terminal:"
        yield from (f"  {line}" for line in data["says"])
        return
    already = "already " if data["result"] == "already" else ""
    yield f"{data['what']} {already}approved by {data['name']}: {data['reason']}"
    yield f"  {data['subject']}"
