"""The red team's table: what can be forged, cut, mixed up or left out, and what the gate says to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from git_afd.core.accuracy_rule import Accuracy
from git_afd.core.command import Command
from git_afd.core.evidence.collecting import collect_command
from git_afd.core.evidence.control_log import judge_control_log
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.gate_verdict import GateVerdict, Question, judge
from git_afd.core.evidence.raw_run import Ended, Identity, RawRun, parse_raw_run
from git_afd.core.evidence.suite_verdict import AllowedSkip
from git_afd.core.finding import Finding
from git_afd.core.native_cell import LogWords
from git_afd.core.policy import Gate

WHO = Identity("U-1", "a" * 40, "b" * 40, "c", "w", "four", "p")
LINT = Command("lint", ("ruff", "check", "."))
UNIT = Command("unit", ("{python}", "-m", "pytest", "--junitxml={out}/unit.xml"), junit="unit.xml")
STATIC = Question(Gate((LINT, UNIT)), skips=(AllowedSkip("tests/t.py::test_310p"),))

LINTED = Ended("lint", ("ruff", "check", "."), 0, log="log/lint.log")
TESTED = Ended("unit", ("py", "-m", "pytest", "--junitxml=/o/unit.xml"), 0, log="log/unit.log", junit=("unit.xml",))


def report(*cases: str, **totals: int) -> bytes:
    """Return a report whose totals are right unless `totals` says otherwise."""
    kinds = {"failures": "<failure", "errors": "<error", "skipped": "<skipped"}
    seen = {name: sum(tag in case for case in cases) for name, tag in kinds.items()}
    said = " ".join(f'{name}="{count}"' for name, count in {"tests": len(cases), **seen, **totals}.items())
    return f'<testsuites><testsuite name="s" {said}>{"".join(cases)}</testsuite></testsuites>'.encode()


def case(name: str, inner: str = "") -> str:
    return f'<testcase classname="tests.t" name="{name}" time="0.1">{inner}</testcase>'


PASSED = report(case("test_a"), case("test_b"))
FAILED = report(case("test_a"), case("test_b", '<failure message="AssertionError: no"/>'))


COLLECT = collect_command(UNIT)
assert COLLECT is not None
LISTED = Ended("unit", COLLECT.filled({"python": "py", "out": "/o"})[0], 0, log="collect/unit.txt")


def listing(xml: bytes | None) -> bytes:
    """Return what the collection said before the run whose report is `xml`: the same tests."""
    names = re.findall(rb'name="(test_\w+)"', xml or b"")
    ids = b"".join(b"tests/t.py::%s\n" % name for name in names)
    return ids + b"\n%d tests collected in 0.01s\n" % len(names)


def static(unit: Ended = TESTED, lint: Ended = LINTED, xml: bytes | None = PASSED, **about: object) -> GateVerdict:
    raw = RawRun("static", WHO, "py", "/r", (lint, unit), listings=(LISTED,))
    files = {"collect/unit.txt": listing(xml), **({} if xml is None else {"unit.xml": xml})}
    return judge(STATIC, replace(raw, **about), files)  # type: ignore[arg-type]  # the table's own columns


TRICKS = [
    (static(), "PASS", ""),
    (static(xml=FAILED), "FAIL", "exit-code-contradicts-report"),  # forged exit code: 0, but failures in the report
    (static(replace(TESTED, exit_code=1)), "FAIL", "exit-code"),  # forged report: all passed, but exit code 1
    (static(xml=report(case("test_a"), tests=7)), "BLOCKED", "evidence-unreadable"),  # totals that were edited
    (static(xml=PASSED[:-20]), "BLOCKED", "evidence-unreadable"),  # cut off
    (static(xml=None), "BLOCKED", "evidence-unreadable"),  # recorded and deleted
    (static(replace(TESTED, junit=())), "BLOCKED", "report-missing"),  # success without a report
    (static(replace(TESTED, junit=("unit.xml", "b.xml"))), "BLOCKED", "report-ambiguous"),  # two to choose from
    (static(xml=report(case("test_310p", '<skipped message="no"/>'))), "FAIL", "nothing-executed"),  # all skipped
    (static(xml=report(case("test_a"), case("test_b", '<skipped message="no"/>'))), "FAIL", "skip-not-allowed"),
    (static(xml=report(case("test_a"), case("test_310p", '<skipped message="no"/>'))), "PASS", ""),  # documented
    (
        static(xml=report(case("test_a"), case("test_310", '<skipped message="no"/>'))),
        "FAIL",
        "skip-not-allowed",
    ),  # renamed
    (static(xml=report()), "FAIL", "nothing-executed"),  # an empty suite
    (static(lint=replace(LINTED, missing="The program ruff could not be started")), "BLOCKED", "tool-missing"),
    (static(lint=replace(LINTED, exit_code=1)), "FAIL", "exit-code"),
    (static(lint=replace(LINTED, exit_code=None, signal=9)), "FAIL", "run-not-ended"),
    (static(lint=replace(LINTED, exit_code=None, timed_out=True)), "FAIL", "timed-out"),
    (static(lint=replace(LINTED, argv=("true",))), "BLOCKED", "not-run"),  # the name of a command, another command
    (static(lint=replace(LINTED, left_behind=("12 server",))), "FAIL", "not-cleaned-up"),
    (static(replace(TESTED, survivors=("12 server",))), "FAIL", "not-cleaned-up"),
    (static(commands=(TESTED,)), "BLOCKED", "not-run"),  # one of two
    (static(commands=(LINTED, TESTED, TESTED)), "BLOCKED", "not-run"),  # one of them twice: which counts?
    (static(commands=(LINTED, TESTED, replace(LINTED, name="extra"))), "BLOCKED", "foreign-command"),
    (static(commands=()), "BLOCKED", "not-run"),
    (static(disturbed=("src/a.py changed during the run",)), "BLOCKED", "tree-moved"),
    (static(simulated=True), "BLOCKED", "simulated-host"),
    (static(interrupted=True), "BLOCKED", "interrupted"),
    (static(listings=()), "BLOCKED", "evidence-unreadable"),  # nobody asked before the run what must run
    (static(listings=(replace(LISTED, argv=("true",)),)), "BLOCKED", "evidence-unreadable"),  # asked something else
    (static(listings=(replace(LISTED, exit_code=2),)), "BLOCKED", "evidence-unreadable"),  # a collection with errors
    (static(listings=(replace(LISTED, log="gone"),)), "BLOCKED", "evidence-unreadable"),
    # one command known to be wrong outweighs one that is not known
    (static(lint=replace(LINTED, missing="not found"), xml=FAILED), "FAIL", "test-failed"),
]


@pytest.mark.parametrize(("verdict", "status", "code"), TRICKS)
def test_a_trick_is_answered_by_name(verdict: GateVerdict, status: str, code: str) -> None:
    assert verdict.status == status
    assert bool(verdict.blocker) == (status != "PASS")
    assert code in {finding.code for finding in verdict.findings} or not code


def test_what_was_cut_off_is_told_to_run_again_and_not_to_mend_what_never_ran() -> None:
    cut = static(interrupted=True, commands=(replace(LINTED, exit_code=None, signal=2, survivors=("12 server",)),))
    assert [finding.code for finding in cut.findings] == ["interrupted", "not-cleaned-up"]


def test_a_gate_without_commands_is_blocked_and_never_passed() -> None:
    verdict = judge(Question(Gate()), RawRun("basic", WHO, "py", "/r", ()), {})
    assert (verdict.status, verdict.blocker) == ("BLOCKED", "the policy names no command for gate basic")


RULE = Accuracy("gsm8k", "exact_match,strict-match", 1319, ("eager", "graph"), 0.25)
EAGER = Command("eager", ("run", "eager"), results="eager/results*.json", mode="eager")
GRAPH = Command("graph", ("run", "graph"), results="graph/results*.json", mode="graph")
ACCURACY = Question(Gate((EAGER, GRAPH)), RULE)
BEGAN, DONE = 1000.0, 2000.0


def result(
    value: object = 0.5,
    size: int = 1319,
    date: object = 1500.0,
    original: int = 1319,
    limit: object = None,
    asked: str = "f0",
) -> bytes:
    scores = {"exact_match,strict-match": value, "exact_match_stderr,strict-match": 0.01}
    counts = {"original": original, "effective": size}
    body = {"results": {"gsm8k": scores}, "n-samples": {"gsm8k": counts}, "config": {"limit": limit}, "date": date}
    body["task_hashes"] = {"gsm8k": asked}
    return json.dumps(body).encode()


GOOD = {"eager/results_1.json": result(), "graph/results_1.json": result(date=1600.0)}


def accuracy(
    files: Mapping[str, bytes] = GOOD,
    graph: tuple[str, ...] = ("graph/results_1.json",),
    environment: Mapping[str, str] | None = None,
    **about: object,
) -> GateVerdict:
    eager_ran = Ended("eager", ("run", "eager"), 0, began=BEGAN, ended=DONE, results=("eager/results_1.json",))
    graph_ran = Ended("graph", ("run", "graph"), 0, began=BEGAN, ended=DONE, results=graph)
    raw = RawRun("accuracy", WHO, "py", "/r", (eager_ran, graph_ran), environment=environment or {})
    return judge(replace(ACCURACY, **about), raw, files)  # type: ignore[arg-type]  # the table's own columns


def with_graph(data: bytes) -> GateVerdict:
    return accuracy({**GOOD, "graph/results_1.json": data})


ALL = replace(RULE, harmless={"AFD_GSM8K_LIMIT": "all"})

NUMBERS = [
    (accuracy(), "PASS", ""),
    (with_graph(result(0.2, date=1600.0)), "FAIL", "below-threshold"),
    (with_graph(result(7 / 7, 7, 1600.0)), "BLOCKED", "not-full"),  # 7 of 1319, limit unset (U1)
    (with_graph(result(0.5, 100, 1600.0, original=100)), "BLOCKED", "not-full"),  # a staged file of 100 rows
    (with_graph(result(limit=7, date=1600.0)), "BLOCKED", "not-full"),  # counts say full, the limit says no
    (with_graph(result(float("nan"), date=1600.0)), "BLOCKED", "evidence-unreadable"),
    (with_graph(result("0.5", date=1600.0)), "BLOCKED", "evidence-unreadable"),  # text
    (with_graph(result()[:-9]), "BLOCKED", "evidence-unreadable"),  # cut off
    (with_graph(GOOD["eager/results_1.json"]), "BLOCKED", "same-run"),  # one file for both modes
    (with_graph(result(0.6)), "BLOCKED", "same-run"),  # edited, but of the same run
    (with_graph(result(date=10.0)), "BLOCKED", "foreign-result"),  # dated before the run
    (with_graph(result(date="")), "BLOCKED", "foreign-result"),  # not dated
    (with_graph(result(date=1600.0, asked="f1")), "BLOCKED", "other-questions"),  # as many, and not the same
    (with_graph(result(date=1600.0, asked="")), "BLOCKED", "questions-unproven"),  # nobody knows which
    (accuracy(graph=()), "BLOCKED", "mode-missing"),
    (accuracy({"eager/results_1.json": result()}), "BLOCKED", "evidence-unreadable"),  # deleted afterwards
    (accuracy(graph=("graph/results_1.json", "graph/results_2.json")), "BLOCKED", "evidence-unreadable"),  # which?
    (accuracy(guards=(Finding("guard-relaxed", "t.py:3", "lowered"),)), "FAIL", "guard-relaxed"),
    (accuracy(guards=(Finding("guard-moved", "t.py:3", "gone"),)), "BLOCKED", "guard-moved"),
    (accuracy(accuracy=replace(RULE, threshold=0.6)), "FAIL", "below-threshold"),
    (accuracy(environment={"AFD_GSM8K_LIMIT": "7"}), "BLOCKED", "lowered"),  # as a bundle from elsewhere may say
    (accuracy(environment={"AFD_GSM8K_LIMIT": "all"}), "BLOCKED", "lowered"),
    (accuracy(environment={"AFD_GSM8K_LIMIT": "all"}, accuracy=ALL), "PASS", ""),  # the policy knows it as harmless
    (accuracy(environment={"AFD_GSM8K_LIMIT": "7"}, accuracy=ALL), "BLOCKED", "lowered"),
]


@pytest.mark.parametrize(("verdict", "status", "code"), NUMBERS)
def test_a_number_counts_only_when_it_is_full_and_of_this_run(verdict: GateVerdict, status: str, code: str) -> None:
    assert verdict.status == status
    assert code in {finding.code for finding in verdict.findings} or not code


def test_a_result_known_from_another_run_is_foreign_although_its_date_fits() -> None:
    known = {json_digest(GOOD["graph/results_1.json"]): "R-1"}
    verdict = accuracy(foreign=known)
    assert verdict.status == "BLOCKED"
    assert "that of run R-1" in verdict.blocker


def test_the_results_of_two_modes_cannot_change_places() -> None:
    names = {"eager": "eager/results_1.json", "graph": "graph/results_1.json"}
    turns = {"eager": (1000.0, 2000.0), "graph": (3000.0, 4000.0)}
    ran = tuple(
        Ended(mode, ("run", mode), 0, began=began, ended=ended, results=(names[mode],))
        for mode, (began, ended) in turns.items()
    )
    raw = RawRun("accuracy", WHO, "py", "/r", ran)
    eager, graph = result(date=1500.0), result(0.6, date=3500.0)
    assert judge(ACCURACY, raw, {names["eager"]: eager, names["graph"]: graph}).status == "PASS"
    verdict = judge(ACCURACY, raw, {names["eager"]: graph, names["graph"]: eager})
    assert (verdict.status, [one.code for one in verdict.findings][:2]) == ("BLOCKED", ["foreign-result"] * 2)


LOADED = b"INFO [__init__.py:43] Loading plugin afd\n"
QUIET = b"DEBUG Available plugins for group vllm.general_plugins:\nDEBUG Loading plugin ascend\n"

# what a control's log says, what is found, whether it counts against it
CONTROL_LOGS = [
    (LOADED, ["plugin-loaded"], "error"),
    (b"All plugins in this group will be loaded.\n", ["plugin-loaded"], "error"),
    (QUIET, [], ""),
    (b"", ["plugins-unknown"], "note"),  # the variable alone
]


@pytest.mark.parametrize(("log", "codes", "severity"), CONTROL_LOGS)
def test_a_control_that_loaded_the_plugin_is_none(log: bytes, codes: list[str], severity: str) -> None:
    raw = RawRun("accuracy", WHO, "py", "/r", (Ended("n", ("n",), 0, log="log/n.log"),), cell="native")
    found = list(judge_control_log(raw, {"log/n.log": log}, LogWords()))
    assert [one.code for one in found] == codes
    assert all(one.severity == severity for one in found)
    assert not list(judge_control_log(replace(raw, cell=""), {"log/n.log": log}, LogWords()))


def test_a_partial_run_says_what_full_would_be() -> None:
    verdict = with_graph(result(1.0, 7, 1600.0))
    assert verdict.partial
    assert "7 of 1319" in verdict.blocker


def json_digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def test_the_raw_facts_of_a_run_survive_a_round_trip() -> None:
    raw = RawRun("static", WHO, "py", "/r", (LINTED, TESTED), {"unit.xml": "d" * 64}, ("moved",), host={"npu": None})
    assert parse_raw_run(raw.as_bytes()) == raw


MALFORMED = [b"", b"[]", b"{", b'{"schema":"git-afd/run/2"}', RawRun("s", WHO, "", "", ()).as_bytes()[:-5], b"\xff"]


@pytest.mark.parametrize("data", MALFORMED)
def test_raw_facts_that_cannot_be_read_are_named(data: bytes) -> None:
    with pytest.raises(EvidenceFault, match=r"run\.json"):
        parse_raw_run(data)
