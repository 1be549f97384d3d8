"""The table of field faults names tests that exist, and every row of it is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import needs
from kit import ROOT, Kit
from kit_upgrade import frozen

TABLE = ROOT / "docs/explanation/scenarios.md"
ROWS = {
    "A": [1, 3, 4, 6, 7, 8, 10, 11],
    "B": [1, 2, 3, 4, 7, 8, 11, 13, 14, 16, 17, 18],
    "C": [1, 2, 3, 5, 6, 8, 9, 10, 12, 13, 14, 15],
    "D": [1, 2, 4, 5, 6, 9, 10, 11, 14, 15, 17, 18, 19],
    "E": [1, 3, 5, 6, 7, 8, 10, 12, 13, 15, 17, 18, 20, 21, 22, 23, 25, 26, 27],
    "F": [1, 2, 4, 5, 7, 8, 11, 12],
    "G": [1, 3, 5, 6, 7, 9, 10, 12, 13, 15, 16],
    "U": list(range(1, 15)),
}
OWNERS = {"analysis", "gates", "loop", "end", "trust", "people"}


def rows() -> list[tuple[str, str]]:
    return re.findall(r"^\| ([A-GU]\d+) \| .*? \| (.*) \|$", TABLE.read_text(), re.MULTILINE)


def test_every_row_is_there_once_and_in_order() -> None:
    assert [name for name, _ in rows()] == [
        f"{letter}{number}" for letter, numbers in ROWS.items() for number in numbers
    ]


def names_in(path: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE))


@pytest.mark.parametrize(("name", "answers"), rows())
def test_a_row_is_answered_by_tests_that_exist_or_has_an_owner(name: str, answers: str) -> None:
    named = re.findall(r"`([^`:]+)::(\w+)`", answers)
    owner = re.findall(r"owner: (\w+)", answers)
    assert bool(named) != bool(owner)
    assert set(owner) <= OWNERS
    for file, test in named:
        assert test in names_in(ROOT / "tests" / file), f"{file}::{test}"


def test_git_in_another_language_changes_no_answer(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("the German messages of git", _speaks_german())
    upgrade = frozen(kit)
    english = upgrade.plugin.afd("status --json").ok().out
    refused = upgrade.plugin.afd("commit --root-cause RC-9")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    assert "Kein Git-Repository" in upgrade.plugin.run("git -C / log").err
    assert upgrade.plugin.afd("status --json").ok().out == english
    assert upgrade.plugin.afd("commit --root-cause RC-9").err == refused.err


def _speaks_german() -> bool:
    env = {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "PATH": "/usr/bin:/bin"}
    said = subprocess.run(["git", "-C", "/", "log"], capture_output=True, env=env, check=False)
    return b"Kein Git" in said.stderr
