"""What each kind of record must hold, and when the workflow allows it: one rule per kind.

A rule changes the case of its upgrade, or raises: ShapeFault when the body is not as it must be, Illegal when
the state does not allow it. The same rules judge what this clone writes and what a merge brings. What a
well-formed record claims is judged elsewhere: a later gate judges the raw evidence of the earlier ones again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from git_afd.core import shape
from git_afd.core.case import Case, Illegal
from git_afd.core.classifying import with_decisions, with_proposals
from git_afd.core.failure_rules import failure
from git_afd.core.names import root_cause_number
from git_afd.core.outcome import Json
from git_afd.core.phases import BY_NAME, GATE_OF, GATES, STATUSES, Phase, first_unsettled
from git_afd.core.records import Record
from git_afd.core.standing import implementation
from git_afd.core.state import (
    ANNOTATIONS,
    CLASSES,
    ENVIRONMENT,
    FATES,
    FATES_WITHOUT_CHANGE,
    ROOT_CAUSE_KINDS,
    Analysis,
    Approval,
    Classified,
    Committed,
    Decision,
    PhaseRecord,
    RootCause,
    Run,
)


def _phase(case: Case, record: Record) -> None:
    body = record.body
    if set(body) != {"phase", "status", "evidence", "blocker", "next_allowed_action"}:
        raise shape.ShapeFault("a phase record has exactly the workflow's five fields")
    phase = BY_NAME[shape.choice(body, "phase", tuple(BY_NAME))]
    status = shape.choice(body, "status", STATUSES)
    evidence = shape.texts(body, "evidence")
    if status == "PASS":
        earlier = first_unsettled({name: item.status for name, item in case.phases.items()}, phase.number)
        if earlier is not None:
            raise Illegal(f"{phase.name} cannot pass while {earlier.name} has not")
        lack = _lack(case, phase, evidence)
        if lack:
            raise Illegal(f"{phase.name} cannot pass: {lack}")
    blocker, then = shape.text(body, "blocker"), shape.text(body, "next_allowed_action")
    case.phases[phase.name] = PhaseRecord(record.id, phase.name, status, evidence, blocker, then)


def _lack(case: Case, phase: Phase, evidence: tuple[str, ...]) -> str:
    """Say which record a PASS of `phase` would have to rest on and does not; empty when nothing is lacking."""
    if phase.name == "ARCHITECTURE_GATE" and (case.decision is None or case.decision.decide != "continue"):
        return "the primary has not decided to go on"
    if phase.number == 0:
        return _unsupported(case, evidence)
    if phase.binding == "records":
        return implementation(case.upgrade())[1]
    resting = {1: case.inventory, 2: case.diff, 3: case.decision}
    if phase.number in resting:
        on = resting[phase.number]
        if not on or on.record not in evidence:
            return "its evidence does not name the newest record it rests on"
        return _left_open(case, phase.number, on.seq)
    gate = GATE_OF.get(phase.name)
    waiting = next((one.name for one in case.failures.values() if one.gate == gate and one.open and one.undecided), "")
    runs = (run for run in case.runs.values() if run.record in evidence and run.gate == gate)
    proven = gate is None or any(run.status == "PASS" and not run.diagnostic for run in runs)
    unproven = "" if proven else f"its evidence names no passed run of gate {gate}"
    return unproven or (f"{waiting} is not classified" if waiting else "")


def _left_open(case: Case, number: int, at: int) -> str:
    """Say what a phase of the analysis that rests on the record at place `at` leaves open; empty when nothing."""
    if number == 3:  # noqa: PLR2004 - the architecture gate
        finding = next((one.name for one in case.failures.values() if one.architecture > at), "")
        return f"it was decided before the architecture finding {finding}" if finding else ""
    left = case.diff.unclassified if case.diff and number == 2 else ()  # noqa: PLR2004 - the comparison's phase
    return f"{len(left)} impacts are not classified" if left else ""


def _unsupported(case: Case, evidence: tuple[str, ...]) -> str:
    """Say why the frozen target pair is not one to go on with: it is supported, or a person vouches for it."""
    verdict = shape.text(shape.table(shape.table(case.freeze.body, "pair"), "target"), "verdict", "")
    vouched = any(item.what == "pair" and item.record in evidence for item in case.approvals)
    good = verdict == "supported" or (verdict == "unproven" and vouched)
    return "" if good else f"the target pair is {verdict or 'not judged'}, and no approval of it is named"


def _analysis(record: Record, items: Mapping[str, str]) -> Analysis:
    return Analysis(
        record.id, shape.text(record.body, "how"), shape.text(record.body, "artifact", ""), items, record.seq
    )


def _inventory(case: Case, record: Record) -> None:
    case.inventory = _analysis(record, shape.text_table(record.body, "items"))


def _annotation(case: Case, record: Record) -> None:
    """Keep what a person says of a contract; a later word replaces an earlier one, an unsaid field stays."""
    contract = shape.said(record.body, "contract")
    if case.inventory is None or contract not in case.inventory.items:
        raise Illegal(f"{contract} is no contract of the recorded inventory")
    said = {name: shape.text(record.body, name, "") for name in ANNOTATIONS}
    if not any(said.values()):
        raise shape.ShapeFault(f"nothing is said: one of {', '.join(ANNOTATIONS)} was expected")
    old = case.annotations.get(contract, {})
    case.annotations[contract] = {**old, **{name: text for name, text in said.items() if text}}


def _diff(case: Case, record: Record) -> None:
    """Keep a comparison. Decisions on the one before stay for what is proposed exactly as it was."""
    items = shape.text_table(record.body, "items")
    for item, class_ in items.items():
        _class(class_, f"items.{item}")
    needed = {item: class_ for item, class_ in items.items() if class_ != "NONE"}
    if not shape.flag(record.body, "proposed"):
        case.diff = _analysis(record, needed)
        return
    proposed = {**needed, **dict.fromkeys(shape.texts(record.body, "open"), "")}
    case.diff = with_proposals(_analysis(record, needed), proposed, case.diff)


def _class(value: str, where: str) -> str:
    if value not in (*CLASSES, "NONE"):
        raise shape.ShapeFault(f"{where}: {value!r} is no class")
    return value


def _classification(case: Case, record: Record) -> None:
    """Keep a decision on impacts. A class that differs from what stood there makes later decisions stale."""
    body = record.body
    if case.diff is None or shape.text(body, "diff") != case.diff.record:
        raise Illegal("it speaks of another comparison")
    why, bulk = shape.said(body, "why"), shape.flag(body, "bulk")
    decided = dict(case.diff.decided)
    for item, class_ in shape.text_table(body, "items").items():
        if item not in case.diff.proposed:
            raise Illegal(f"{item} is no impact that needs a class")
        proposed = case.diff.proposed[item]
        decided[item] = Classified(_class(class_, f"items.{item}"), proposed, record.by, why, record.id, bulk)
    items = with_decisions(case.diff.items, decided)
    seq = case.diff.seq if items == dict(case.diff.items) else record.seq
    case.diff = replace(case.diff, items=items, decided=decided, seq=seq)


def _decision(case: Case, record: Record) -> None:
    _only_primary(case, record)
    decide = shape.choice(record.body, "decide", ("continue", "stop"))
    conditions = shape.tables(record.body, "conditions")
    why, report = shape.said(record.body, "why"), shape.text_table(record.body, "report")
    case.decision = Decision(record.id, decide, why, record.by, conditions, record.seq, report)


def _only_primary(case: Case, record: Record) -> None:
    if record.by != case.freeze.primary:
        raise Illegal(f"only the primary ({case.freeze.primary}) may write it")


def _root_cause(case: Case, record: Record) -> None:
    body = record.body
    name = shape.text(body, "root_cause")
    if root_cause_number(name) is None:
        raise shape.ShapeFault(f"root_cause: {name!r} is no RC-n")
    op = shape.choice(body, "op", ("add", "amend", "withdraw"))
    if op == "add":
        if name in case.root_causes:
            raise Illegal(f"{name} is taken; add it again to get the next free number")
        case.root_causes[name] = _plan(case, name, record)
        return
    old = _cause(case, body, "open", "settled")
    withdrawn = replace(old, status="withdrawn", why=shape.text(body, "why")) if op == "withdraw" else None
    case.root_causes[name] = withdrawn or _plan(case, name, record)


def _cause(case: Case, body: Mapping[str, Json], *statuses: str) -> RootCause:
    """Return the root cause that `body` speaks of, which must have one of `statuses`.

    ``plan``, where it is given, is the id of the record with the plan that the writer saw: after a merge a
    number may belong to somebody else's root cause, and nothing may happen to that one by accident.
    """
    name = shape.text(body, "root_cause")
    cause = case.root_causes.get(name)
    if cause is None or cause.status not in statuses:
        raise Illegal(f"{name} is not open")
    if shape.text(body, "plan", cause.record) != cause.record:
        raise Illegal(f"it was written for another plan of {name}")
    return cause


def _plan(case: Case, name: str, record: Record) -> RootCause:
    body = record.body
    disposes = shape.text_table(body, "disposes")
    for item, fate in disposes.items():
        if fate not in FATES:
            raise shape.ShapeFault(f"disposes.{item}: {fate!r} is no fate")
    failed = case.failures.get(shape.text(body, "failure", ""))
    if failed is not None and failed.class_ == ENVIRONMENT:
        raise Illegal(f"{failed.name} is a failure of the environment, which no change of the plugin may claim")
    files = shape.texts(body, "files")
    nothing_to_commit = not files and disposes and set(disposes.values()) <= set(FATES_WITHOUT_CHANGE)
    return RootCause(
        name=name,
        title=shape.said(body, "title"),
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
        record=record.id,
    )


def _commit(case: Case, record: Record) -> None:
    _only_primary(case, record)
    gate = case.phases.get("ARCHITECTURE_GATE")
    if gate is None or gate.status != "PASS":
        raise Illegal("nothing is committed before ARCHITECTURE_GATE passes")
    body = record.body
    cause, commit = _cause(case, body, "open"), shape.full_id(body, "commit")
    parent, tree, paths = shape.text(body, "parent"), shape.text(body, "tree"), shape.texts(body, "paths")
    case.root_causes[cause.name] = replace(cause, status="committed", commit=commit)
    case.commits.append(Committed(record.id, cause.name, commit, parent, tree, paths))


def _run(case: Case, record: Record) -> None:
    body = record.body
    name = shape.text(body, "run")
    old = case.runs.get(name)
    if old is not None and old.status != "started":
        raise Illegal(f"run {name} is finished already")
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
        only=shape.text(body, "only", ""),
        failure=shape.text(body, "failure", ""),
        seq=record.seq,
        cell=shape.text(body, "cell", ""),
    )


def _approval(case: Case, record: Record) -> None:
    body = record.body
    what, subject = shape.said(body, "what"), shape.text(body, "subject", "")
    case.approvals.append(
        Approval(record.id, what, subject, shape.said(body, "name"), shape.said(body, "reason"), record.at)
    )


def _close(case: Case, record: Record) -> None:
    _only_primary(case, record)
    case.closed = shape.said(record.body, "why")


RULES: Final[Mapping[str, Callable[[Case, Record], None]]] = {
    "phase": _phase,
    "inventory": _inventory,
    "annotation": _annotation,
    "diff": _diff,
    "classification": _classification,
    "decision": _decision,
    "root-cause": _root_cause,
    "commit": _commit,
    "run": _run,
    "failure": failure,
    "approval": _approval,
    "close": _close,
}
"""The rule of every kind that needs a freeze before it."""

AFTER_STOP: Final = ("approval", "close")
"""Kinds that may still be written when the architecture gate stopped the upgrade."""
