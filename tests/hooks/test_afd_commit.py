"""`git afd commit` under its own hooks: what it announces goes through, in its own work tree and in a scratch one."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit_hooks import MINE, PLAN, copy_of_upgrade, plan_root_cause
from kit_upgrade import PRODUCTION, FrozenUpgrade

from git_afd.core.intent import FILE as INTENT

COMMIT = ["commit", "--root-cause", "RC-7", "--json"]


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    made = copy_of_upgrade(tmp_path, tmp_path_factory)
    for path, text in PLAN.items():
        made.plugin.write(path, text)
    return made


@pytest.mark.parametrize("foreign", [False, True])
def test_it_goes_through_beside_the_user_s_other_work(case: FrozenUpgrade, foreign: bool) -> None:
    if foreign:
        hook = case.plugin.path / ".git/hooks/pre-commit.afd-chained"
        hook.write_text("#!/bin/sh\ngit add -u\n")
        hook.chmod(0o755)
    done = case.plugin.afd(COMMIT).ok().json
    assert done["data"]["way"] == ("scratch worktree" if foreign else "in place")
    assert case.plugin("git show --name-only --format=").split() == list(PLAN)
    assert case.plugin("git status --porcelain") == f"M {MINE}"
    assert not (case.plugin.path / ".git" / INTENT).exists()
    # the root cause is committed, so the same again is an ordinary commit
    case.plugin.write(PRODUCTION, "again\n")
    assert "no open root cause" in case.plugin.run(["git", "commit", "-qm", "x", PRODUCTION]).err


def test_another_record_meanwhile_does_not_stop_it(case: FrozenUpgrade) -> None:
    hook = case.plugin.path / ".git/hooks/pre-commit.afd-chained"
    plan_root_cause(case, "RC-8", ["afd_plugin/other.py"])
    home = f"unset $(git rev-parse --local-env-vars) && cd {case.plugin.path}"
    hook.write_text(f"#!/bin/sh\n{home} && git-afd root-cause withdraw RC-8 --why no\n")
    hook.chmod(0o755)
    case.plugin.afd(COMMIT).ok()
    assert case.upgrade.root_causes["RC-8"].status == "withdrawn"
