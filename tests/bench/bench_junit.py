"""Judging a suite of 20,000 tests from its raw files: report, listing, tree, focused tests, what did not run.

Run by hand: ``python tests/bench/bench_junit.py``. Prints seconds of CPU, the median of five, for a suite that passes,
one of which a third is skipped, and one of which every test fails with a traceback.
"""

from __future__ import annotations

import time
from statistics import median

from git_afd.core.command import Command
from git_afd.core.evidence.checks import CheckQuestion
from git_afd.core.evidence.collecting import collect_command
from git_afd.core.evidence.focused import Focused
from git_afd.core.evidence.gate_verdict import Question, judge
from git_afd.core.evidence.raw_run import Ended, Identity, RawRun
from git_afd.core.evidence.suite_verdict import AllowedSkip
from git_afd.core.policy import Gate
from git_afd.core.runtime_rule import FOCUSED

TESTS = 20_000
FILES = 400
UNIT = Command("unit", ("{python}", "-m", "pytest", "tests", "--junitxml={out}/unit.xml"), junit="unit.xml")
TRACEBACK = "def test():\n" + "    assert compute(value) == expected  # and some more of what pytest shows\n" * 20
FAILURE = f'<failure message="AssertionError: assert 1 == 2">{TRACEBACK}</failure>'
SKIP = '<skipped type="pytest.skip" message="no device">tests/x.py:3: no device</skipped>'


def parts(number: int) -> tuple[str, str, str]:
    """Return the module path, the class and the name of a test."""
    place = number % FILES
    return f"tests/pkg{place % 20}/test_mod{place}.py", f"TestCase{number % 7}", f"test_{number}[value-{number}]"


def case(number: int, inside: str) -> str:
    """Return one test case of a report."""
    path, klass, name = parts(number)
    module = path.removesuffix(".py").replace("/", ".")
    return f'<testcase classname="{module}.{klass}" name="{name}" time="0.001">{inside}</testcase>'


def files(kind: str) -> dict[str, bytes]:
    """Return a run's report and listing."""
    every, inside = {"passed": (1, ""), "skipped": (3, SKIP), "failed": (1, FAILURE)}[kind]
    rows = "".join(case(number, "" if number % every else inside) for number in range(TESTS))
    ids = "".join("::".join(parts(number)) + "\n" for number in range(TESTS))
    return {
        "unit.xml": f'<testsuites><testsuite name="pytest">{rows}</testsuite></testsuites>'.encode(),
        "collect/unit.txt": f"{ids}\n{TESTS} tests collected in 1.00s\n".encode(),
    }


def main() -> None:
    """Judge each suite five times."""
    values = dict.fromkeys(("python", "out", "plugin", "base", "vllm", "vllm-ascend"), "x")
    listing = collect_command(UNIT)
    assert listing is not None
    tree = frozenset(parts(number)[0] for number in range(FILES))
    focused = tuple(Focused(f"RC-{number}", parts(number)[0]) for number in range(50))
    for kind in ("passed", "skipped", "failed"):
        left = files(kind)
        unit = Ended("unit", UNIT.filled(values)[0], exit_code=int(kind == "failed"), junit=("unit.xml",))
        collected = Ended("unit", listing.filled(values)[0], exit_code=0, log="collect/unit.txt")
        identity = Identity("U", "c", "t", "x", "x", "x", "x")
        raw = RawRun("static", identity, "python", "/", (unit,), listings=(collected,))
        checks = CheckQuestion((FOCUSED,), focused=focused)
        skips = tuple(AllowedSkip(f"tests/pkg{number}/*") for number in range(10))
        question = Question(Gate((UNIT,)), skips=skips, tree=tree, checks=checks)
        taken = []
        for _ in range(5):
            began = time.process_time()
            verdict = judge(question, raw, left)
            taken.append(time.process_time() - began)
        size = len(left["unit.xml"]) / 1e6
        print(f"{kind}: {verdict.status}, {size:.1f} MB, {median(taken):.2f} s (start not counted)")


if __name__ == "__main__":
    main()
