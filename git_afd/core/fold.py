"""The fold from records to state: pure, total, and the same for any order and any repetition of the lines.

Records are taken in the order ``(seq, id)``. A record that the state does not allow is kept and reported as
a finding, never refused; a kind that is not known is left alone. Four laws hold and are property tests:
order does not matter, repetition does not matter, the state at any seq is the fold of the records up to it
(so folding on from a state equals folding everything), and any line at all gives a state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from git_afd.core import shape
from git_afd.core.finding import Finding
from git_afd.core.names import REVISION_KEYS, is_full_id, root_cause_number
from git_afd.core.outcome import Json
from git_afd.core.phases import BY_NAME, GATES, STATUSES, first_unsettled
from git_afd.core.records import VERSION, Record
from git_afd.core.state import (
    CLASSES,
    EMPTY,
    FATES,
    FATES_WITHOUT_CHANGE,
    ROOT_CAUSE_KINDS,
    Analysis,
    Approval,
    Committed,
    Decision,
    Freeze,
    PhaseRecord,
    Revision,
    RootCause,
    Run,
    State,
    Upgrade,
)


class _Illegal(ValueError):
    """The state does not allow this record."""


def fold(records: Iterable[Record]) -> State:
    """Return the state of all `records`."""
    return extend(EMPTY, records)


def extend(state: State, records: Iterable[Record]) -> State:
    """Return `state` with `records` added; each must come after everything that `state` holds."""
    draft = _Draft.of(state)
    unique = {record.id: record for record in records}
    for record in sorted(unique.values(), key=lambda item: item.key):
        draft.take(record)
    return draft.state()


@dataclass(slots=True)
class _Case:
    """An upgrade while it is being folded: dictionaries that grow, so that ten thousand records stay linear."""

    id: str
    freeze: Freeze
    phases: dict[str, PhaseRecord] = field(default_factory=dict)
    root_causes: dict[str, RootCause] = field(default_factory=dict)
    commits: list[Committed] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    approvals: list[Approval] = field(default_factory=list)
    inventory: Analysis | None = None
    diff: Analysis | None = None
    decision: Decision | None = None
    closed: str = ""

    @classmethod
    def of(cls, up: Upgrade) -> _Case:
        return cls(
            up.id,
            up.freeze,
            dict(up.phases),
            dict(up.root_causes),
            list(up.commits),
            dict(up.runs),
            list(up.approvals),
            up.inventory,
            up.diff,
            up.decision,
            up.closed,
        )

    def upgrade(self) -> Upgrade:
        return Upgrade(
            self.id,
            self.freeze,
            self.phases,
            self.root_causes,
            tuple(self.commits),
            self.runs,
            tuple(self.approvals),
            self.inventory,
            self.diff,
            self.decision,
            self.closed,
        )


@dataclass(slots=True)
class _Draft:
    """A state while it is being folded. Never leaves this module."""

    seq: int
    heads: dict[str, None]
    cases: dict[str, _Case]
    findings: list[Finding]
    count: int

    @classmethod
    def of(cls, state: State) -> _Draft:
        cases = {name: _Case.of(up) for name, up in state.upgrades.items()}
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
        if record.v > VERSION or record.kind not in KINDS:
            return  # a later tool's record: kept in the ledger, blocks nothing here
        try:
            self._apply(record)
        except (shape.ShapeFault, _Illegal) as fault:
            self.findings.append(
                Finding("illegal-record", record.id, f"{record.kind} record {record.id[:12]}: {fault}", "git afd log")
            )

    def _apply(self, record: Record) -> None:
        case = self.cases.get(record.upgrade)
        if record.kind == "freeze":
            if case is not None:
                raise _Illegal("this upgrade is frozen already")
            self.cases[record.upgrade] = _Case(record.upgrade, _freeze(record))
            return
        if case is None:
            raise _Illegal("no freeze comes before it")
        if case.closed:
            raise _Illegal("the upgrade was closed before it")
        _RULES[record.kind](case, record)


def _freeze(record: Record) -> Freeze:
    body = record.body
    revisions = {key: _revision(shape.table(shape.table(body, "revisions"), key), key) for key in REVISION_KEYS}
    policy, plugin = shape.table(body, "policy"), shape.table(body, "plugin")
    base = shape.text(body, "base")
    if not is_full_id(base):
        raise shape.ShapeFault("base: a full commit id was expected")
    return Freeze(
        record=record.id,
        branch=shape.text(body, "branch"),
        base=base,
        base_tree=shape.text(body, "base_tree"),
        primary=shape.text(body, "primary"),
        revisions=revisions,
        policy_digest=shape.text(policy, "digest"),
        policy_text=shape.text(policy, "text"),
        dirty=shape.text_table(plugin, "dirty"),
        worktrees=shape.text_table(body, "worktrees"),
        body=body,
    )


def _revision(body: Mapping[str, Json], key: str) -> Revision:
    found = Revision(*(shape.text(body, name, "") for name in ("ref", "object", "commit", "tree")))
    if not is_full_id(found.commit):
        raise shape.ShapeFault(f"revisions.{key}: a full commit id was expected")
    return found


def _phase(case: _Case, record: Record) -> None:
    body = record.body
    if set(body) != {"phase", "status", "evidence", "blocker", "next_allowed_action"}:
        raise shape.ShapeFault("a phase record has exactly the workflow's five fields")
    phase = BY_NAME[shape.choice(body, "phase", tuple(BY_NAME))]
    status = shape.choice(body, "status", STATUSES)
    if status == "PASS":
        earlier = first_unsettled({name: item.status for name, item in case.phases.items()}, phase.number)
        if earlier is not None:
            raise _Illegal(f"{phase.name} cannot pass while {earlier.name} has not")
    case.phases[phase.name] = PhaseRecord(
        record.id,
        phase.name,
        status,
        shape.texts(body, "evidence"),
        shape.text(body, "blocker"),
        shape.text(body, "next_allowed_action"),
    )


def _analysis(record: Record, items: Mapping[str, str]) -> Analysis:
    return Analysis(record.id, shape.text(record.body, "how"), shape.text(record.body, "artifact", ""), items)


def _inventory(case: _Case, record: Record) -> None:
    case.inventory = _analysis(record, shape.text_table(record.body, "items"))


def _diff(case: _Case, record: Record) -> None:
    items = shape.text_table(record.body, "items")
    for item, class_ in items.items():
        if class_ not in (*CLASSES, "NONE"):
            raise shape.ShapeFault(f"items.{item}: {class_!r} is no class")
    case.diff = _analysis(record, {item: class_ for item, class_ in items.items() if class_ != "NONE"})


def _decision(case: _Case, record: Record) -> None:
    _only_primary(case, record)
    decide = shape.choice(record.body, "decide", ("continue", "stop"))
    conditions = shape.tables(record.body, "conditions")
    case.decision = Decision(record.id, decide, shape.text(record.body, "why"), record.by, conditions)


def _only_primary(case: _Case, record: Record) -> None:
    if record.by != case.freeze.primary:
        raise _Illegal(f"only the primary ({case.freeze.primary}) may, and {record.by} wrote it")


def _root_cause(case: _Case, record: Record) -> None:
    body = record.body
    name = shape.text(body, "root_cause")
    if root_cause_number(name) is None:
        raise shape.ShapeFault(f"root_cause: {name!r} is no RC-n")
    op = shape.choice(body, "op", ("add", "amend", "withdraw"))
    old = case.root_causes.get(name)
    if op == "add":
        if old is not None:
            raise _Illegal(f"{name} exists already")
        case.root_causes[name] = _plan(name, body)
        return
    if old is None or old.status not in ("open", "settled"):
        raise _Illegal(f"{name} is not open")
    withdrawn = replace(old, status="withdrawn", why=shape.text(body, "why")) if op == "withdraw" else None
    case.root_causes[name] = withdrawn or _plan(name, body)


def _plan(name: str, body: Mapping[str, Json]) -> RootCause:
    disposes = shape.text_table(body, "disposes")
    for item, fate in disposes.items():
        if fate not in FATES:
            raise shape.ShapeFault(f"disposes.{item}: {fate!r} is no fate")
    files = shape.texts(body, "files")
    nothing_to_commit = not files and disposes and set(disposes.values()) <= set(FATES_WITHOUT_CHANGE)
    return RootCause(
        name=name,
        title=shape.text(body, "title"),
        kind=shape.choice(body, "kind", ROOT_CAUSE_KINDS),
        upstream=shape.texts(body, "upstream"),
        class_=shape.choice(body, "class", CLASSES),
        invariant=shape.text(body, "invariant", ""),
        files=files,
        tests=shape.texts(body, "tests"),
        removal=shape.text(body, "removal", ""),
        layer=shape.number(body, "layer", 0),
        out_of_order=shape.text(body, "out_of_order", ""),
        untested=shape.text(body, "untested", ""),
        failure=shape.text(body, "failure", ""),
        disposes=disposes,
        status="settled" if nothing_to_commit else "open",
    )


def _commit(case: _Case, record: Record) -> None:
    _only_primary(case, record)
    body = record.body
    name, commit = shape.text(body, "root_cause"), shape.text(body, "commit")
    cause = case.root_causes.get(name)
    if cause is None or cause.status != "open":
        raise _Illegal(f"{name} is not open")
    if not is_full_id(commit):
        raise shape.ShapeFault("commit: a full commit id was expected")
    parent, tree, paths = shape.text(body, "parent"), shape.text(body, "tree"), shape.texts(body, "paths")
    case.root_causes[name] = replace(cause, status="committed", commit=commit)
    case.commits.append(Committed(record.id, name, commit, parent, tree, paths))


def _run(case: _Case, record: Record) -> None:
    body = record.body
    name = shape.text(body, "run")
    old = case.runs.get(name)
    if old is not None and old.status != "started":
        raise _Illegal(f"run {name} is finished already")
    started = shape.choice(body, "op", ("started", "finished")) == "started"
    status = "started" if started else shape.choice(body, "status", ("PASS", "FAIL", "BLOCKED", "INTERRUPTED"))
    case.runs[name] = Run(
        record=record.id,
        name=name,
        gate=shape.choice(body, "gate", tuple(GATES)),
        status=status,
        commit=shape.text(body, "commit"),
        bound=shape.text_table(body, "bound"),
        artifacts=shape.text_table(body, "artifacts"),
        reason=shape.text(body, "reason", ""),
        origin=shape.text(body, "origin", "here"),
        simulated=shape.flag(body, "simulated"),
        diagnostic=shape.flag(body, "diagnostic"),
    )


def _approval(case: _Case, record: Record) -> None:
    what, subject = shape.text(record.body, "what"), shape.text(record.body, "subject", "")
    name, reason = shape.text(record.body, "name"), shape.text(record.body, "reason")
    case.approvals.append(Approval(record.id, what, subject, name, reason, record.at))


def _close(case: _Case, record: Record) -> None:
    case.closed = shape.text(record.body, "why") or "closed"


_RULES: Final[Mapping[str, Callable[[_Case, Record], None]]] = {
    "phase": _phase,
    "inventory": _inventory,
    "diff": _diff,
    "decision": _decision,
    "root-cause": _root_cause,
    "commit": _commit,
    "run": _run,
    "approval": _approval,
    "close": _close,
}

KINDS: Final = ("freeze", *_RULES)
"""Every kind of record that this version knows."""
