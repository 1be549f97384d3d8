"""How far a running command has come, from what it has printed so far: tests done, and its last line.

For a person's eyes only: what counts is judged from reports, never from this.
"""

from __future__ import annotations

import re
from typing import Final

_KEPT: Final = 4 << 10
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_QUIET: Final = re.compile(r"(?:\S+\.py )?([.FEsxXpP]+)(?:\s*\[\s*\d+%\])?\s*")
"""A line of ``pytest -q``: a character a test."""

_OUTCOMES: Final = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS"
_VERBOSE: Final = re.compile(rf"\S+::.* (?:{_OUTCOMES})\b|\[gw\d+\].* (?:{_OUTCOMES}) \S+::")
"""A line of ``pytest -v``, alone or with xdist; the summary at the end begins with the outcome and is none."""


class Progress:
    """One command under way: `title` says which, `expected` how many tests were collected for it, 0 when none were.

    `began` is the moment it began, in seconds of the clock that :meth:`line` is asked by.
    """

    def __init__(self, title: str, expected: int, began: float) -> None:
        """Nothing has been printed yet."""
        self.title = title
        self.expected = expected
        self.began = began
        self.done = 0
        self._rest = ""
        self._last = ""

    def feed(self, data: bytes) -> None:
        """Take what was printed; memory stays bounded, whatever the length of a line."""
        *lines, rest = (self._rest + data.decode(errors="replace")).split("\n")
        for line in lines:
            self.done += self._tests(line)
            self._last = line[-_KEPT:] if line.strip() else self._last
        self._rest = rest[-_KEPT:]

    @property
    def tests(self) -> int:
        """How many tests are done, of those that were expected at most."""
        return min(self.done + self._tests(self._rest), self.expected)

    @property
    def last(self) -> str:
        """The last line that says something, as a terminal would show it, without colours or control characters."""
        for line in (self._rest, self._last):
            shown = _ESCAPES.sub("", line).rstrip("\r").rpartition("\r")[2]
            if text := " ".join(_UNSEEN.sub(" ", shown).split()):
                return text
        return ""

    def line(self, now: float) -> str:
        """Say where it stands: which gate and command, how long, tests done of expected, the last line."""
        tests = f"{self.tests} of {self.expected} tests" if self.expected else ""
        return ", ".join(filter(None, (f"{self.title}: {elapsed(now - self.began)}", tests, self.last)))

    def _tests(self, line: str) -> int:
        if not self.expected:
            return 0
        text = _ESCAPES.sub("", line).rstrip("\r")
        if found := _QUIET.fullmatch(text):
            return len(found[1])
        return 1 if _VERBOSE.match(text) else 0


def elapsed(seconds: float) -> str:
    """Return a time as people say it: ``45 s``, ``1:05``, ``2:00:07``."""
    whole = int(max(seconds, 0))
    minutes, hours = whole // 60, whole // 3600
    if not minutes:
        return f"{whole} s"
    return f"{hours}:{minutes % 60:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def fitted(text: str, cells: int) -> str:
    """Return the beginning of `text` that fits into `cells` of a terminal."""
    if len(text) <= cells and text.isascii():
        return text
    from unicodedata import combining, east_asian_width

    used = 0
    for place, char in enumerate(text):
        used += 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
        if used > cells:
            return text[:place]
    return text
