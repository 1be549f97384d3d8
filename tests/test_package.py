"""What a user installs, and what the code may never do."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from kit import ROOT, run

SOURCES = sorted((ROOT / "git_afd").rglob("*.py"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        return archive.namelist()


# what must be in the wheel, for what
SHIPPED = [
    ("git_afd/profiles/npu.toml", "the built-in policy"),
    ("git_afd/shims/shim.sh", "the hooks' shim"),
    ("share/man/man1/git-afd.1", "git afd --help asks git for a man page"),
    ("licenses/LICENSE", "the licence"),
    ("entry_points.txt", "git-afd and git-afd-hook"),
]


@pytest.mark.parametrize(("name", "purpose"), SHIPPED)
def test_the_wheel_holds_what_is_needed(wheel: list[str], name: str, purpose: str) -> None:
    assert [entry for entry in wheel if entry.endswith(name)], purpose


def test_the_wheel_holds_no_tests(wheel: list[str]) -> None:
    assert not [entry for entry in wheel if entry.startswith(("tests/", "docs/"))]


def test_the_layers_hold() -> None:
    done = run([str(Path(sys.executable).parent / "lint-imports"), "--no-cache"], ROOT)
    assert done.code == 0, done.out


# a word that a git call of ours may never hold, why
NEVER = [
    ("reset", "moves what the user has staged"),
    ("clean", "deletes the user's files"),
    ("stash", "takes the user's work away"),
    ("--force", "overrides a protection"),
    ("-f", "overrides a protection"),
    ("prune", "unregisters absent neighbours"),
    ("restore", "writes over the user's files"),
    ("filter-branch", "rewrites history"),
]


def git_words(path: Path) -> list[tuple[int, str]]:
    """Every text literal among the arguments of a call, with its line: what could become an argument of git."""
    tree = ast.parse(path.read_text())
    return [
        (argument.lineno, argument.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


@pytest.mark.parametrize(("word", "why"), NEVER)
def test_no_call_holds_a_word_that_destroys(word: str, why: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if "git_afd/cli" not in str(path)
        for line, text in git_words(path)
        if text == word
    ]
    assert not found, why


def test_only_the_doors_import_what_they_guard() -> None:
    doors = {"pygit2": {"adapters/objects.py"}, "click": {"cli"}}
    for module, allowed in doors.items():
        pattern = re.compile(rf"^\s*(import|from) {module}\b", re.MULTILINE)
        users = {str(path.relative_to(ROOT / "git_afd")) for path in SOURCES if pattern.search(path.read_text())}
        assert {user for user in users if not any(user.startswith(door) for door in allowed)} == set()
