from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kit import run

from git_afd.core.evidence.collected import parse_collected
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.junit import Case, Report, parse_junit, report_id
from git_afd.core.evidence.suite_verdict import AllowedSkip, judge_tests

# A suite to be judged: its skip and its xfails are what a report must tell apart, not tests of ours that do not run.
REAL = """
import pytest
@pytest.fixture
def breaks_after():
    yield
    raise RuntimeError("after")
@pytest.fixture
def breaks_before():
    raise RuntimeError("before")
def test_passes(): pass
def test_fails_twice(breaks_after): assert 0
def test_fails_after(breaks_after): pass
def test_fails_before(breaks_before): pass
@pytest.mark.skip(reason="no npu here")  # judged: a skip
def test_skipped(): pass
@pytest.mark.xfail(reason="known")  # judged: an expected failure
def test_xfailed(): assert 0
@pytest.mark.xfail(reason="known", strict=True)  # judged: a pass that must not be
def test_xpassed(): pass
@pytest.mark.parametrize("x", ["a b", "a::b", "x[y]", "ü", "\\x00", "a/b.py"])
def test_many(x): pass
class TestC:
    class TestD:
        def test_deep(self): pass
"""
OUTCOMES = {
    "test_passes": "passed",
    "test_fails_twice": "failed",
    "test_fails_after": "error",
    "test_fails_before": "error",
    "test_skipped": "skipped",
    "test_xfailed": "xfailed",
    "test_xpassed": "failed",
    "test_deep": "passed",
}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where pytest really ran: reports of both families and the listing."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "pkg").mkdir()
    (folder / "pkg" / "test_real.py").write_text(REAL)
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "pkg"]
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    (folder / "listing").write_text(run([*call, "--collect-only"], folder, env=bare).ok().out)
    (folder / "twice").write_text(run([*call, "-q", "--collect-only"], folder, env=bare).out)
    run([*call, "--junitxml=xunit1.xml", "-o", "junit_family=xunit1"], folder, env=bare)
    (folder / "pkg" / "test_broken.py").write_text("import no_such_module_afd\n")
    # judged: a whole module that skips itself
    (folder / "pkg" / "test_off.py").write_text("import pytest\npytest.skip('no vllm', allow_module_level=True)\n")
    run([*call, "--junitxml=xunit2.xml", "--continue-on-collection-errors"], folder, env=bare)
    (folder / "broken").write_text(run([*call, "--collect-only"], folder, env=bare).out)
    return folder


@pytest.mark.parametrize("name", ["xunit1.xml", "xunit2.xml"])
def test_what_pytest_really_writes_is_told_apart(real: Path, name: str) -> None:
    report = parse_junit((real / name).read_bytes(), name)
    found = {case.id.rpartition("::")[2]: case.outcome for case in report.cases}
    assert {test: found.get(test) for test in OUTCOMES} == OUTCOMES
    twice = next(case for case in report.cases if case.id.endswith("test_fails_twice"))
    assert (twice.parts, twice.teardown) == (2, True)
    assert "assert 0; failed on teardown" in twice.reason


def test_modules_that_cannot_be_imported_are_no_tests(real: Path) -> None:
    report = parse_junit((real / "xunit2.xml").read_bytes(), "xunit2.xml")
    modules = {case.node_id: (case.outcome, case.reason) for case in report.cases if case.collection}
    assert modules["pkg/test_broken.py"][0] == "error"
    assert "No module named 'no_such_module_afd'" in modules["pkg/test_broken.py"][1]
    assert modules["pkg/test_off.py"] == ("skipped", "collection skipped: no vllm")
    assert report.count("error") == 2


def test_the_frozen_listing_names_exactly_what_the_report_holds(real: Path) -> None:
    expected = parse_collected((real / "listing").read_bytes(), "listing")
    report = parse_junit((real / "xunit1.xml").read_bytes(), "xunit1.xml")
    assert {report_id(node) for node in expected} == {case.id for case in report.cases}
    guessed = {case.node_id for case in report.cases if "x00" not in case.id}
    assert guessed <= set(expected)
    verdict = judge_tests(report, 1, expected)
    assert (verdict.counts["missing"], verdict.counts["unexpected"]) == (0, 0)


