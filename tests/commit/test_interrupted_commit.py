"""SIGKILL before and after every git call that writes: the next run knows what it finds and leaves one commit."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from kit import Kit
from kit_commit import COMMIT, NEW_CODE, commit, hook, others, planned
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade

from git_afd.core.intent import FILE, Intent, write_intent
from git_afd.errors import Exit

NEW = "afd_plugin/new.py"
PLANNED = (PRODUCTION, TEST, NEW)

# A git that kills whoever called it, before or after it does what was asked.
KILLER = """#!/bin/sh
case " $* " in *" $KILL_AT "*) ;; *) exec {git} "$@" ;; esac
[ "$KILL_WHEN" = before ] && kill -${{KILL_SIGNAL-9}} $PPID && exit 1
{git} "$@"
kill -9 $PPID
"""


@pytest.fixture
def killer(tmp_path: Path) -> Path:
    folder = tmp_path / "killer"
    folder.mkdir()
    (folder / "git").write_text(KILLER.format(git=shutil.which("git")))
    (folder / "git").chmod(0o755)
    return folder


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    case = planned(kit)
    case.plugin.write("afd_plugin/other.py", "OTHER = 2\n")
    case.plugin.write("staged.txt", "mine\n")
    case.plugin("git add staged.txt")
    case.plugin.write("untracked.txt", "mine\n")
    return case


def killed(case: FrozenUpgrade, killer: Path, at: str, when: str) -> None:
    env = {"PATH": f"{killer}:{os.environ['PATH']}", "KILL_AT": at, "KILL_WHEN": when}
    assert case.plugin.afd(COMMIT, env=env).code == -signal.SIGKILL, (at, when)


def leftovers(case: FrozenUpgrade) -> list[str]:
    git = case.plugin.path / ".git"
    return [str(path) for path in (*git.glob(FILE), *git.glob("worktrees/*"), *git.glob("afd/scratch/*"))]


# what git was called for when it killed us, in the order of the two ways; the branch has not moved then
EARLY = {
    "scratch worktree": [
        ("read-tree", "after"),
        ("worktree add", "before"),
        ("worktree add", "after"),
        ("update-index --add --remove -z --stdin", "after"),
        ("commit", "before"),
        ("commit", "after"),
        ("update-ref", "before"),
    ],
    "in place": [("read-tree", "after"), ("add --intent-to-add", "after"), ("commit", "before")],
}


@pytest.mark.parametrize("way", EARLY)
def test_killed_before_the_branch_moved_nothing_happened(case: FrozenUpgrade, killer: Path, way: str) -> None:
    if way == "scratch worktree":
        hook(case.plugin, "pre-commit", "exit 0")
    else:
        case.plugin.afd(["root-cause", "amend", "RC-1", "--file", PRODUCTION, "--file", NEW]).ok()
        case.plugin.write(NEW, "NEW = 1\n")
    before, head = others(case.plugin, PLANNED), case.plugin.head
    for at, when in EARLY[way]:
        killed(case, killer, at, when)
        assert (case.plugin.head, others(case.plugin, PLANNED)) == (head, before), (at, when)
        assert (case.plugin.path / PRODUCTION).read_text() == NEW_CODE
    assert commit(case).ok().json["data"]["way"] == way
    assert case.plugin("git rev-parse HEAD^") == head
    assert others(case.plugin, PLANNED) == before
    assert not leftovers(case)


# the way, what git was called for when it killed us; the commit stands on the branch then
LATE = [
    ("scratch worktree", "update-ref", "after"),
    ("scratch worktree", "update-index -z --index-info", "before"),
    ("scratch worktree", "add --refresh", "after"),
    ("scratch worktree", "unpack-objects", "before"),
    ("scratch worktree", "unpack-objects", "after"),
    ("in place", "commit", "after"),
    ("in place", "unpack-objects", "after"),
]


@pytest.mark.parametrize(("way", "at", "when"), LATE)
def test_killed_after_the_branch_moved_the_commit_is_recorded_and_not_made_again(
    case: FrozenUpgrade, killer: Path, way: str, at: str, when: str
) -> None:
    if way == "scratch worktree":
        hook(case.plugin, "pre-commit", "exit 0")
    before, head = others(case.plugin), case.plugin.head
    killed(case, killer, at, when)
    made = case.plugin.head
    assert case.plugin("git rev-parse HEAD^") == head
    assert others(case.plugin) == before
    assert commit(case, "--dry-run").ok().json["data"]["commit"] == made
    done = commit(case).ok().json["data"]
    assert (done["commit"], case.plugin.head) == (made, made)
    assert case.upgrade.root_causes["RC-1"].commit == made
    assert others(case.plugin) == before
    assert not case.plugin(["git", "status", "--porcelain", "--", PRODUCTION, TEST])
    assert not leftovers(case)
    assert commit(case).json["findings"][0]["code"] == "second-commit"


def test_a_commit_that_only_copies_the_trailers_is_not_taken_for_ours(case: FrozenUpgrade) -> None:
    text = commit(case, "--dry-run").ok().json["data"]["message"]
    case.plugin(["git", "commit", "-q", "--no-verify", "-m", text, "--", PRODUCTION, TEST])
    done = commit(case)
    assert (done.code, done.json["findings"][0]["code"]) == (Exit.REFUSED, "foreign-commit")
    assert "no announcement of git afd commit fits it" in done.json["findings"][0]["message"]


def test_a_forged_announcement_does_not_widen_the_plan(case: FrozenUpgrade) -> None:
    text = commit(case, "--dry-run").ok().json["data"]["message"]
    parent = case.plugin.head
    case.plugin("git add -A")
    case.plugin(["git", "commit", "-q", "--no-verify", "-m", text])
    tree, tip = case.plugin("git rev-parse HEAD^{tree} refs/notes/afd/ledger").splitlines()
    (case.plugin.path / ".git" / FILE).write_text(write_intent(Intent(case.id, "RC-1", tip, parent, tree, ())))
    done = commit(case)
    assert (done.code, done.json["findings"][0]["code"]) == (Exit.REFUSED, "foreign-commit")
    assert "which RC-1 does not plan" in done.json["findings"][0]["message"]
    assert case.upgrade.root_causes["RC-1"].status == "open"


def test_a_stale_announcement_is_swept_and_opens_nothing(case: FrozenUpgrade, killer: Path) -> None:
    killed(case, killer, "commit", "before")
    assert leftovers(case) == [str(case.plugin.path / ".git" / FILE)]
    case.plugin.write(PRODUCTION, "something else\n")
    done = commit(case).ok().json["data"]
    assert case.plugin(["git", "show", f"HEAD:{PRODUCTION}"]) == "something else"
    assert done["commit"] == case.plugin.head
    assert not leftovers(case)


def test_one_commit_at_a_time_in_a_repository(case: FrozenUpgrade) -> None:
    hook(
        case.plugin,
        "pre-commit",
        f"unset GIT_DIR; cd '{case.plugin.path}' && git-afd commit --root-cause RC-1; [ $? = 4 ]",
    )
    done = commit(case).ok()
    assert "another git afd commit runs" in done.err


@pytest.mark.parametrize("at", ["worktree add", "update-ref", "commit"])
def test_interrupted_from_the_terminal_it_says_so_and_leaves_nothing(
    case: FrozenUpgrade, killer: Path, at: str
) -> None:
    hook(case.plugin, "pre-commit", "exit 0")
    before, head = others(case.plugin, ()), case.plugin.head
    env = {"PATH": f"{killer}:{os.environ['PATH']}", "KILL_AT": at, "KILL_WHEN": "before", "KILL_SIGNAL": "INT"}
    done = case.plugin.afd(COMMIT, env=env)
    assert (done.code, done.err.strip()) == (Exit.INTERRUPTED, "git-afd: interrupted")
    assert (case.plugin.head, others(case.plugin, ())) == (head, before)
    assert not leftovers(case)
