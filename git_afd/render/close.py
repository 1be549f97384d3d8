"""Words for ``git afd close``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show that the upgrade is closed, and what it owes."""
    data: Mapping[str, Any] = outcome.data
    done = "" if data["recorded"] else " (nothing was written)" if data["dry_run"] else " (it was before)"
    yield f"Upgrade {data['upgrade']} is closed, not complete: {data['why']}{done}"
    yield from (f"owed: {item}" for item in data["owed"])
