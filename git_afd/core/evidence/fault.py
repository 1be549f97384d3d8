"""What is said when a raw result cannot be read: it decides nothing, so it blocks."""

from __future__ import annotations

from git_afd.core.finding import Finding
from git_afd.errors import Blocked


class EvidenceFault(Blocked):
    """A raw result that cannot be used: which file, where in it, what is wrong, what was expected.

    `where` is a line, a key path (``results.gsm8k``) or a test's name; empty when it is the whole file.
    """

    def __init__(self, file: str, where: str, wrong: str, expected: str) -> None:
        """Compose the sentence from its four parts."""
        self.file = file
        self.where = where
        self.expected = expected
        place = f"{file}, {where}" if where else file
        super().__init__(
            f"{place}: {wrong}; expected {expected}.",
            "Use the file that the recorded run wrote, or run the gate again.",
            code="evidence-unreadable",
        )

    def as_finding(self) -> Finding:
        """Return the fault as a finding, for a verdict that is BLOCKED by it."""
        place = f"{self.file}:{self.where}" if self.where else self.file
        return Finding(self.code, place, self.message, self.fix)
