"""Many things named in a line: the first of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_SHOWN: Final = 3
"""So many paths or test ids fit on a line."""


def few(items: Sequence[str], most: int = _SHOWN) -> str:
    """Return the first `most` of `items`, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{', '.join(items[:most])}{more}"
