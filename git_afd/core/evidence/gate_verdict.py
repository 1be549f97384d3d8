"""Judges a gate from the raw facts and files of one run: pure, and the same each time it is asked.

A command that says success is believed only as far as its raw evidence bears it out; what cannot be known
blocks; only then does everything else pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from git_afd.core.accuracy_rule import Accuracy
from git_afd.core.command import Command
from git_afd.core.devices import VISIBLE
from git_afd.core.evidence.accuracy_verdict import AccuracyVerdict, ResultFile, judge_accuracy
from git_afd.core.evidence.cells import Coverage, coverage, tests_of
from git_afd.core.evidence.checks import CheckQuestion, environment_doubt, facts_of, judge_checks
from git_afd.core.evidence.collecting import root_of
from git_afd.core.evidence.control import Control
from git_afd.core.evidence.control_log import judge_control_log
from git_afd.core.evidence.expectation import LOST, Expectation, expect, vacant
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.focused import Suite, not_run
from git_afd.core.evidence.host_verdict import BEFORE, cleanup_status, is_simulated, judge_before, judge_cleanup
from git_afd.core.evidence.junit import parse_junit
from git_afd.core.evidence.lmeval import Measurement
from git_afd.core.evidence.native_verdict import CellVerdict, Pair, judge_cell
from git_afd.core.evidence.raw_run import Ended, RawRun
from git_afd.core.evidence.retry import judge_retry
from git_afd.core.evidence.run_results import bytes_of, foreign_results, result_of
from git_afd.core.evidence.status import Status, worst
from git_afd.core.evidence.suite_verdict import AllowedSkip, judge_tests
from git_afd.core.finding import Finding
from git_afd.core.native_cell import NO_CELL, NO_CELL_FIX, Cell
from git_afd.core.outcome import Json
from git_afd.core.policy import CellTests, Gate
from git_afd.core.workbook.inventory import Feature

_UNREADABLE: Final = "evidence-unreadable"
_RELAXED: Final = "guard-relaxed"


@dataclass(frozen=True, slots=True)
class Question:
    """What a run is judged by, all of it frozen: the gate, accuracy's bar, the documented skips.

    `tree` holds the paths of the commit that ran, None when they are not known; `notes` are findings about the
    policy's own entries. `guards` are findings about guarded values that moved; `foreign` maps digests of results
    that belong to other runs to those runs' names; `simulated_accepted` says whether the policy accepts a simulated
    host; `ports` are those that a run must leave as it found them. `features` is the frozen matrix that the run's tests
    are held against, `cells` the policy's word on it. `checks` are the gate's checks that are no commands, and what
    they are judged by. `control` is what is known of accuracy's native control; `failed` the run that this one is a
    retry of, and its raw facts.
    """

    gate: Gate
    accuracy: Accuracy | None = None
    skips: tuple[AllowedSkip, ...] = ()
    guards: tuple[Finding, ...] = ()
    foreign: Mapping[str, str] = field(default_factory=dict)
    simulated_accepted: bool = False
    tree: frozenset[str] | None = None
    notes: tuple[Finding, ...] = ()
    ports: tuple[int, ...] = ()
    features: tuple[Feature, ...] = ()
    cells: tuple[CellTests, ...] = ()
    checks: CheckQuestion = field(default_factory=CheckQuestion)
    control: Control | None = None
    failed: tuple[str, RawRun] | None = None


@dataclass(frozen=True, slots=True)
class CommandVerdict:
    """What one command, check or cell amounts to; `counts` are its tests by outcome, empty when it is not a test run.

    `suite` is what its report says of each test, None without a report that can be read. `facts` are what is recorded
    of a cell of the native control.
    """

    name: str
    status: Status
    counts: Mapping[str, int]
    findings: tuple[Finding, ...]
    category: str = ""
    suite: Suite | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The verdict of a run: PASS only when its `tests` (all that its commands are judged by) and its `cleanup` are.

    `metrics` are accuracy's, by mode; `partial` says that fewer questions were asked. `cells` says what the run's
    tests cover of the feature matrix, None when there is none to cover. `facts` are what the checks found, by name.
    `environment` says why a failure counts as one of the environment or version until the runtime is proven; empty
    when nothing says so.
    """

    status: Status
    commands: tuple[CommandVerdict, ...]
    findings: tuple[Finding, ...]
    metrics: Mapping[str, Json] = field(default_factory=dict)
    partial: bool = False
    measured: Mapping[str, Measurement] = field(default_factory=dict)
    tests: Status = "PASS"
    cleanup: Status = "PASS"
    cells: Coverage | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)
    environment: str = ""

    @property
    def blocker(self) -> str:
        """The first thing that keeps it from passing, in one sentence; empty when it passes."""
        errors = [finding for finding in self.findings if finding.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        said = f"{errors[0].message}{more}" if errors else ""
        unclean = self.tests == "PASS" != self.cleanup
        return f"the tests passed and the cleanup is {self.cleanup}: {said}" if unclean else said


def judge(question: Question, raw: RawRun, files: Mapping[str, bytes]) -> GateVerdict:
    """Judge a run. `files` holds the bytes of its artifacts by name; one that is missing there decides nothing."""
    commands = tuple(
        replace(_command(command, _ended(raw, command), question, raw, files), category=command.category)
        for command in question.gate.commands
    )
    suites = tuple(one.suite for one in commands if one.suite)
    checks = judge_checks(question.checks, files, suites)
    commands += tuple(_cell(cell, question, raw, files) for cell in question.gate.cells)
    judged = (*commands, *(CommandVerdict(one.name, one.status, {}, one.findings) for one in checks))
    around = (*_around(question, raw, files), *_strange(question.gate, raw))
    optional = {cell.name for cell in question.gate.cells if not cell.required}
    asked = (one.status for one in judged if one.name not in optional)
    statuses = [*asked, *("BLOCKED" for one in around if one.severity == "error")]
    said = () if raw.interrupted else judged  # what was cut off has no verdict, and nothing to be mended
    findings = [*around, *(finding for one in said for finding in one.findings), *question.notes]
    absent = not_run(suites, [one.place for one in findings if one.code == LOST])
    doubt = tuple(environment_doubt(question.checks, checks, findings, absent))
    accuracy = None
    if question.accuracy is not None:
        status, found, accuracy = _accuracy(question, question.accuracy, raw, files)
        statuses.append(status)
        findings += () if raw.interrupted else found
    left = tuple(judge_cleanup(question.gate, question.ports, raw.commands, files, raw.environment.get(VISIBLE, "")))
    tests, cleanup = worst(statuses), cleanup_status(left)
    return GateVerdict(
        status=worst((tests, cleanup)),
        commands=judged,
        findings=_ordered((*doubt, *findings, *left)),
        metrics=accuracy.metrics() if accuracy else {},
        partial=bool(accuracy and accuracy.diagnostic),
        measured=accuracy.measured if accuracy else {},
        tests=tests,
        cleanup=cleanup,
        cells=coverage(question.features, tests_of(raw, files), question.cells) if question.features else None,
        facts=facts_of(checks, absent),
        environment=doubt[0].message if doubt else "",
    )


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put what decides before what is only worth knowing; nothing is said twice."""
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: finding.severity == "note"))


def _ended(raw: RawRun, command: Command) -> Ended | None:
    found = [one for one in raw.commands if one.name == command.name]
    return found[0] if len(found) == 1 and command.made(found[0].argv) else None


def _around(question: Question, raw: RawRun, files: Mapping[str, bytes]) -> Iterator[Finding]:
    if raw.gate == "native" and not question.gate.cells:
        yield Finding("no-cell", raw.gate, NO_CELL, NO_CELL_FIX)
    elif not (question.gate.commands or question.gate.cells or question.checks.names):
        yield Finding(
            "no-command", raw.gate, f"the policy names no command for gate {raw.gate}", "name one in afd.toml"
        )
    for text in raw.disturbed:
        yield Finding("tree-moved", "", text, "run the gate again, and let nothing write there meanwhile")
    yield from judge_before(question.gate, question.ports, files)
    simulated = raw.simulated or is_simulated(files.get(BEFORE, b"").decode(errors="replace"))
    if simulated and not question.simulated_accepted:
        yield Finding("simulated-host", "", "the host was a simulation, which this policy does not accept", "")
    for name in question.accuracy.lowering(raw.environment) if question.accuracy is not None else ():
        yield Finding("lowered", name, f"{name} lowers what accuracy measures or demands", f"unset {name}, run again")
    yield from judge_control_log(raw, files, question.gate.words)
    if question.failed is not None:
        yield from judge_retry(*question.failed, raw)
    if raw.interrupted:
        yield Finding("interrupted", "", "the run was interrupted", "run the gate again")


def _strange(gate: Gate, raw: RawRun) -> Iterator[Finding]:
    """Name commands that the frozen policy does not know: a run of something else proves nothing here."""
    known = {*(one.name for one in gate.commands), *(one.name for one in gate.cells)}
    for one in raw.commands:
        if one.name not in known:
            yield Finding("foreign-command", one.name, f"{one.name} is no command of this gate", "run the gate again")


def _command(
    command: Command, ended: Ended | None, question: Question, raw: RawRun, files: Mapping[str, bytes]
) -> CommandVerdict:
    not_run = _not_run(command.name, ended)
    if ended is None or not_run:
        return CommandVerdict(command.name, "BLOCKED", {}, not_run)
    found = list(_ending(ended))
    counts: Mapping[str, int] = {}
    suite: Suite | None = None
    status: Status = "FAIL" if found else "PASS"
    if command.junit:
        expected = expect(command, raw.listings, files, question.tree, question.skips)
        if vacant(command, ended, expected):
            text = f"{command.name} selects no test of this commit, which the policy allows"
            notes = (Finding("nothing-to-run", command.name, text, "", "note"), *expected.findings)
            return CommandVerdict(command.name, "PASS", {"executed": 0}, notes)
        verdict = _tests(command, ended, expected, question, files)
        counts, suite = verdict.counts, verdict.suite
        found += verdict.findings
        status = worst((status, verdict.status))
    return CommandVerdict(command.name, status, counts, tuple(_named(command.name, found)), suite=suite)


def _cell(cell: Cell, question: Question, raw: RawRun, files: Mapping[str, bytes]) -> CommandVerdict:
    """Judge one cell of the native control."""
    ended = _ended(raw, cell.command)
    not_run = _not_run(cell.name, ended)
    if ended is None or not_run:
        verdict = CellVerdict("BLOCKED", not_run)
    else:
        pair = Pair(question.checks.wanted, question.checks.frozen)
        verdict = judge_cell(cell, question.gate.words, pair, ended, files)
    found = _named(cell.name, verdict.findings)
    if not cell.required:  # it is shown with all that is wrong, and decides nothing
        found = (replace(finding, severity="note") for finding in found)
    return CommandVerdict(cell.name, verdict.status, {}, tuple(found), facts=verdict.facts)


def _not_run(name: str, ended: Ended | None) -> tuple[Finding, ...]:
    """Say why a command or a cell has not run at all; empty when it has."""
    if ended is None:
        return (Finding("not-run", name, f"{name} has not run as the policy says", "run the gate"),)
    if ended.missing:
        return (Finding("tool-missing", name, f"{name}: {ended.missing}", "install it, then run again"),)
    return ()


def _ending(ended: Ended) -> Iterator[Finding]:
    name = ended.name
    if ended.timed_out:
        yield Finding("timed-out", name, "it did not end in its time", "read its log")
    elif ended.exit_code is None:
        yield Finding("run-not-ended", name, f"it ended {ended.how}", "read its log")
    elif ended.exit_code:
        yield Finding("exit-code", name, f"it ended {ended.how}", "read its log")


def _tests(
    command: Command,
    ended: Ended,
    expected: Expectation,
    question: Question,
    files: Mapping[str, bytes],
) -> CommandVerdict:
    """Judge a test run by its report; several reports, or one that cannot be read, decide nothing."""
    if len(ended.junit) > 1:
        text = f"{len(ended.junit)} reports fit {command.junit}; one was expected"
        return CommandVerdict(command.name, "BLOCKED", {}, (Finding("report-ambiguous", command.name, text, ""),))
    try:
        report = parse_junit(bytes_of(files, ended.junit[0]), ended.junit[0]) if ended.junit else None
        verdict = judge_tests(report, ended.exit_code, expected.ids, question.skips)
    except EvidenceFault as fault:
        return CommandVerdict(command.name, "BLOCKED", {}, (fault.as_finding(),))
    said = {"exit-code", "run-not-ended"}
    modules = {case.node_id for case in report.cases if case.collection} if report else set()
    told = _UNREADABLE if verdict.counts["collection_errors"] else ""  # the report names what could not be imported
    frozen = (one for one in expected.findings if one.code != told and (one.code != LOST or one.place not in modules))
    findings = (*(finding for finding in verdict.findings if finding.code not in said), *frozen)
    listed = expected.ids or ()
    root = root_of(listed, command, question.tree) if question.tree is not None else ""
    suite = Suite(command.name, report.cases, listed, root or "") if report else None
    return CommandVerdict(command.name, worst((verdict.status, expected.status)), verdict.counts, findings, suite=suite)


def _named(name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield replace(finding, message=f"{name}: {finding.message}")


def _accuracy(
    question: Question, rule: Accuracy, raw: RawRun, files: Mapping[str, bytes]
) -> tuple[Status, tuple[Finding, ...], AccuracyVerdict]:
    results: dict[str, ResultFile] = {}
    found: list[Finding] = []
    for mode in dict.fromkeys((*rule.modes, *(command.mode for command in question.gate.commands if command.mode))):
        owners = [command.name for command in question.gate.commands if command.mode == mode]
        try:
            result = result_of(mode, [one for one in raw.commands if one.name in owners], files)
        except EvidenceFault as fault:
            found.append(fault.as_finding())
        else:
            results |= {mode: result} if result else {}
    verdict = judge_accuracy(results, rule, question.control)
    found += foreign_results(verdict.measured, raw.commands, question.foreign)
    status = worst((verdict.status, *("BLOCKED" for _ in found), *map(_guard_status, question.guards)))
    return status, (*question.guards, *found, *verdict.findings), verdict


def _guard_status(finding: Finding) -> Status:
    if finding.severity != "error":
        return "PASS"
    return "FAIL" if finding.code == _RELAXED else "BLOCKED"
