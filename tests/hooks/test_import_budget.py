"""What the way to a verdict imports, in a fresh interpreter: every module costs, and some cost two bare starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from kit import ROOT
from kit_hooks import announce, copy_of_upgrade, message
from kit_upgrade import FrozenUpgrade

OURS = {
    "git_afd",
    "git_afd.adapters",
    "git_afd.adapters.quick_git",
    "git_afd.core",
    "git_afd.core.hook_rules",
    "git_afd.core.hook_state",
    "git_afd.core.intent",
    "git_afd.core.kept_message",
    "git_afd.core.message_rules",
    "git_afd.core.pointers",
    "git_afd.errors",
    "git_afd.hook",
    "git_afd.hook.commit",
    "git_afd.hook.place",
}
# and nothing else: `os` alone is an eighth of a bare start
STANDARD = {"__future__", "itertools"}

PROGRAM = """
import sys
before = set(sys.modules)
sys.path.append(sys.argv[1])
from git_afd.hook import main
code = main(sys.argv[2], sys.argv[3:])
print(code, *sorted(set(sys.modules) - before))
"""


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    return copy_of_upgrade(tmp_path, tmp_path_factory)


@pytest.mark.parametrize("stage", ["pre-commit", "commit-msg"])
def test_a_commit_that_passes_imports_nothing_else(case: FrozenUpgrade, stage: str) -> None:
    text = case.plugin.write(".git/MESSAGE", message(case, announce(case)))
    code, *modules = case.plugin([sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT), stage, str(text)]).split()
    assert code == "0"
    assert set(modules) <= OURS | STANDARD
