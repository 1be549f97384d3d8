"""Stopped at any step: nothing is left behind, or a second run completes it; the sources are never the worse for it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
from freeze_kit import BRANCH, Stage, changes, everything, fresh
from kit import Done


@pytest.fixture
def case(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Stage:
    return fresh(tmp_path_factory, tmp_path)


def trap(case: Stage, pattern: str, then: str) -> Mapping[str, str]:
    """Put a git before the real one that does `then` (shell) at the first call whose words hold `pattern`, once."""
    real = shutil.which("git")
    folder = case.plugin.path.parent / "trap"
    folder.mkdir(exist_ok=True)
    program = folder / "git"
    program.write_text(
        f'#!/bin/sh\nreal={real}\ncase " $* " in *"{pattern}"*)\n'
        f'  if mkdir "{folder}/sprung" 2>/dev/null; then {then}\n  fi;;\nesac\nexec "$real" "$@"\n'
    )
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def sources(case: Stage) -> list[dict[str, tuple[str, ...]]]:
    return [everything(repo.path) for repo in (case.vllm, case.ascend)]


def registered(case: Stage) -> int:
    return sum(len(repo("git worktree list --porcelain").split("\n\n")) - 1 for repo in (case.vllm, case.ascend))


LEDGER = "update-ref -m afd: record"
BEFORE, AFTER = "kill -9 $PPID; sleep 0.1; exit 1", '"$real" "$@"; kill -9 $PPID; sleep 0.1; exit 1'
TORN = 'cd . && "$real" read-tree HEAD && "$real" checkout-index -q -- new.txt; kill -9 $PPID; sleep 0.1; exit 1'

STEPS = [
    # before anything is made, then after each thing that is made, in their order
    ("update-ref --stdin", BEFORE),  # the first pins
    ("update-ref --stdin", AFTER),
    ("worktree add", BEFORE),
    ("worktree add", AFTER),
    ("checkout --quiet --detach", BEFORE),
    ("checkout --quiet --detach", TORN),  # half of the files are there
    ("checkout --quiet --detach", AFTER),
    ("unpack-objects", AFTER),  # the record's objects, that no ref names yet
    (LEDGER, BEFORE),
    (LEDGER, AFTER),  # from here on it is frozen
    ("update-ref -m afd: freeze", AFTER),
    ("config --local branch", BEFORE),
    ("symbolic-ref -m", BEFORE),
    ("symbolic-ref -m", AFTER),
]


@pytest.mark.parametrize(("pattern", "then"), STEPS)
def test_a_killed_freeze_is_completed_by_the_same_command(case: Stage, pattern: str, then: str) -> None:
    before = sources(case)
    killed = case.freeze(env=trap(case, pattern, then))
    assert killed.code == -signal.SIGKILL
    data = case.frozen()
    assert registered(case) == 2
    assert case.plugin("git branch --show-current") == BRANCH
    assert case.plugin.afd("next --json").ok().json["next"] == "git afd inventory"
    mine = (".git/worktrees", ".git/refs/afd")
    for old, new in zip(before, sources(case), strict=True):
        assert {path for path in changes(old, new) if not path.startswith(mine)} == set()
    assert not (case.plugin.path / ".git/afd/freeze-begun.json").exists()
    assert len(list((case.plugin.path / ".git/afd/worktrees").iterdir())) == 2
    assert Path(data["worktrees"]["vllm"], "vllm/engine.py").is_file()


def test_what_a_killed_freeze_left_is_taken_back_by_another_one(case: Stage) -> None:
    killed = case.freeze(env=trap(case, LEDGER, BEFORE))
    assert killed.code == -signal.SIGKILL
    left = sources(case)
    data = case.frozen(targets=("v1.0.0", "v1.0.0rc1"))
    assert data["sources"]["vllm"]["reused"] is True
    assert registered(case) == 0
    assert changes(left[0], sources(case)[0])
    assert case.vllm("git for-each-ref --format=%(refname) refs/afd").count(data["upgrade"]) == 2
    assert case.vllm("git for-each-ref refs/afd").count("\n") == 1


def stopped(case: Stage, done: Done) -> None:
    """Assert that nothing at all is left of a freeze."""
    assert registered(case) == 0
    assert not list((case.plugin.path / ".git/afd").glob("[fw]*[!k]"))
    assert case.plugin("git branch --list --format=%(refname)") == "refs/heads/main"
    assert case.plugin.run("git rev-parse -q --verify refs/notes/afd/ledger").code == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_a_signal_leaves_nothing_behind(case: Stage, name: str) -> None:
    before = sources(case)
    done = case.freeze(env=trap(case, "checkout --quiet --detach", f"kill -{name} $PPID; sleep 0.2"))
    assert done.code == 130
    assert sources(case) == before
    stopped(case, done)


# what fails, as a full disk or a lock would make it
FAILURES = ["worktree add", "checkout --quiet --detach", "update-ref --stdin", "unpack-objects"]


@pytest.mark.parametrize("pattern", FAILURES)
def test_a_failure_half_way_leaves_nothing_behind(case: Stage, pattern: str) -> None:
    before = sources(case)
    done = case.freeze(env=trap(case, pattern, "echo fatal: no space >&2; exit 128"))
    assert done.code in (4, 5)
    assert "no space" in done.err
    assert sources(case) == before
    stopped(case, done)


def test_a_source_that_changes_meanwhile_is_named_and_nothing_is_frozen(case: Stage) -> None:
    done = case.freeze(env=trap(case, "update-ref --stdin", f"echo more >> {case.vllm.path}/old.txt"))
    assert done.code == 4
    assert "changed while it was being frozen: old.txt" in done.err
    stopped(case, done)


def test_a_users_file_in_a_half_made_worktree_stays_and_is_named(case: Stage) -> None:
    killed = case.freeze(env=trap(case, LEDGER, BEFORE))
    assert killed.code == -signal.SIGKILL
    (made,) = (case.plugin.path / ".git/afd/worktrees").glob("*-vllm")
    (made / "mine.txt").write_text("mine")
    done = case.freeze()
    assert (done.code, "mine.txt" in done.err) == (4, True)
    assert (made / "mine.txt").read_text() == "mine"
    (made / "mine.txt").unlink()
    case.frozen()
    assert registered(case) == 2


def test_a_lost_worktree_is_put_back_by_the_same_command(case: Stage) -> None:
    first = case.frozen()
    path = Path(first["worktrees"]["vllm"])
    shutil.rmtree(path)
    data = case.frozen()
    assert data["result"] == "restored"
    assert data["restored"] == [str(path)]
    assert (path / "new.txt").is_file()
    assert registered(case) == 2
    assert case.frozen()["result"] == "already"


def test_two_freezes_at_once_do_not_meet(case: Stage) -> None:
    held = trap(case, "worktree add", "touch $0.held; sleep 1.5")
    import threading

    results: list[Done] = []
    first = threading.Thread(target=lambda: results.append(case.freeze(env=held)))
    first.start()
    while not (case.plugin.path.parent / "trap/git.held").exists():
        pass
    second = case.freeze()
    first.join()
    assert (second.code, "another git afd freeze" in second.err) == (4, True)
    assert results[0].code == 0