# listing, what is said about it
LISTINGS = [
    (b"a.py::t\n\n1 test collected in 0.1s\n", None),
    (b"a.py::t\na.py::u\n\n2/5 tests collected (3 deselected) in 0.1s\n", None),
    (b"\nno tests collected in 0.00s\n", None),  # an empty list; the verdict refuses it
    (b"a.py::t\n", "no closing line"),  # cut off
    (b"a.py::t\n\n2 tests collected in 0.1s\n", "1 ids stand there"),  # a line got lost
    (b"a.py::t\n\n1 test collected, 2 errors in 0.1s\n", "2 modules could not be imported"),
    (b"a.py: 3\nb.py: 1\n\n", "counts, no ids"),  # -q twice: the plugin's own addopts has one
    (b"a.py::t\na.py::t\n\n2 tests collected in 0.1s\n", "a.py::t: stands there twice"),  # one that hides another
    (b"a.py::t\n\n1 test collected in 0.1s\n" + b" " * (64 << 20), "bytes; expected at most"),
    (b"", "no closing line"),
    (b"\xff\xfe\x00", "no closing line"),
]


@pytest.mark.parametrize(("data", "wrong"), LISTINGS, ids=range(len(LISTINGS)))
def test_a_listing_is_complete_or_refused(data: bytes, wrong: str | None) -> None:
    if wrong is None:
        assert len(parse_collected(data, "listing")) == data.count(b"::")
    else:
        with pytest.raises(EvidenceFault, match=wrong) as fault:
            parse_collected(data, "listing")
        assert fault.value.message.startswith("listing")
        assert "; expected " in fault.value.message


def test_a_real_listing_with_quiet_twice_or_errors_is_refused(real: Path) -> None:
    for name, wrong in (("twice", "counts, no ids"), ("broken", "could not be imported")):
        with pytest.raises(EvidenceFault, match=wrong):
            parse_collected((real / name).read_bytes(), name)


def suite(cases: str, attributes: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?><testsuites><testsuite name="s" {attributes}>{cases}</testsuite></testsuites>'.encode()
    )


ONE = '<testcase classname="m" name="t"/>'
BOMB = b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><testsuites><testsuite>&b;</testsuite></testsuites>'

