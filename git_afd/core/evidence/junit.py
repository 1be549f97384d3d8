"""Reads a JUnit XML report as pytest writes it (xunit1 and xunit2), and trusts nothing in it unchecked.

pytest's oddities (domain: test evidence): a test that fails in its body and again in teardown stands there
twice; skip and xfail are both ``skipped`` and differ by ``type`` only; a module that cannot be imported is a
test case with an empty class name; deselected tests stand nowhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TYPE_CHECKING, Final, Literal

from git_afd.core.evidence.fault import EvidenceFault

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

CaseOutcome = Literal["passed", "xfailed", "skipped", "error", "failed"]

SIZE_LIMIT: Final = 64 << 20
"""Largest report that is read, in bytes: real ones have well under one MiB per thousand tests."""

_WORST_LAST: Final[tuple[CaseOutcome, ...]] = ("passed", "xfailed", "skipped", "error", "failed")
_HARMLESS: Final = frozenset({"properties", "property", "system-out", "system-err"})
_RAN: Final = frozenset({"", "run", "passed", "completed"})
_DEPTH_LIMIT: Final = 32
_REASON_LIMIT: Final = 500
_EXPECTED: Final = "a complete JUnit XML report"


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a report.

    `id` is ``classname::name`` as the report has it; `node_id` is pytest's own id as well as it can be guessed.
    `reason` is the message of a failure or the reason of a skip, one line. `parts` counts the report's entries
    merged into this one; `teardown` says that one of them was a failure on teardown; `collection` marks a
    module that could not be imported or was skipped as a whole, which is no test.
    """

    id: str
    node_id: str
    outcome: CaseOutcome
    reason: str = ""
    time_s: float = 0.0
    parts: int = 1
    teardown: bool = False
    collection: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """All tests of one report file, in its order, each once."""

    file: str
    cases: tuple[Case, ...]

    def count(self, outcome: CaseOutcome) -> int:
        """Return how many tests, modules that failed to import not counted, ended like this."""
        return sum(case.outcome == outcome and not case.collection for case in self.cases)


def report_id(node_id: str) -> str:
    """Return the `Case.id` under which pytest reports `node_id` (``pkg/test_a.py::TestC::test_m[x]``)."""
    path, bracket, parameters = node_id.partition("[")
    names = path.split("::")
    names[0] = re.sub(r"\.py\Z", "", names[0].replace("/", "."))
    return f"{'.'.join(names[:-1])}::{names[-1]}{bracket}{parameters}"


def parse_junit(data: bytes, file: str, *, size_limit: int = SIZE_LIMIT) -> Report:
    """Read the bytes of a report; `file` is its name for messages.

    Document types and entities are refused, so that nothing is expanded or fetched. Raises EvidenceFault: too
    large, not well-formed, cut off, no report, or totals that contradict the test cases.
    """
    if len(data) > size_limit:
        raise EvidenceFault(file, "", f"has {len(data)} bytes", f"at most {size_limit}")
    reader = _Reader(file)
    for event, element in _events(data, file):
        reader.start(element) if event == "start" else reader.end(element)
    return reader.report()


def _events(data: bytes, file: str) -> Iterator[tuple[str, Element]]:
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import iterparse

    try:
        yield from iterparse(BytesIO(data), ("start", "end"), forbid_dtd=True)
    except ParseError as error:
        line, column = error.position
        wrong = str(error).partition(":")[0]
        raise EvidenceFault(file, f"line {line} column {column + 1}", wrong, _EXPECTED) from None
    except (ValueError, LookupError) as error:  # forbidden constructs, unknown or lying encodings
        raise EvidenceFault(file, "", f"{type(error).__name__} while reading", _EXPECTED) from None


@dataclass(slots=True)
class _Suite:
    """What a ``testsuite`` says about itself, and what really stands in it."""

    name: str
    claims: Mapping[str, str]
    seen: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("tests", "failures", "errors", "skipped"), 0))
    teardowns: int = 0


