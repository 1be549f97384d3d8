"""The red team's table names, for each trick, tests that exist."""

from __future__ import annotations

import re

import pytest
from kit import ROOT
from test_scenarios import names_in

TABLE = ROOT / "docs/explanation/red-team.md"
ROWS = re.findall(r"^\| (T\d+) \| (.+?) \| (.+?) \| (.*) \|$", TABLE.read_text(), re.MULTILINE)


def test_every_trick_is_numbered_once_and_answered() -> None:
    assert [name for name, *_ in ROWS] == [f"T{number}" for number in range(1, len(ROWS) + 1)]
    assert len(ROWS) == TABLE.read_text().count("\n| T")


@pytest.mark.parametrize(("name", "trick", "answer", "tests"), ROWS)
def test_a_trick_is_answered_by_tests_that_exist(name: str, trick: str, answer: str, tests: str) -> None:
    named = re.findall(r"`([^`:]+)::(test_\w+)`", tests)
    assert named, f"{name} ({trick}: {answer}) names no test"
    assert re.sub(r"`[^`]+`", "", tests).strip(", ") == ""
    for file, test in named:
        assert test in names_in(ROOT / "tests" / file), f"{name}: {file}::{test}"
