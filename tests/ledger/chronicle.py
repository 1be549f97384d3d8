"""Writes records as the ledger would, without a repository: for tables and properties of the fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from git_afd.core.fold import fold
from git_afd.core.names import REVISION_KEYS
from git_afd.core.outcome import Json
from git_afd.core.phases import GATE_OF, PHASES
from git_afd.core.records import Draft, Record, chain
from git_afd.core.state import Freeze, State, Upgrade

ADA, BOB = "Ada Example <ada@example.org>", "Bob Example <bob@example.org>"
BASE = "a" * 40
UPGRADE = "v0.26.0-1"

FREEZE: dict[str, Json] = {
    "branch": "upgrade/v0.26.0",
    "base": BASE,
    "base_tree": "b" * 40,
    "primary": ADA,
    "revisions": {
        key: {"ref": f"v{place}", "object": str(place) * 40, "commit": str(place) * 40, "tree": "d" * 40}
        for place, key in enumerate(REVISION_KEYS)
    },
    "policy": {"digest": "p" * 64, "text": ""},
    "plugin": {"dirty": {}},
    "worktrees": {},
    "pair": {"target": {"verdict": "supported"}},
}


def cause(name: str = "RC-1", *, op: str = "add", **more: Json) -> dict[str, Json]:
    """A root-cause record's body."""
    plan: dict[str, Json] = {"title": "t", "kind": "adaptation", "class": "MECHANICAL", "files": ["a.py"]}
    return {"root_cause": name, "op": op, **plan, **more}


def phase(name: str, status: str = "PASS", evidence: tuple[str, ...] = ()) -> dict[str, Json]:
    """A phase record's body."""
    return {"phase": name, "status": status, "evidence": list(evidence), "blocker": "", "next_allowed_action": ""}


def commit(name: str = "RC-1", **more: Json) -> dict[str, Json]:
    """A commit record's body."""
    ids: dict[str, Json] = {"commit": "c" * 40, "parent": BASE, "tree": "e" * 40, "paths": ["a.py"]}
    return {"root_cause": name, **ids, **more}


def run(name: str, gate: str, status: str = "PASS", **more: Json) -> dict[str, Json]:
    """A finished run's body."""
    return {"run": name, "op": "finished", "status": status, "gate": gate, "commit": "c" * 40, **more}


@dataclass
class Chronicle:
    """A ledger as a list. `fork` continues it in another clone, which sees only what was there."""

    records: list[Record] = field(default_factory=list)
    by: str = ADA

    def add(self, kind: str, body: Mapping[str, Json], *, by: str = "", upgrade: str = UPGRADE) -> Record:
        """Write one record on top of all that this clone has seen."""
        state = self.state
        draft = Draft(kind, upgrade, body, BASE)
        sealed = chain([draft], state.seq, state.heads, at="2026-08-01T10:00:00Z", by=by or self.by, tool="t")
        self.records += sealed
        return sealed[0]

    def fork(self, by: str = BOB) -> Chronicle:
        """A clone that goes its own way from here."""
        return Chronicle(list(self.records), by)

    def merged(self, other: Chronicle) -> Chronicle:
        """What both clones have after a merge of their ledgers."""
        return Chronicle(list({record.id: record for record in (*self.records, *other.records)}.values()), self.by)

    @property
    def state(self) -> State:
        """The state of everything written."""
        return fold(self.records)

    @property
    def up(self) -> Upgrade:
        """The one upgrade."""
        return self.state.upgrades[UPGRADE]

    @property
    def freeze(self) -> Freeze:
        """Its freeze."""
        return self.up.freeze

    def complaints(self) -> list[str]:
        """What did not count, and why."""
        return [finding.message.partition("does not count: ")[2] for finding in self.state.findings]


def passed(until: int, *, items: Mapping[str, str] | None = None, bound: Mapping[str, str] | None = None) -> Chronicle:
    """An upgrade whose phases below number `until` have passed the way the workflow wants them to."""
    told = Chronicle()
    told.add("freeze", FREEZE)
    for number, evidence in zip(range(until), _basis(told, items or {}, bound or {}), strict=False):
        told.add("phase", phase(PHASES[number].name, evidence=evidence))
    assert not told.state.findings
    return told


def _basis(told: Chronicle, items: Mapping[str, str], bound: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    yield (told.records[0].id,)
    yield (told.add("inventory", {"how": "by hand", "artifact": "1" * 64, "items": {}}).id,)
    yield (told.add("diff", {"how": "by hand", "artifact": "2" * 64, "items": dict(items)}).id,)
    yield (told.add("decision", {"decide": "continue", "why": "it maps", "conditions": []}).id,)
    yield ()
    where = {"content": "C", "whole": "W", "commits": told.freeze.commits_digest, "policy": "p" * 64, **bound}
    for item in PHASES[5:11]:
        gate = GATE_OF[item.name]
        yield (
            told.add(
                "run", run(f"{gate}-1", gate, bound=where, artifacts={"out": gate * 9, "run.json": f"facts of {gate}"})
            ).id,
        )
    yield ()
