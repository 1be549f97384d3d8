"""Which chips a run could use: ASCEND_RT_VISIBLE_DEVICES names logic ids, and ``npu-smi info -m`` says where those are.

On a shared host somebody else's job on another chip is not this run's leak. Whatever is not understood here means all
chips: then everything counts.
"""

from __future__ import annotations

import re
from typing import Final

Place = tuple[int, int]
"""An NPU and a chip on it, as the tables of npu-smi number them."""

MAP: Final = "host/npu-smi.map.txt"
"""Name of the artifact that holds what ``npu-smi info -m`` printed."""

_HEADER: Final = re.compile(r"\s*NPU ID\s+Chip ID\s+Chip Logic ID(?:\s+Chip Phy-ID)?\s+Chip Name\s*")
_ROW: Final = re.compile(r"\s*(\d{1,6})\s+(\d{1,6})\s+(\d{1,6})\s+\S.*")
_OTHER: Final = re.compile(r"\s*\d{1,6}\s+\d{1,6}\s+(?:-|N/A)\s+\S.*")
"""A controller: it has no logic id and computes nothing."""

_IDS: Final = re.compile(r"\d{1,6}(?:,\d{1,6})*")


def places_of(visible: str, text: str) -> frozenset[Place] | None:
    """Return the chips that `visible` (``0,1,2``) names by the table `text`; None stands for all of them."""
    ids = "".join(visible.split())
    table = _table(text)
    if not _IDS.fullmatch(ids) or table is None:
        return None
    named = {int(word) for word in ids.split(",")}
    return frozenset(table[one] for one in named) if named <= table.keys() else None


def _table(text: str) -> dict[int, Place] | None:
    lines = [line for line in text.splitlines() if line.strip()]
    start = next((at for at, line in enumerate(lines) if _HEADER.fullmatch(line)), None)
    if start is None:
        return None
    found: dict[int, Place] = {}
    for line in lines[start + 1 :]:
        row = _ROW.fullmatch(line)
        if row is None and not _OTHER.fullmatch(line):
            return None
        if row is not None:
            found[int(row[3])] = (int(row[1]), int(row[2]))
    return found if len(set(found.values())) == len(found) else None
