"""A candidate: one place that says which revision of an upstream is in use, and how much its word weighs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

KINDS: Final = {
    "pin": 1,
    "lockfile": 1,
    "constant": 2,
    "annotation": 2,
    "support-matrix": 2,
    "install-doc": 2,
    "recipe": 2,
    "container": 2,
    "ci": 2,
    "commit-lock": 3,
    "dockerfile": 4,
    "release-matrix": 4,
    "installed": 5,
    "checkout": 5,
}
"""Kinds of evidence and their rank, strongest first, in the order in which the workflow (Phase 0) names them."""

CORROBORATION: Final = 5
"""The rank that may support or contradict a decision and never makes one."""

_ORDER: Final = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement about a revision.

    `upstream` is ``vllm`` or ``vllm-ascend``; `text` is the revision as written (``0.19.1``, ``v0.19.1rc1``,
    ``80d8c194f``); `path` is repository-relative and `line` counts from 1; `kind` is a key of `KINDS`.
    An empty `text` says that the place could not be read, and `note` says why: such a candidate never resolves.
    """

    upstream: str
    text: str
    path: str
    line: int
    kind: str
    note: str = ""

    @property
    def rank(self) -> int:
        """Return the workflow's rank, 1 (strongest) to 5 (corroboration only)."""
        return KINDS[self.kind]

    @property
    def place(self) -> str:
        """Return ``path:line``."""
        return f"{self.path}:{self.line}"

    def as_json(self) -> dict[str, str | int]:
        """Return the candidate as a row for the ledger and for ``--explain``."""
        return {
            "upstream": self.upstream,
            "text": self.text,
            "path": self.path,
            "line": self.line,
            "rank": self.rank,
            "kind": self.kind,
            "note": self.note,
        }


def strength(candidate: Candidate) -> tuple[int, str, int, str, str, str]:
    """Return the sort key that puts the strongest kind first, then path, line and the rest."""
    order = _ORDER[candidate.kind]
    return (order, candidate.path, candidate.line, candidate.upstream, candidate.text, candidate.note)


def ordered(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates strongest first, each once."""
    return tuple(sorted(set(candidates), key=strength))
