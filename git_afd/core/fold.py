"""The fold from records to state: pure, total, and the same for any order and any repetition of the lines.

Records are taken in the order ``(seq, id)``. A record that the state does not allow is kept and reported as
a finding, never refused; a kind that is not known is left alone. Four laws hold and are property tests:
order does not matter, repetition does not matter, the state at any seq is the fold of the records up to it
(so folding on from a state equals folding everything), and any line at all gives a state.

What a record must hold and when it is allowed stands in :mod:`git_afd.core.rules`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from git_afd.core import shape
from git_afd.core.case import Case, Illegal, frozen
from git_afd.core.finding import Finding
from git_afd.core.records import VERSION, Record
from git_afd.core.rules import AFTER_STOP, RULES
from git_afd.core.state import EMPTY, State

KINDS: Final = ("freeze", *RULES)
"""Every kind of record that this version knows (docs/reference/records.md)."""


def fold(records: Iterable[Record]) -> State:
    """Return the state of all `records`."""
    return extend(EMPTY, records)


def extend(state: State, records: Iterable[Record]) -> State:
    """Return `state` with `records` added; each must come after everything that `state` holds."""
    draft = _Draft.of(state)
    unique = {record.id: record for record in records}
    for record in sorted(unique.values(), key=attrgetter("seq", "id")):
        draft.take(record)
    return draft.state()


@dataclass(slots=True)
class _Draft:
    """A state while it is being folded. Never leaves this module."""

    seq: int
    heads: dict[str, None]
    cases: dict[str, Case]
    findings: list[Finding]
    count: int

    @classmethod
    def of(cls, state: State) -> _Draft:
        cases = {name: Case.of(up) for name, up in state.upgrades.items()}
        return cls(state.seq, dict.fromkeys(state.heads), cases, list(state.findings), state.count)

    def state(self) -> State:
        upgrades = {name: case.upgrade() for name, case in self.cases.items()}
        return State(self.seq, tuple(sorted(self.heads)), upgrades, tuple(self.findings), self.count)

    def take(self, record: Record) -> None:
        self.seq = max(self.seq, record.seq)
        self.count += 1
        for seen in record.prev:
            self.heads.pop(seen, None)
        self.heads[record.id] = None
        if record.v > VERSION or not (record.kind in RULES or record.kind == "freeze"):
            return  # a later tool's record: kept in the ledger, blocks nothing here
        try:
            self._apply(record)
        except (shape.ShapeFault, Illegal) as fault:
            message = f"{record.kind} record {record.id[:12]} by {record.by} does not count: {fault}"
            self.findings.append(Finding("illegal-record", record.id, message, "git afd log"))

    def _apply(self, record: Record) -> None:
        case = self.cases.get(record.upgrade)
        if record.kind == "freeze":
            if case is not None:
                raise Illegal("this upgrade is frozen already")
            self.cases[record.upgrade] = Case(record.upgrade, frozen(record))
            return
        if case is None:
            raise Illegal("no freeze comes before it")
        if case.closed:
            raise Illegal("the upgrade was closed before it")
        gate = case.phases.get("ARCHITECTURE_GATE")
        if gate is not None and gate.status == "STOPPED" and record.kind not in AFTER_STOP:
            raise Illegal("the upgrade was stopped at the architecture gate before it")
        RULES[record.kind](case, record)
