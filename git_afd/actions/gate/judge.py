"""Judges a run from what is kept of it: the same after the run, at an import and in an audit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from git_afd.actions.analysis import recorded_inventory
from git_afd.actions.gate.checks import check_question
from git_afd.adapters.content import entries
from git_afd.adapters.git import Git
from git_afd.adapters.guarded import guarded_at
from git_afd.adapters.objects import open_objects
from git_afd.adapters.session import Session
from git_afd.core.accuracy_rule import Bounds
from git_afd.core.command import NATIVE
from git_afd.core.earlier import before, last_failed, native_controls
from git_afd.core.evidence import registration, runtime_facts
from git_afd.core.evidence.collecting import collect_command, narrow_command
from git_afd.core.evidence.control import Control
from git_afd.core.evidence.documented import documented
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.gate_verdict import GateVerdict, Question, judge
from git_afd.core.evidence.host_snapshot import AFTER_FACTS, BEFORE_FACTS
from git_afd.core.evidence.host_verdict import AFTER, BEFORE
from git_afd.core.evidence.npu_map import MAP
from git_afd.core.evidence.packed import TEXT_LIMIT, is_packed, unpacked
from git_afd.core.evidence.raw_run import FILE, RawRun, parse_raw_run
from git_afd.core.evidence.served import names_of
from git_afd.core.finding import Finding
from git_afd.core.guards import bar, moved
from git_afd.core.patch_checks.refused import APPROVAL
from git_afd.core.percent import percent
from git_afd.core.policy import Gate, Policy
from git_afd.core.state import Run, Upgrade
from git_afd.errors import Blocked


def judge_raw(
    session: Session, up: Upgrade, raw: RawRun, *, but: str = "", files: Mapping[str, Path] | None = None
) -> GateVerdict:
    """Judge a run from its kept artifacts, or from `files` by name when they are not kept (yet).

    `but` is the run's own name: it is not foreign to itself.
    """
    left = (name for one in raw.commands for name in (*one.junit, *one.results, *one.samples))
    served = (name for one in raw.commands for name in (*names_of(one.name), one.log) if NATIVE in (raw.gate, raw.cell))
    looked = (BEFORE, AFTER, MAP, BEFORE_FACTS, AFTER_FACTS, runtime_facts.FILE, registration.FILE)
    wanted = {*looked, *left, *(one.log for one in raw.listings), *served}
    found = (wanted & files.keys()) if files is not None else wanted
    read = {name: _read(session, raw, name, files) for name in found}
    known = {name: data for name, data in read.items() if data is not None}
    question = question_of(session, up, raw, but=but)
    return judge(replace(question, checks=check_question(session, up, raw, known, question.tree)), raw, known)


def _read(session: Session, raw: RawRun, name: str, files: Mapping[str, Path] | None) -> bytes | None:
    """Return what a file says, unpacked; None when it is not there, or is a listing of a size that nobody judges."""
    digest = raw.artifacts.get(name, "")
    source = files[name] if files is not None else session.artifacts.path(digest)
    if is_packed(name) and source.is_file() and source.stat().st_size > TEXT_LIMIT:
        return None
    data = source.read_bytes() if files is not None else session.artifacts.get(digest)
    try:
        return None if data is None else unpacked(name, data)
    except EvidenceFault:
        return None


def raw_of(session: Session, run: Run) -> RawRun:
    """Return the raw facts that a recorded run left. Raises EvidenceFault when they are gone or unreadable."""
    data = session.artifacts.get(run.artifacts.get(FILE, ""))
    if data is None:
        raise EvidenceFault(f"{run.name}/{FILE}", "", "is not there any more", "the raw facts that the run left")
    return parse_raw_run(data, f"{run.name}/{FILE}")


def question_of(session: Session, up: Upgrade, raw: RawRun, *, but: str = "") -> Question:
    """Return what a run is judged by: the frozen policy, the frozen threshold, the skips that were documented then."""
    policy = session.policy(up).policy
    gate = policy.gates.get(raw.gate, Gate()).of_cell(raw.cell)
    if raw.cell:
        gate = replace(gate, words=policy.gates.get("native", Gate()).words)
    if raw.diagnostic and not raw.cell:  # it may be one command of several; it never counts
        names = {one.name for one in raw.commands}
        own = (command for command in gate.commands if command.name in names)
        commands = tuple(narrow_command(command, raw.narrowed) for command in own)
        gate = replace(gate, commands=commands, cells=tuple(cell for cell in gate.cells if cell.name in names))
    texts = {path: _text(session.git, up.freeze.base, path) for path in {skip.path for skip in policy.skips}}
    skips, notes = documented(policy.skips, texts)
    question = Question(
        gate=gate,
        skips=skips,
        notes=notes,
        tree=_tree(session.git, raw.identity.commit, gate),
        foreign=_earlier(up, but),
        simulated_accepted=policy.simulated,
        ports=policy.host.ports,
        failed=failed_of(session, up, raw, but),
    )
    if raw.gate == "basic":
        return _with_cells(session, up, replace(question, cells=policy.cells))
    if raw.gate == "accuracy":
        measured = _with_accuracy(session, up, raw, policy, question)
        return _as_control(measured) if raw.cell else replace(measured, control=control_of(session, up, policy, but))
    return question


def failed_of(session: Session, up: Upgrade, raw: RawRun, but: str) -> tuple[str, RawRun] | None:
    """Return the failed run that `raw` is a retry of, and its raw facts; None when it is none or they are gone."""
    run = None if raw.diagnostic else last_failed(up, raw.gate, but)
    with suppress(EvidenceFault):
        return (run.name, raw_of(session, run)) if run else None
    return None


def _as_control(question: Question) -> Question:
    """Return the question of a native control: measured in full, by its own modes; no threshold is the plugin's."""
    if question.accuracy is None:
        return question
    modes = tuple(dict.fromkeys(command.mode for command in question.gate.commands))
    rule = replace(question.accuracy, modes=modes, threshold=0.0, bounds=Bounds())
    return replace(question, accuracy=rule, guards=())


