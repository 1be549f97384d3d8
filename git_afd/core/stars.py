"""The one wildcard of names that may hold brackets, as pytest's ids do: ``*`` stands for anything."""

from __future__ import annotations

import re


def fits_stars(pattern: str, name: str) -> bool:
    """Say whether `name` is `pattern`, in which ``*`` stands for anything and every other character for itself."""
    if "*" not in pattern:
        return name == pattern
    return bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL))