# bytes, what the fault says
MALFORMED = [
    (b"", "line 1 column 1: no element found"),
    (b"garbage", "line 1 column 1: syntax error"),
    (b"{}", "not well-formed"),  # JSON under the wrong name
    (b"<testsuites>", "no element found"),  # cut off
    (suite(ONE)[:-30], "unclosed token"),  # cut off inside a tag
    (suite(ONE) + b"<more/>", "junk after document element"),  # two reports in one file
    (b"\x00" * 100, "expected a complete JUnit"),
    (suite(ONE).replace(b"1.0", b'1.0" encoding="no-such'), "expected a complete JUnit"),
    (suite(ONE).decode().encode("utf-16")[:-1], "expected a complete JUnit"),
    (BOMB, "DTDForbidden"),  # entities that grow
    (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites/>', "DTDForbidden"),
    (b"<html/>", "outermost element is 'html'"),  # a proxy's error page
    (b"<testsuites/>", "holds no testsuite"),
    (b"<testsuites><testcase name='t'/></testsuites>", "a testcase stands in 'testsuites'"),
    (b"<testsuite><testsuite/></testsuite>", "a testsuite stands in 'testsuite'"),
    (suite("<testcase classname='m' name='t'>" + ONE + "</testcase>"), "a testcase stands in 'testcase'"),
    (suite("<a>" * 40 + "</a>" * 40), "32 deep"),
    (suite("<testcase classname='m'/>"), "testcase 1: has no name"),
    (suite(ONE + "<testcase classname='m' name='u' time='nan'/>"), "testcase 2: time is 'nan'"),
    (suite("<testcase classname='m' name='u' time='soon'/>"), "time is 'soon'"),
    (suite(ONE, 'tests="2"'), "tests is '2'; expected 1 as listed"),  # a case was taken out
    (suite(ONE, 'failures="1"'), "failures is '1'; expected 0"),  # a failure was taken out
    (suite("<testcase classname='m' name='t'><failure/></testcase>", 'failures="0"'), "failures is '0'; expected 1"),
    (suite(ONE, 'skipped="many"'), "skipped is 'many'"),
    (suite(ONE, f'errors="{"9" * 5000}"'), "errors is '999"),  # a number too long for int()
]


@pytest.mark.parametrize(("data", "says"), MALFORMED)
def test_a_report_that_cannot_be_trusted_is_a_fault_that_names_file_place_and_expectation(
    data: bytes, says: str
) -> None:
    with pytest.raises(EvidenceFault) as fault:
        parse_junit(data, "unit.xml")
    assert fault.value.message.startswith("unit.xml")
    assert says in fault.value.message
    assert "; expected " in fault.value.message
    assert len(fault.value.message) < 400


def test_a_report_beyond_its_bound_is_not_read() -> None:
    with pytest.raises(EvidenceFault, match="at most 50"):
        parse_junit(suite(ONE), "unit.xml", size_limit=50)


# the case's element, outcome
WORDS = [
    ("<testcase classname='m' name='t'/>", "passed"),
    ("<testcase classname='m' name='t'><system-out>noise</system-out><properties/></testcase>", "passed"),
    ("<testcase classname='m' name='t'><skipped type='pytest.xfail'/></testcase>", "xfailed"),
    ("<testcase classname='m' name='t'><skipped/></testcase>", "skipped"),
    ("<testcase classname='m' name='t'><skipped/><error/></testcase>", "error"),  # skipped, then failed in teardown
    ("<testcase classname='m' name='t'><flakyFailure/></testcase>", "error"),  # a word that is not pytest's
    ("<testcase classname='m' name='t' status='notrun'/>", "error"),  # other writers
    ("<testcase classname='m' name='t'/><testcase classname='m' name='t'><failure/></testcase>", "failed"),
    ("<testcase classname='m' name='t'><failure/></testcase><testcase classname='m' name='t'/>", "failed"),
]


@pytest.mark.parametrize(("cases", "outcome"), WORDS)
def test_an_unknown_word_or_a_worse_twin_is_never_a_pass(cases: str, outcome: str) -> None:
    assert [case.outcome for case in parse_junit(suite(cases), "r").cases] == [outcome]


PIECES = (
    "<testsuites>|</testsuites>|<testsuite tests='1'>|</testsuite>|<testcase name='a'>|</testcase>|<failure>|"
    "</failure>|<skipped/>|&lt;|&x;|<!DOCTYPE a>|]]>|<?xml version='1.0' encoding='utf-16'?>|<!--|<![CDATA[|\0|ü"
)
xmlish = st.lists(st.sampled_from(PIECES.split("|")), max_size=12).map(lambda pieces: "".join(pieces).encode())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=200), xmlish))
def test_no_bytes_raise_anything_but_the_fault(data: bytes) -> None:
    for parse in (parse_junit, parse_collected):
        with contextlib.suppress(EvidenceFault):
            parse(data, "r")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 4000))
def test_no_piece_of_a_real_report_is_taken_for_the_whole(real: Path, cut: int) -> None:
    data = (real / "xunit2.xml").read_bytes()
    with pytest.raises(EvidenceFault):
        parse_junit(data[: cut % len(data)], "xunit2.xml")


def case(name: str, outcome: str = "passed", reason: str = "", **more: object) -> Case:
    return Case(f"m::{name}", f"m.py::{name}", outcome, reason, **more)  # type: ignore[arg-type]  # tables hold strings


def report(*cases: Case) -> Report:
    return Report("r.xml", cases)


NODE = ("m.py::a",)
SKIP = AllowedSkip("m.py::b", "no 310p")

