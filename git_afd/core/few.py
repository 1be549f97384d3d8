"""Many things named in a line: the first of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_SHOWN: Final = 3
"""So many paths or test ids fit on a line."""


def few(items: Sequence[str]) -> str:
    """Return the first three of `items`, and how many more there are."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return f"{', '.join(items[:_SHOWN])}{more}"
