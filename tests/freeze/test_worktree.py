"""`git afd worktree`: it lists, and removes exactly ours, when clean."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from freeze_kit import Stage, changes, everything, fresh
from kit import Repo


@pytest.fixture
def case(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Stage:
    return fresh(tmp_path_factory, tmp_path)


def states(case: Stage) -> list[str]:
    rows = case.plugin.afd("worktree list --json").ok().json["data"]["worktrees"]
    return [row["state"] for row in rows]


def test_removal_leaves_the_source_as_before_the_freeze_but_for_the_pins(case: Stage) -> None:
    before = everything(case.vllm.path)
    data = case.frozen()
    assert states(case) == ["present", "present"]
    assert "would remove" in case.plugin.afd("worktree remove --dry-run").ok().out
    assert states(case) == ["present", "present"]
    case.plugin.afd("worktree remove vllm").ok()
    assert states(case) == ["absent", "present"]
    assert not Path(data["worktrees"]["vllm"]).exists()
    moved = changes(before, everything(case.vllm.path))
    assert {path for path in moved if not path.startswith(".git/refs/afd")} == set()
    assert case.frozen()["result"] == "restored"


def test_a_worktree_with_a_submodule_is_removed_while_that_is_empty(case: Stage) -> None:
    case.vllm("git switch -q --detach v2.0.0")
    case.vllm(["git", "update-index", "--add", "--cacheinfo", f"160000,{case.ascend.head},third_party/lib"])
    case.vllm(["git", "commit", "-q", "-m", "submodule"])
    case.vllm("git tag -f v2.0.0")
    case.vllm("git switch -q --detach v1.0.0")
    path = Path(case.frozen()["worktrees"]["vllm"])
    Repo(path)(["git", "clone", "-q", str(case.ascend.path), "third_party/lib"])
    Repo(path)(["git", "-C", "third_party/lib", "switch", "-q", "--detach", case.ascend.head])
    done = case.plugin.afd("worktree remove vllm")
    assert (done.code, "third_party/lib" in done.err) == (3, True)
    assert (path / "vllm/engine.py").is_file()
    shutil.rmtree(path / "third_party/lib")
    (path / "third_party/lib").mkdir()
    case.plugin.afd("worktree remove vllm").ok()
    assert not path.exists()


# what stands in the worktree besides its commit -> the name that is told
HELD = [
    ("untracked.txt", "x", "untracked.txt"),
    ("new.txt", "changed\n", "new.txt"),
    ("ignored.log", "x", "ignored.log"),
]


@pytest.mark.parametrize(("name", "text", "told"), HELD)
def test_a_worktree_that_holds_work_is_not_removed(case: Stage, name: str, text: str, told: str) -> None:
    case.vllm.write(".git/info/exclude", "*.log\n")
    path = Path(case.frozen()["worktrees"]["vllm"])
    (path / name).write_text(text)
    done = case.plugin.afd("worktree remove")
    assert (done.code, told in done.err) == (3, True)
    assert (path / name).read_text() == text
    assert (path / "vllm/engine.py").is_file()
    assert states(case) == ["dirty", "present"]


def test_a_file_that_appears_during_the_removal_stays_and_the_removal_can_be_taken_up_again(case: Stage) -> None:
    path = Path(case.frozen()["worktrees"]["vllm"])
    folder = case.plugin.path.parent / "trap"
    folder.mkdir()
    program = folder / "git"
    late = f'case " $* " in *" ls-files -z ") echo mine > "{path}/late.txt";; esac'
    program.write_text(f'#!/bin/sh\n{late}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    done = case.plugin.afd("worktree remove vllm", env={"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"})
    assert (done.code, "late.txt appeared meanwhile and stays" in done.err) == (3, True)
    assert (path / "late.txt").read_text() == "mine\n"
    assert case.plugin.afd("worktree remove vllm").code == 3
    (path / "late.txt").unlink()
    case.plugin.afd("worktree remove vllm").ok()
    assert not path.exists()


def test_a_worktree_that_is_not_locked_by_us_is_left_alone(case: Stage) -> None:
    path = case.frozen()["worktrees"]["vllm"]
    case.vllm(["git", "worktree", "unlock", path])
    done = case.plugin.afd("worktree remove vllm")
    assert (done.code, "is not registered" in done.err) == (3, True)
    assert Path(path, "new.txt").is_file()


def test_a_worktree_that_looks_absent_is_not_unregistered(case: Stage) -> None:
    path = Path(case.frozen()["worktrees"]["vllm"])
    path.rename(path.parent / "moved")
    done = case.plugin.afd("worktree remove vllm")
    assert (done.code, "is not there" in done.err) == (3, True)
    assert f"worktree {path}" in case.vllm("git worktree list --porcelain")


def test_a_plain_prune_keeps_our_worktrees(case: Stage) -> None:
    path = Path(case.frozen()["worktrees"]["vllm"])
    path.rename(path.parent / "moved")
    case.vllm("git worktree prune --expire=now")
    assert f"worktree {path}" in case.vllm("git worktree list --porcelain")


def test_a_provided_checkout_is_listed_and_never_removed(case: Stage) -> None:
    case.vllm("git switch -q --detach v2.0.0")
    case.frozen()
    assert states(case) == ["provided", "present"]
    done = case.plugin.afd("worktree remove vllm")
    assert done.code == 3
    assert Repo(case.vllm.path)("git status --porcelain") == ""
