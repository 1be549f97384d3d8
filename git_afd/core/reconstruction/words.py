"""How questions speak of code: shortened, in one line, with the nearest relatives of what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from git_afd.core.reconstruction.units import Unit, alike

_LENGTH: Final = 90
_SHOWN: Final = 3
_RELATED: Final = 0.35


def quoted(keys: Sequence[str], *, every: bool = False) -> str:
    """Return statements in back quotes, the first few of many unless `every` one is wanted."""
    shown = len(keys) if every else _SHOWN
    parts = [f"`{_short(key)}`" for key in keys[:shown]]
    more = f" and {len(keys) - shown} more" if len(keys) > shown else ""
    return ", ".join(parts) + more


def _short(key: str) -> str:
    line = "the end of it" if key == ")" else " ".join(key.split())
    return line if len(line) <= _LENGTH else f"{line[: _LENGTH - 1]}…"


def nearest(lost: Unit, units: Sequence[Unit]) -> str:
    """Say where the nearest relatives of a unit are, as a clause."""
    scored = sorted(((alike(lost, unit), unit.first, unit.key) for unit in units), key=lambda item: -item[0])
    close = [f"`{_short(key)}` (line {row})" for degree, row, key in scored[:2] if degree >= _RELATED]
    return f"nearest there: {', '.join(close)}" if close else "nothing there is like it"
