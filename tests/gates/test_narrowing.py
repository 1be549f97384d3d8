"""A failed command narrowed to the tests that failed: the same command otherwise, options and all."""

from __future__ import annotations

import pytest

from git_afd.core.command import Command
from git_afd.core.evidence.collecting import narrow_command, without_report

A, B = "tests/e2e/models/test_a.py::TestServe::test_x[tp2-dbo]", "tests/e2e/features/test_b.py::test_y"
PYTEST = ("{python}", "-m", "pytest")

# the command, what failed, the narrowed command
NARROWED = [
    ((*PYTEST, "tests/e2e", "-m", "npu"), (A, B), (*PYTEST, "-m", "npu", A, B)),
    # only its own: another command of the gate failed on the rest
    ((*PYTEST, "tests/e2e/models", "--junitxml={out}/m"), (A, B), (*PYTEST, "--junitxml={out}/m", A)),
    ((*PYTEST, "tests/e2e/features"), (A,), (*PYTEST, "tests/e2e/features")),
    # a path that is also the value of an option stays that
    ((*PYTEST, "-k", "tests", "tests"), (B,), (*PYTEST, "-k", "tests", B)),
    # it names nothing, the tree, a file, or a placeholder
    ((*PYTEST, "-q"), (B,), (*PYTEST, "-q", B)),
    ((*PYTEST, "."), (B,), (*PYTEST, B)),
    ((*PYTEST, "tests/e2e/features/test_b.py"), (B,), (*PYTEST, B)),
    ((*PYTEST, "{plugin}/tests"), (B,), (*PYTEST, B)),
    # a module that could not be imported
    (("pytest", "tests"), ("tests/e2e/features/test_b.py",), ("pytest", "tests/e2e/features/test_b.py")),
    # braces are the policy's: such a test runs with all its parameters
    (("pytest", "tests"), (f"{B}[{{python}}]", f"{B}[{{x}}]"), ("pytest", B)),
    # nothing is known of what failed, or it is no test run
    ((*PYTEST, "tests"), (), (*PYTEST, "tests")),
    (("ruff", "check", "."), (B,), ("ruff", "check", ".")),
]  # fmt: skip


@pytest.mark.parametrize(("run", "failing", "narrowed"), NARROWED)
def test_a_command_is_narrowed_to_its_own_failed_tests(
    run: tuple[str, ...], failing: tuple[str, ...], narrowed: tuple[str, ...]
) -> None:
    command = Command("e2e", run, junit="e.xml")
    assert narrow_command(command, failing).run == narrowed
    assert narrow_command(narrow_command(command, failing), failing).run == narrowed  # judged again, it is the same


def test_what_is_run_by_hand_writes_into_no_run_folder() -> None:
    words = ("pytest", "--junitxml=/r/e.xml", "--basetemp", "/r/tmp", "-q", A)
    assert without_report(words) == ("pytest", "-q", A)
