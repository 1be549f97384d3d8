"""Reads the expected tests from what ``pytest --collect-only -q`` prints."""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import Final

from git_afd.core.evidence.fault import EvidenceFault

SIZE_LIMIT: Final = 64 << 20
"""Largest listing that is read, in bytes: a hundred thousand tests have some ten MiB."""

_COUNT_LINE: Final = re.compile(r"\S.*\.py: \d+\Z")
_SUMMARY: Final = re.compile(r"(?:(\d+)/)?(\d+) tests? collected(?: \((\d+) deselected\))?(?:, (\d+) errors?)?")
_DESELECTED: Final = re.compile(r"tests? collected.*\((\d+) deselected\)")
_EXPECTED: Final = "one node id a line and the closing line with their number"


def parse_collected(data: bytes, file: str) -> tuple[str, ...]:
    """Return the node ids in the order printed; `file` names the listing for messages.

    Raises EvidenceFault: too large, no closing line (cut off), errors during collection, ``-q`` given twice (counts
    instead of ids: the project's own configuration may hold one), an id twice, or a number that contradicts the list.
    """
    if len(data) > SIZE_LIMIT:
        raise EvidenceFault(file, "", f"has {len(data)} bytes", f"at most {SIZE_LIMIT}")
    lines = data.decode(errors="replace").splitlines()
    names, rest = _split(lines)
    if not names and any(_COUNT_LINE.match(line) for line in lines):
        raise EvidenceFault(file, "", "lists counts, no ids", f"{_EXPECTED}; give -q once less")
    if any(re.match(r"no tests (collected|ran)", line) for line in rest) and not names:
        return ()
    summary = next((match for line in reversed(rest) if (match := _SUMMARY.search(line))), None)
    if summary is None:
        raise EvidenceFault(file, "", "has no closing line", _EXPECTED)
    selected, total, _, errors = summary.groups()
    if errors:
        raise EvidenceFault(file, "", f"{errors} modules could not be imported", "a collection without errors")
    if int(selected or total) != len(names):
        raise EvidenceFault(file, "", f"{len(names)} ids stand there", f"{selected or total} as its last line says")
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice:
        raise EvidenceFault(file, twice, "stands there twice", "each test once")
    return names


def deselected(data: bytes) -> int:
    """Return how many tests the closing line of a readable listing says were left out."""
    found = (match for line in data.decode(errors="replace").splitlines() if (match := _DESELECTED.search(line)))
    last = deque(found, maxlen=1)
    return int(last[0].group(1)) if last else 0


def _split(lines: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the ids, the first block of lines with any, and what follows it: imports may print before them."""
    start = next((place for place, line in enumerate(lines) if "::" in line), 0)
    end = lines.index("", start) if "" in lines[start:] else len(lines)
    return tuple(line for line in lines[:end] if "::" in line), lines[end:] if end else lines
