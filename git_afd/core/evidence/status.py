"""What a judgement amounts to, and what several of them amount to together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Status = Literal["PASS", "FAIL", "BLOCKED"]


def worst(statuses: Iterable[str]) -> Status:
    """Return PASS only when each says PASS, FAIL when one failed; without any, nothing is known: BLOCKED."""
    said = set(statuses)
    if not said:
        return "BLOCKED"  # nothing ran: nothing is known
    return "FAIL" if "FAIL" in said else "PASS" if said == {"PASS"} else "BLOCKED"