def control_of(session: Session, up: Upgrade, policy: Policy, but: str) -> Control:
    """Return the native control measured before the run called `but` (or ever), judged again from its raw files."""
    offered = bool(policy.gates.get("accuracy", Gate()).of_cell(NATIVE).commands)
    failed = last_failed(up, "accuracy", but)
    control = Control(offered=offered, failed=failed.name if failed else "")
    for run in native_controls(up, but):
        with suppress(EvidenceFault):
            raw = raw_of(session, run)
            verdict = judge_raw(session, up, raw, but=run.name)
            if verdict.status == "PASS" and _is_of(raw, up, run):
                return replace(control, run=run.name, measured=verdict.measured)
    return control


def _is_of(raw: RawRun, up: Upgrade, run: Run) -> bool:
    """Say whether the raw facts of a run are of a native control of this very upgrade, its policy and commits."""
    there = raw.identity
    frozen = (up.freeze.commits_digest, up.freeze.policy_digest)
    return (raw.gate, raw.cell, there.upgrade) == (run.gate, NATIVE, up.id) and (there.commits, there.policy) == frozen


def _with_cells(session: Session, up: Upgrade, question: Question) -> Question:
    """Add the frozen feature matrix; rows that are gone say nothing against a run, and are said."""
    try:
        inventory = recorded_inventory(session, up) if up.inventory and up.inventory.artifact else None
    except Blocked as gone:
        note = Finding("cells-unknown", "", f"what the run covers is not known: {gone.message}", gone.fix, "note")
        return replace(question, notes=(*question.notes, note))
    return replace(question, features=inventory.features if inventory else ())


def _earlier(up: Upgrade, name: str) -> dict[str, str]:
    """Return what the runs before `name` left: digest to the run that left it first."""
    found: dict[str, str] = {}
    for run in before(up, name):
        found = {**dict.fromkeys(run.artifacts.values(), run.name), **found}
    return found


def _with_accuracy(session: Session, up: Upgrade, raw: RawRun, policy: Policy, question: Question) -> Question:
    rule = policy.accuracy
    objects = open_objects(session.git, session.root)
    then = guarded_at(objects, up.freeze.base, policy)
    now = guarded_at(objects, raw.identity.commit, policy)
    approved = {item.subject: item.name for item in up.approvals if item.what == APPROVAL}
    guards = moved(then, now, ("threshold", "tolerance"), approved)
    counts = then if any(item.severity == "error" for item in guards) else now  # now: as frozen, or as approved
    threshold = bar(counts, rule.threshold_guard, rule.threshold) if rule.threshold_guard else rule.threshold
    if rule.threshold_guard and not any(item.guard == rule.threshold_guard for item in then):
        text = f"the frozen base defines no {rule.threshold_guard}; the policy's own {rule.threshold} is the bar"
        guards = (*guards, Finding("guard-absent", "", text, "", "note"))
    stands = ", ".join(item.place for item in counts if item.guard == rule.threshold_guard)
    said = f"the bar is {percent(threshold)}" + (f"; {rule.threshold_guard} stands in {stands}" if stands else "")
    guards = (*guards, Finding("bar", stands, said, "", "note"))
    return replace(question, accuracy=replace(rule, threshold=threshold), guards=guards)


def _tree(git: Git, commit: str, gate: Gate) -> frozenset[str] | None:
    """Return the paths of the commit that ran, when a command of the gate collects tests from it."""
    if not any(collect_command(command) for command in gate.commands):
        return None
    return frozenset(entry.path for entry in entries(git, commit))


def _text(git: Git, base: str, path: str) -> bytes | None:
    found = git.run("cat-file", "blob", f"{base}:{path}")
    return found.stdout if found.ok else None
