"""The focused tests of the root causes: each must have run and passed, inside the suites that the gate ran anyway.

And what did not run besides, by file and reason: mostly what needs a runtime that is not there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from git_afd.core.evidence.junit import Case, report_id
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json

_WORST_LAST: Final = ("passed", "xfailed", "skipped", "error", "failed")
_NEEDS: Final = (re.compile(r"No module named '([^']+)'"), re.compile(r"could not import '([^']+)'"))
"""What was not there: the module that Python did not find, else the one that a test asked for."""


@dataclass(frozen=True, slots=True)
class Focused:
    """One focused test of a root cause: a file, or a node id with or without its parameters.

    `there` says whether the commit holds its file, `gate` which later gate's commands collect that file (empty:
    none). An empty `test` is a root cause that plans none, for the reason `why`.
    """

    cause: str
    test: str
    there: bool = True
    gate: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite as it was reported: its command, its cases, and its root folder below the tree (empty, or ``x/``).

    `listed` are pytest's own ids, frozen before the run.
    """

    command: str
    cases: tuple[Case, ...]
    listed: tuple[str, ...] = ()
    root: str = ""

    def nodes(self) -> Iterator[tuple[str, Case]]:
        """Yield each case with its node id from the tree's own root."""
        known = {report_id(node): node for node in self.listed}
        for case in self.cases:
            yield f"{self.root}{known.get(case.id, case.node_id)}", case


_Node = tuple[str, Case, str]
"""A node id from the tree's own root, its case, the command that reported it."""


@dataclass(frozen=True, slots=True)
class FocusedVerdict:
    """PASS when every focused test ran and passed, or is left to a later gate that collects it. `rows` show each."""

    status: Literal["PASS", "FAIL"]
    findings: tuple[Finding, ...]
    rows: tuple[dict[str, Json], ...]


def judge_focused(focused: Sequence[Focused], suites: Sequence[Suite]) -> FocusedVerdict:
    """Look each focused test up in what the suites reported."""
    nodes: dict[str, list[_Node]] = {}
    for suite in suites:
        for node, case in suite.nodes():
            nodes.setdefault(node.partition("::")[0], []).append((node, case, suite.command))
    stopped = _stopped(suites)
    rows: list[dict[str, Json]] = []
    findings: list[Finding] = []
    for item in focused:
        row, finding = _one(item, nodes.get(item.test.partition("::")[0], ()), stopped)
        rows.append(row)
        findings += [finding] if finding else []
    failed = any(finding.severity == "error" for finding in findings)
    return FocusedVerdict("FAIL" if failed else "PASS", tuple(findings), tuple(rows))


def _one(item: Focused, nodes: Sequence[_Node], stopped: str) -> tuple[dict[str, Json], Finding | None]:
    """Look one test up among the `nodes` of its file."""
    row: dict[str, Json] = {"root_cause": item.cause, "test": item.test, "outcome": "", "tests": 0, "command": ""}
    if not item.test:
        return {**row, "outcome": f"none planned: {item.why}"}, None
    hits = [(case, command) for node, case, command in nodes if _is(item.test, node) and not case.collection]
    if hits:
        worst = max((case for case, _ in hits), key=lambda case: _WORST_LAST.index(case.outcome))
        row |= {"outcome": worst.outcome, "tests": len(hits), "command": hits[0][1]}
        why = f"{worst.outcome}: {worst.reason}" if worst.reason else worst.outcome
        return row, None if worst.outcome == "passed" else _fault(item, f"it {_BY_OUTCOME[worst.outcome]} ({why})")
    if item.gate and item.there:
        text = f"{item.test} of {item.cause} is left to gate {item.gate}, whose commands collect it"
        return {**row, "outcome": f"left to gate {item.gate}"}, Finding("focused-later", item.test, text, "", "note")
    why = _why_not(item, nodes) or stopped or "it did not run in any suite of this gate"
    return {**row, "outcome": "did not run"}, _fault(item, why)


_BY_OUTCOME: Final[Mapping[str, str]] = {
    "xfailed": "is expected to fail",
    "skipped": "was skipped",
    "error": "ended in an error",
    "failed": "failed",
}


def _why_not(item: Focused, nodes: Sequence[_Node]) -> str:
    path = item.test.partition("::")[0]
    if not item.there:
        return f"the commit holds no {path}"
    module = next((case for node, case, _ in nodes if case.collection and node == path), None)
    if module is not None:
        return (
            f"it did not run: {path} was {module.outcome if module.outcome == 'skipped' else 'not imported'} "
            f"({module.reason})"
        )
    return ""


def _stopped(suites: Sequence[Suite]) -> str:
    """Say that a suite ended while its modules were collected: then pytest runs no test at all."""
    for suite in suites:
        broken = sum(case.collection and case.outcome != "skipped" for case in suite.cases)
        if broken and all(case.collection for case in suite.cases):
            modules = "1 module" if broken == 1 else f"{broken} modules"
            return f"it did not run: {modules} of {suite.command} could not be imported, at which pytest stops"
    return ""


def _fault(item: Focused, why: str) -> Finding:
    text = f"{item.test}, a focused test of {item.cause}: {why}"
    return Finding("focused-test", item.test, text, f"make it run and pass, or git afd root-cause show {item.cause}")


def _is(test: str, node: str) -> bool:
    return node == test or node.startswith((f"{test}::", f"{test}["))


def not_run(suites: Iterable[Suite], lost: Iterable[str]) -> tuple[dict[str, Json], ...]:
    """Return what did not run, by file and reason: modules that were skipped or not imported, and skipped tests.

    `lost` are files of the commit from which nothing was collected. `tests` is the number of tests, null for a whole
    module (nobody knows how many it holds); `needs` is the module that was not there to import.
    """
    modules: dict[tuple[str, str], None] = {}
    tests: Counter[tuple[str, str]] = Counter()
    for suite in suites:
        for node, case in suite.nodes():
            if case.collection and case.outcome != "passed":
                modules[(node, case.reason)] = None
            elif case.outcome == "skipped":
                tests[(node.partition("::")[0], case.reason)] += 1
    known = {path for path, _ in (*modules, *tests)}
    modules |= {(path, "nothing was collected from it"): None for path in lost if path not in known}
    rows = [(path, reason, None) for path, reason in modules]
    return tuple(_row(*row) for row in sorted([*rows, *((*key, count) for key, count in tests.items())], key=str))


def _row(path: str, reason: str, tests: int | None) -> dict[str, Json]:
    return {"file": path, "reason": reason, "tests": tests, "needs": needed(reason)}


def needed(reason: str) -> str:
    """Return the module that was not there to import, empty when the reason names none."""
    return next((found.group(1) for pattern in _NEEDS if (found := pattern.search(reason))), "")
