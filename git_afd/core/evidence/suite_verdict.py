"""Judges a test run by its exit code *and* its report: both must say the same, and say all that was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.evidence.junit import Case, Report, report_id
from git_afd.core.evidence.status import Status
from git_afd.core.finding import Finding
from git_afd.core.stars import fits_stars

_NOTHING_COLLECTED: Final = 5
_SHOWN: Final = 50
"""How many findings of one code are listed one by one; the rest are counted in one more."""

_ALL_SHOWN: Final = frozenset({"skip-not-allowed", "xfail-not-allowed"})
"""What somebody must get approved test by test: of these none is left out."""


@dataclass(frozen=True, slots=True)
class AllowedSkip:
    """A skip or expected failure that the frozen policy documents.

    `test` is a node id in which ``*`` stands for anything (brackets are literal: ids hold them); without its
    parameters it covers all of them. `reason` must occur in the report's reason, empty means any.
    """

    test: str
    reason: str = ""

    def covers(self, case: Case) -> bool:
        """Say whether `case` was skipped as documented."""
        names = (case.node_id, case.id, case.node_id.partition("[")[0], case.id.partition("[")[0])
        return self.reason in case.reason and self.names(*names)

    def names(self, *names: str) -> bool:
        """Say whether `test` stands for one of these names, whatever the reason."""
        return any(self._names(name) for name in names)

    def _names(self, name: str) -> bool:
        return fits_stars(self.test, name) or ("*" not in self.test and name == report_id(self.test))


@dataclass(frozen=True, slots=True)
class SuiteVerdict:
    """PASS only when the run ended with exit code 0 and every expected test ran and passed.

    `counts` has passed, failed, errors, skipped, xfailed, collection_errors, executed, expected (-1 when no
    expected ids were given), missing, unexpected. Findings of severity ``note`` do not change the status.
    """

    status: Status
    counts: Mapping[str, int]
    findings: tuple[Finding, ...]


def judge_tests(
    report: Report | None,
    exit_code: int | None,
    expected_ids: Collection[str] | None,
    allowed_skips: Sequence[AllowedSkip] = (),
) -> SuiteVerdict:
    """Judge one test run.

    `report` is None when the run left none; `exit_code` None when a signal or the clock ended it. `expected_ids`
    are pytest's node ids, frozen before the run with ``--collect-only``; None means that nobody knows them,
    which is noted. A missing report blocks when the command says success: then nothing is known.
    """
    cases = report.cases if report else ()
    by_id = {case.id: case for case in cases if not case.collection}
    wanted = {report_id(node): node for node in expected_ids} if expected_ids is not None else None
    counts = _counts(report, wanted, by_id)
    findings = [
        *_exit_findings(exit_code, counts),
        *_report_findings(report, counts),
        *_case_findings(cases, allowed_skips),
        *_expectation_findings(expected_ids, wanted, by_id),
    ]
    errors = [finding for finding in findings if finding.severity == "error"]
    status: Status = "FAIL" if errors else "PASS"
    if report is None and exit_code == 0:
        status = "BLOCKED"
    return SuiteVerdict(status, counts, tuple(_shortened(findings)))


def _counts(report: Report | None, wanted: Mapping[str, str] | None, by_id: Mapping[str, Case]) -> dict[str, int]:
    outcomes = Counter(case.outcome for case in by_id.values())
    modules = [case for case in report.cases if case.collection] if report else []
    return {
        "passed": outcomes["passed"],
        "failed": outcomes["failed"],
        "errors": outcomes["error"],
        "skipped": outcomes["skipped"],
        "xfailed": outcomes["xfailed"],
        "collection_errors": sum(case.outcome != "skipped" for case in modules),
        "executed": len(by_id) - outcomes["skipped"],
        "expected": -1 if wanted is None else len(wanted),
        "missing": 0 if wanted is None else len(wanted.keys() - by_id.keys()),
        "unexpected": 0 if wanted is None else len(by_id.keys() - wanted.keys()),
    }


def _exit_findings(exit_code: int | None, counts: Mapping[str, int]) -> Iterator[Finding]:
    bad = counts["failed"] + counts["errors"] + counts["collection_errors"]
    if exit_code is None:
        yield Finding("run-not-ended", "", "The test command did not end by itself.", "Read its log and run it again.")
    elif exit_code == _NOTHING_COLLECTED:
        yield Finding(
            "nothing-collected", "", "The test command collected no test (exit code 5).", "Mend its selection."
        )
    elif exit_code:
        yield Finding("exit-code", "", f"The test command ended with exit code {exit_code}.", "Read its log.")
    elif bad:
        yield Finding(
            "exit-code-contradicts-report",
            "",
            f"The test command ended with exit code 0, but its report has {bad} failures and errors.",
            "Find out what turns the exit code into 0.",
        )


def _report_findings(report: Report | None, counts: Mapping[str, int]) -> Iterator[Finding]:
    if report is None:
        yield Finding("report-missing", "", "The run left no JUnit report.", "Give pytest --junitxml and run again.")
    elif not counts["executed"]:
        yield Finding("nothing-executed", report.file, "No test was executed.", "A gate needs tests that run.")
    elif not counts["passed"]:
        yield Finding("nothing-passed", report.file, "No test passed.", "A gate needs tests that pass.")


def _case_findings(cases: Iterable[Case], allowed: Sequence[AllowedSkip]) -> Iterator[Finding]:
    for case in cases:
        why = case.reason or "no reason given"
        if case.outcome in ("failed", "error"):
            code = "collection-error" if case.collection else f"test-{case.outcome}"
            remedy = "Prove the environment first: it may lack what is imported." if case.collection else ""
            yield Finding(code, case.node_id, f"{case.node_id}: {why}", remedy)
        elif case.outcome in ("skipped", "xfailed") and not any(skip.covers(case) for skip in allowed):
            word = "skip" if case.outcome == "skipped" else "xfail"
            message = f"{case.node_id}: {case.outcome}, which the policy does not allow: {why}"
            yield Finding(f"{word}-not-allowed", case.node_id, message, "Make it run, or get the skip approved.")
        if case.parts > 1 and not (case.teardown and case.parts == 2):  # noqa: PLR2004 - body and teardown
            yield Finding(
                "reported-twice", case.node_id, f"{case.node_id} stands {case.parts} times in the report.", "", "note"
            )


def _expectation_findings(
    expected_ids: Collection[str] | None, wanted: Mapping[str, str] | None, by_id: Mapping[str, Case]
) -> Iterator[Finding]:
    if expected_ids is None or wanted is None:
        yield Finding("expected-unknown", "", "The expected tests were not frozen before the run.", "", "note")
        return
    if not expected_ids:
        yield Finding("nothing-expected", "", "The frozen list of expected tests is empty.", "Mend the selection.")
    for node in sorted(set(expected_ids) - set(wanted.values())):
        yield Finding(
            "ambiguous-id", node, f"{node} cannot be told from {wanted[report_id(node)]} in a report.", "Rename one."
        )
    for name in sorted(wanted.keys() - by_id.keys()):
        yield Finding(
            "test-missing", wanted[name], f"{wanted[name]} was expected and is not in the report.", "Run it too."
        )
    for name in sorted(by_id.keys() - wanted.keys()):
        node = by_id[name].node_id
        yield Finding("test-unexpected", node, f"{node} ran and was not expected.", "", "note")


def _shortened(findings: Iterable[Finding]) -> Iterator[Finding]:
    seen: Counter[str] = Counter()
    severity = {}
    for finding in findings:
        seen[finding.code] += 1
        severity[finding.code] = finding.severity
        if seen[finding.code] <= _SHOWN or finding.code in _ALL_SHOWN:
            yield finding
    for code, count in seen.items():
        if count > _SHOWN and code not in _ALL_SHOWN:
            yield Finding(code, "", f"{count - _SHOWN} more of this kind.", "Read the report.", severity[code])