class _Reader:
    """Takes the elements one by one, so that a large report never stands in memory as a tree."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._cases: dict[str, Case] = {}
        self._suites: list[_Suite] = []
        self._open: list[str] = []
        self._roots = 0

    def start(self, element: Element) -> None:
        if not self._open and element.tag not in ("testsuites", "testsuite"):
            raise EvidenceFault(self._file, "", f"the outermost element is {_short(element.tag)}", "testsuites")
        if len(self._open) >= _DEPTH_LIMIT:
            raise EvidenceFault(self._file, "", f"elements stand in each other {_DEPTH_LIMIT} deep", _EXPECTED)
        self._check_place(str(element.tag))
        if element.tag == "testsuite":
            self._suites.append(_Suite(element.get("name", ""), dict(element.attrib)))
        self._open.append(element.tag)

    def _check_place(self, tag: str) -> None:
        """Refuse suites in suites and cases anywhere else: their totals could not be checked."""
        parents = {"testsuite": ([], ["testsuites"]), "testcase": (["testsuite"],)}.get(tag)
        if parents is not None and self._open[-1:] not in parents:
            around = _short(self._open[-1] if self._open else "nothing")
            raise EvidenceFault(self._file, "", f"a {tag} stands in {around}", "testsuites, testsuite, testcase")

    def end(self, element: Element) -> None:
        self._open.pop()
        if element.tag == "testcase":
            self._take(element)
        if "testcase" not in self._open:
            element.clear()

    def report(self) -> Report:
        for suite in self._suites:
            self._check(suite)
        if not self._suites:
            raise EvidenceFault(self._file, "", "holds no testsuite", "at least one, be it empty")
        return Report(self._file, tuple(self._cases.values()))

    def _take(self, element: Element) -> None:
        case, tags = self._case(element)
        suite = self._suites[-1]
        suite.seen["tests"] += 1
        suite.teardowns += case.teardown
        for tag, total in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            suite.seen[total] += tags.count(tag)
        earlier = self._cases.get(case.id)
        self._cases[case.id] = _merged(earlier, case) if earlier else case

    def _case(self, element: Element) -> tuple[Case, list[str]]:
        name, classname = element.get("name", ""), element.get("classname", "")
        where = f"testcase {sum(suite.seen['tests'] for suite in self._suites) + 1}"
        if not name:
            raise EvidenceFault(self._file, where, "has no name", "a name and a classname")
        outcomes = [_child(child) for child in element if child.tag not in _HARMLESS]
        status = element.get("status", "")
        if not outcomes and status not in _RAN:
            outcomes = [("error", f"status is {_short(status)}")]
        outcome, reason = max(outcomes, key=lambda one: _WORST_LAST.index(one[0]), default=("passed", ""))
        case = Case(
            id=f"{classname}::{name}",
            node_id=_node_id(element.get("file", ""), classname, name),
            outcome=outcome,
            reason=reason,
            time_s=self._seconds(element.get("time", "0"), where),
            teardown=any(text.startswith("failed on teardown") for _, text in outcomes),
            collection=not classname,
        )
        return case, [child.tag for child in element]

    def _seconds(self, text: str, where: str) -> float:
        try:
            seconds = float(text.replace(",", ""))
        except ValueError:
            seconds = math.nan
        if not math.isfinite(seconds) or seconds < 0:
            raise EvidenceFault(self._file, where, f"time is {_short(text)}", "seconds")
        return seconds

    def _check(self, suite: _Suite) -> None:
        """Compare a suite's totals with its cases; pytest counts a passed test that fails in teardown twice."""
        for total, seen in suite.seen.items():
            claim = suite.claims.get(total)
            if claim is None:
                continue
            slack = suite.teardowns if total == "tests" else 0
            if not claim.isdecimal() or len(claim) > 9 or abs(int(claim) - seen) > slack:  # noqa: PLR2004 - digits
                raise EvidenceFault(
                    self._file, f"testsuite {_short(suite.name)}", f"{total} is {_short(claim)}", f"{seen} as listed"
                )


def _child(element: Element) -> tuple[CaseOutcome, str]:
    """Return what a child of a test case says about it; a word that is not known is never a pass."""
    reason = _reason(element)
    if element.tag == "failure":
        return "failed", reason
    if element.tag == "skipped":
        return ("xfailed" if element.get("type") == "pytest.xfail" else "skipped"), reason
    if element.tag == "error":
        return "error", reason
    return "error", f"unknown element {_short(element.tag)}"


def _reason(element: Element) -> str:
    """Return the message in one line; for a module that failed to import its last line says more."""
    message = element.get("message", "")
    lines = [line.strip() for line in (element.text or "").splitlines() if line.strip()]
    if message.startswith("collection ") and lines:
        _, skipped, why = lines[-1].rpartition("Skipped: ")
        message = f"{message}: {_unquoted(why) if skipped else why.removeprefix('E').strip()}"
    return " ".join((message or (lines[0] if lines else "")).split())[:_REASON_LIMIT]


def _unquoted(text: str) -> str:
    """Return what stands before the closing quote and parenthesis of a printed tuple."""
    inner = text.rstrip().removesuffix(")")
    return inner[:-1] if inner[-1:] in ("'", '"') else inner


def _merged(earlier: Case, later: Case) -> Case:
    worse = max(earlier, later, key=lambda case: _WORST_LAST.index(case.outcome))
    reasons = dict.fromkeys(case.reason for case in (earlier, later) if case.reason)
    return replace(
        worse,
        reason="; ".join(reasons)[:_REASON_LIMIT],
        time_s=earlier.time_s + later.time_s,
        parts=earlier.parts + 1,
        teardown=earlier.teardown or later.teardown,
    )


def _node_id(path: str, classname: str, name: str) -> str:
    """Guess pytest's id: with `path` (xunit1) what follows it in `classname` are classes, else the capitals are."""
    if not classname:
        return name.replace(".", "/") + ".py"
    module = re.sub(r"\.py\Z", "", path).replace("/", ".")
    if module and (classname == module or classname.startswith(module + ".")):
        classes = classname[len(module) + 1 :].split(".") if classname != module else []
        return "::".join([path, *classes, name])
    parts = classname.split(".")
    first = next((i for i, part in enumerate(parts) if i and part[:1].isupper()), len(parts))
    return "::".join(["/".join(parts[:first]) + ".py", *parts[first:], name])


def _short(text: object) -> str:
    return repr(text)[:80]