# report, exit code, expected ids, allowed skips, status, code that must be found
VERDICTS = [
    (report(case("a")), 0, NODE, (), "PASS", None),
    (report(case("a")), 0, None, (), "PASS", "expected-unknown"),  # said, so that the gate may insist
    (report(), 0, None, (), "FAIL", "nothing-executed"),
    (report(), 5, None, (), "FAIL", "nothing-collected"),  # pytest's own word for it
    (report(), 0, (), (), "FAIL", "nothing-expected"),  # an empty expectation is met by nothing
    (report(case("a", "skipped")), 0, NODE, (), "FAIL", "nothing-executed"),  # pytest exits 0 when all are skipped
    (report(case("a", "skipped")), 0, NODE, (AllowedSkip("*"),), "FAIL", "nothing-executed"),  # allowed or not
    (report(case("a", "xfailed")), 0, NODE, (AllowedSkip("*"),), "FAIL", "nothing-passed"),
    (report(case("a")), 1, NODE, (), "FAIL", "exit-code"),  # another plugin's veto
    (report(case("a")), -9, NODE, (), "FAIL", "exit-code"),
    (report(case("a")), None, NODE, (), "FAIL", "run-not-ended"),  # time was up after the report was written
    (report(case("a", "failed")), 0, NODE, (), "FAIL", "exit-code-contradicts-report"),  # `pytest || true`
    (report(case("a", "failed")), 1, NODE, (), "FAIL", "test-failed"),
    (report(case("a", "error")), 1, NODE, (), "FAIL", "test-error"),
    (report(case("a"), case("m", "error", collection=True)), 0, NODE, (), "FAIL", "collection-error"),
    (report(case("a"), case("m", "skipped", collection=True)), 0, NODE, (), "FAIL", "skip-not-allowed"),
    (report(case("a")), 0, ("m.py::a", "m.py::b"), (), "FAIL", "test-missing"),  # deselected tests stand nowhere
    (report(case("a"), case("b")), 0, NODE, (), "PASS", "test-unexpected"),  # shown, no failure
    (report(case("a"), case("b", "skipped", "no 310p here")), 0, None, (SKIP,), "PASS", None),
    (report(case("a"), case("b", "skipped", "new reason")), 0, None, (SKIP,), "FAIL", "skip-not-allowed"),
    (report(case("a"), case("c", "skipped", "no 310p")), 0, None, (SKIP,), "FAIL", "skip-not-allowed"),
    (report(case("a"), case("b[1]", "skipped", "no 310p")), 0, None, (SKIP,), "PASS", None),  # all its parameters
    (report(case("a"), case("bb", "skipped", "no 310p")), 0, None, (SKIP,), "FAIL", "skip-not-allowed"),  # no prefix
    (report(case("a"), case("b", "skipped")), 0, None, (AllowedSkip("m.py::[ab]"),), "FAIL", "skip-not-allowed"),
    (report(case("a"), case("b[x-1]", "skipped")), 0, None, (AllowedSkip("m*::b[x-*]"),), "PASS", None),
    (report(case("a"), case("b", "xfailed")), 0, None, (), "FAIL", "xfail-not-allowed"),  # no test may hide behind it
    (report(case("a", parts=2)), 0, NODE, (), "PASS", "reported-twice"),
    (report(case("a")), 0, ("m.py::a", "m::a"), (), "FAIL", "ambiguous-id"),  # one report id for two tests
    (None, 0, NODE, (), "BLOCKED", "report-missing"),
    (None, 1, NODE, (), "FAIL", "exit-code"),
]


@pytest.mark.parametrize(("given_report", "exit_code", "expected", "allowed", "status", "code"), VERDICTS)
def test_only_a_run_whose_code_and_report_say_all_expected_passed_is_a_pass(
    given_report: Report | None,
    exit_code: int | None,
    expected: tuple[str, ...] | None,
    allowed: tuple[AllowedSkip, ...],
    status: str,
    code: str | None,
) -> None:
    verdict = judge_tests(given_report, exit_code, expected, allowed)
    codes = {finding.code for finding in verdict.findings}
    assert verdict.status == status, verdict.findings
    assert code is None or code in codes


def test_counts_say_what_ran() -> None:
    done = report(case("a"), case("b", "failed"), case("c", "skipped"), case("d", "xfailed"), case("e", "error"))
    assert judge_tests(done, 1, ("m.py::a", "m.py::z")).counts == {
        "passed": 1,
        "failed": 1,
        "errors": 1,
        "skipped": 1,
        "xfailed": 1,
        "collection_errors": 0,
        "executed": 4,
        "expected": 2,
        "missing": 1,
        "unexpected": 4,
    }


def test_a_thousand_missing_tests_are_listed_in_part_and_counted() -> None:
    verdict = judge_tests(report(case("a")), 0, [f"m.py::t{n}" for n in range(1000)])
    missing = [finding for finding in verdict.findings if finding.code == "test-missing"]
    assert len(missing) == 51
    assert missing[-1].message == "950 more of this kind."
