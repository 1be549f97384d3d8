"""How many devices a run can use: what the host has, as far as the environment lets it be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"


def visible(chips: int, environment: Mapping[str, str]) -> int:
    """Return how many of `chips` the environment leaves visible; all of them when it says nothing."""
    said = environment.get(VISIBLE, "").strip()
    return min(chips, len({word.strip() for word in said.split(",") if word.strip()})) if said else chips
