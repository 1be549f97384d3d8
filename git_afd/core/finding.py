"""A finding: one thing wrong, with a stable code, a place, a message and a remedy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing wrong.

    `code` is stable (kebab-case, programs match on it), `place` is where (``path:line``, a record id, a
    phase, a root cause), `message` is one sentence, `remedy` one line. `severity` is ``error`` or ``note``.
    """

    code: str
    place: str
    message: str
    remedy: str = ""
    severity: str = "error"

    def as_json(self) -> dict[str, str]:
        """Return the finding as the ``findings[]`` entry of ``--json``."""
        return {
            "code": self.code,
            "place": self.place,
            "message": self.message,
            "remedy": self.remedy,
            "severity": self.severity,
        }
