"""Real `git commit` in every variant, with the shims where git finds them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import Kit, Repo
from kit_hooks import (
    LESSON,
    MINE,
    OLD_LESSON,
    PLAN,
    announce,
    commit,
    copy_of_upgrade,
    message,
    plan_root_cause,
    put_hooks,
    snapshot,
    upgrade,
)
from kit_upgrade import BRANCH, PRODUCTION, TEST, FrozenUpgrade

from git_afd.core.hook_state import FILE as STATE
from git_afd.core.intent import FILE as INTENT
from git_afd.core.names import LEDGER_REF


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    return copy_of_upgrade(tmp_path, tmp_path_factory)


# phase that is PASS last; what is staged; what git's user reads
REASONS = [
    # production waits for the architecture gate, and the earlier phase that holds it up is named
    (
        "FREEZE_IDENTITY",
        {PRODUCTION: "2"},
        "waits for ARCHITECTURE_GATE: ARCHITECTURE_GATE cannot pass while INVENTORY",
    ),
    ("DIFF_BOTH_UPSTREAMS", {PRODUCTION: "2"}, "waits for ARCHITECTURE_GATE: ARCHITECTURE_GATE is not run"),
    # a path of an open root cause; a path of none; the user's own work at the freeze; no path at all
    ("ARCHITECTURE_GATE", {PRODUCTION: "2"}, f"{PRODUCTION} belongs to RC-7, and nothing announced"),
    ("ARCHITECTURE_GATE", {"afd_plugin/other.py": "2"}, "no open root cause"),
    ("ARCHITECTURE_GATE", {MINE: "2"}, f"{MINE} held changes of yours"),
    ("ARCHITECTURE_GATE", {}, "and nothing announced this commit"),
    # the worst reason wins over the order of the paths; an earlier lesson is never rewritten
    ("ARCHITECTURE_GATE", {"afd_plugin/other.py": "2", OLD_LESSON: "2"}, "the lesson of an earlier upgrade"),
    # documentation waits for accuracy, a lesson for the audit
    ("NPU_BASIC_E2E_GATE", {"docs/guide.md": "2"}, "is documentation, which waits for NPU_ACCURACY_GATE"),
    ("NPU_ACCURACY_GATE", {"docs/guide.md": "2"}, "no open root cause"),
    ("DOCUMENTATION_REFRESH_GATE", {LESSON: "2"}, "is a lesson, which waits for FINAL_AUDIT"),
    ("FINAL_AUDIT", {LESSON: "2"}, "no open root cause"),
    ("FINAL_AUDIT", {OLD_LESSON: "2"}, "the lesson of an earlier upgrade"),
]


def test_an_unannounced_commit_is_refused_with_the_reason_that_helps(kit: Kit) -> None:
    case = upgrade(kit, up_to="FREEZE_IDENTITY")
    base = case.plugin.head
    for passed, files, reason in REASONS:
        if passed not in case.upgrade.recorded:
            if passed == "NPU_BASIC_E2E_GATE":  # phase 4 is settled before it
                case.record(("root-cause", {"root_cause": "RC-7", "op": "withdraw", "why": "done"}))
            case.pass_up_to(passed)
        for path, text in files.items():
            case.plugin.write(path, text)
            case.plugin(["git", "add", "-f", "--", path])
        done = case.plugin.run("git commit -qm x --allow-empty")
        assert (done.code, reason in done.err, "\nfix: " in done.err) == (1, True, True), done.err
        case.plugin("git restore --staged --worktree .")
    assert case.plugin.head == base


VARIANTS = [
    ("what is staged", []),
    ("all that is tracked", ["-a"]),
    ("these paths only", ["-o", *PLAN]),
    ("these paths", ["--", *PLAN]),
    ("the index and these paths", ["-i", *PLAN]),
]


@pytest.mark.parametrize("place", ["top", "folder", "linked worktree"])
def test_the_announced_commit_goes_through_in_every_variant(case: FrozenUpgrade, place: str, tmp_path: Path) -> None:
    repo = case.plugin
    if place == "linked worktree":
        case.plugin("git switch -q main")
        case.plugin(["git", "worktree", "add", "-q", str(tmp_path / "linked"), BRANCH])
        repo = Repo(tmp_path / "linked")
    repo("git checkout -q -- .")
    where = Repo(repo.path / "tests") if place == "folder" else repo
    for number, (_, options) in enumerate(VARIANTS):
        if "-o" in options or "--" in options:
            repo.write("afd_plugin/other.py", f"staged = {number}\n")  # somebody else's, in the real index only
            repo("git add afd_plugin/other.py")
        intent = announce(case, {path: f"{text}# {number}\n" for path, text in PLAN.items()}, at=repo)
        placed = [os.path.relpath(repo.path / word, where.path) if word in PLAN else word for word in options]
        assert commit(where, message(case, intent), *placed).ok().err == ""
        assert repo("git show --name-only --format=").split() == list(PLAN)
        if "-o" in options or "--" in options:
            assert repo("git diff --cached --name-only") == "afd_plugin/other.py"
            repo("git restore --staged --worktree afd_plugin/other.py")


def _mode(case: FrozenUpgrade) -> None:
    case.plugin(["git", "update-index", "--chmod=+x", PRODUCTION])


def _more(case: FrozenUpgrade) -> None:
    case.plugin.write("afd_plugin/new.py", "1\n")
    case.plugin("git add afd_plugin/new.py")


def _less(case: FrozenUpgrade) -> None:
    case.plugin(["git", "restore", "--staged", TEST])


def _other(case: FrozenUpgrade) -> None:
    case.plugin.write(PRODUCTION, "other\n")
    case.plugin(["git", "add", PRODUCTION])


def _moved(case: FrozenUpgrade) -> None:
    tree = case.plugin("git rev-parse HEAD^{tree}")
    case.plugin(["git", "update-ref", "HEAD", case.plugin(["git", "commit-tree", tree, "-p", "HEAD", "-m", "x"])])


def _garbled(case: FrozenUpgrade) -> None:
    path = case.plugin.path / ".git" / INTENT
    path.write_text(path.read_text().removesuffix("end\n"))


def _withdrawn(case: FrozenUpgrade) -> None:
    case.record(("root-cause", {"root_cause": "RC-7", "op": "withdraw", "why": "no"}))


def _amended(case: FrozenUpgrade) -> None:
    plan = {"title": "t", "kind": "adaptation", "class": "MECHANICAL", "files": [TEST]}
    case.record(("root-cause", {"root_cause": "RC-7", "op": "amend", **plan}))


def _failed(case: FrozenUpgrade) -> None:
    case.decide("ARCHITECTURE_GATE", "BLOCKED", blocker="a wheel")


BROKEN = [
    (_mode, "is not what RC-7 announced"),
    (_more, "afd_plugin/new.py is staged, and RC-7 did not announce it"),
    (_less, f"{TEST} was announced by RC-7 and is not staged"),
    (_other, f"{PRODUCTION} is not what RC-7 announced"),
    (_moved, "HEAD moved since RC-7 was announced"),
    (_garbled, "the announced commit cannot be read"),
    (_withdrawn, "it is not open here"),  # an intent lives as long as its root cause is open
    (_amended, f"{PRODUCTION} is not in the plan of RC-7"),
    (_failed, "ARCHITECTURE_GATE is BLOCKED"),  # phase order holds for announced commits too
]


@pytest.mark.parametrize(("spoil", "reason"), BROKEN)
def test_a_commit_that_is_not_as_announced_is_refused(case: FrozenUpgrade, spoil: object, reason: str) -> None:
    intent = announce(case)
    text = message(case, intent)
    assert callable(spoil)
    spoil(case)
    before = case.plugin.head
    done = commit(case.plugin, text)
    assert (done.code, reason in done.err) == (1, True), done.err
    assert case.plugin.head == before


def test_an_amend_is_a_commit_like_any_other(case: FrozenUpgrade) -> None:
    assert "nothing announced" in case.plugin.run("git commit -q --amend -m x").err
    assert case.plugin.run("git commit -q --amend --no-edit --reset-author").code == 1


def test_a_variable_set_by_hand_opens_nothing(case: FrozenUpgrade) -> None:
    case.plugin("git add -A")
    for env in (
        {"GIT_AFD_PROBE": "1"},
        {"GIT_AFD_CHAINED": "1"},
        {"GIT_AFD_ACTOR": "x"},
        {"SKIP": "git-afd-pre-commit"},
    ):
        assert case.plugin.run("git commit -qm x", env=env).code == 1


def test_git_s_own_way_past_the_hooks_stays_open(case: FrozenUpgrade) -> None:
    case.plugin("git commit -q --allow-empty --no-verify -m x")


def test_merges_and_picks_are_left_to_push_and_audit(case: FrozenUpgrade) -> None:
    repo = case.plugin
    repo("git checkout -q -- .")
    repo("git switch -q -c side main")
    side = repo.commit("side", {"side.txt": "1"})
    repo(["git", "switch", "-q", BRANCH])
    repo(["git", "cherry-pick", side])
    repo("git revert --no-edit HEAD")
    repo(["git", "switch", "-q", "-c", "second", side])
    repo.commit("second", {"second.txt": "1"})
    repo(["git", "switch", "-q", BRANCH])
    repo("git merge -q --no-ff --no-edit second")
    assert len(repo("git log --merges --format=%H").split()) == 1


def test_a_conflicted_merge_and_pick_can_be_concluded_by_hand(case: FrozenUpgrade) -> None:
    repo = case.plugin
    repo("git checkout -q -- .")
    repo("git switch -q -c side main")
    repo.commit("side", {PRODUCTION: "side\n"})
    repo(["git", "switch", "-q", BRANCH])
    repo.commit("ours", {PRODUCTION: "ours\n"})
    for start in ("git merge side", "git cherry-pick side"):
        assert repo.run(start).code == 1
        repo.write(PRODUCTION, f"both {start}\n")
        repo(["git", "add", PRODUCTION])
        repo("git commit -q --no-edit")


def test_a_rebase_of_the_upgrade_branch_is_left_to_push_and_audit(case: FrozenUpgrade) -> None:
    repo = case.plugin
    repo("git checkout -q -- .")
    repo.commit("one", {PRODUCTION: "1\n"})
    repo("git switch -q -c moved main")
    moved = repo.commit("moved", {"moved.txt": "1"})
    repo(["git", "switch", "-q", BRANCH])
    repo(
        ["git", "-c", "sequence.editor=sed -i s/^pick/reword/", "rebase", "-q", "-i", moved], env={"GIT_EDITOR": "true"}
    )
    assert repo(["git", "merge-base", "HEAD", moved]) == moved


def test_other_branches_and_a_detached_head_are_left_alone(case: FrozenUpgrade) -> None:
    repo = case.plugin
    announce(case)  # an intent left behind says nothing about another branch
    repo("git switch -q -c other main")
    repo("git commit -q -m other")
    (repo.path / ".git" / INTENT).unlink()
    repo("git switch -q --detach main")
    repo("git commit -q --allow-empty -m detached")


def test_the_scratch_worktree_of_an_announced_commit_is_judged_though_its_head_is_detached(
    case: FrozenUpgrade, tmp_path: Path
) -> None:
    case.plugin(["git", "worktree", "add", "-q", "--detach", str(tmp_path / "scratch"), BRANCH])
    scratch = Repo(tmp_path / "scratch")
    intent = announce(case, at=scratch)
    scratch.write("afd_plugin/new.py", "1\n")
    scratch("git add -A")
    assert "did not announce it" in commit(scratch, message(case, intent)).err
    scratch("git rm -q --cached afd_plugin/new.py")
    commit(scratch, message(case, intent)).ok()


def test_nothing_is_committed_in_a_handoff_worktree(case: FrozenUpgrade, tmp_path: Path) -> None:
    case.plugin(["git", "worktree", "add", "-q", "-b", "handoff/H-1", str(tmp_path / "handoff"), BRANCH])
    handoff = Repo(tmp_path / "handoff")
    Path(handoff("git rev-parse --absolute-git-dir"), "afd-handoff").write_text("H-1\n")
    refused = handoff.run("git commit -q --allow-empty -m x")
    assert (refused.code, "belongs to a handoff" in refused.err) == (1, True)
    handoff("git switch -q --detach")
    assert handoff.run("git commit -q --allow-empty -m x").code == 1


def test_a_lesson_is_added_and_an_earlier_one_is_not_rewritten_by_an_announced_commit(kit: Kit) -> None:
    case = upgrade(kit, up_to="ARCHITECTURE_GATE")
    case.record(("root-cause", {"root_cause": "RC-7", "op": "withdraw", "why": "done"}))
    case.pass_up_to("FINAL_AUDIT")
    plan_root_cause(case, "RC-8", [LESSON, OLD_LESSON], "lesson")
    intent = announce(case, {LESSON: "learnt\n", OLD_LESSON: "other\n"}, name="RC-8")
    assert "the lesson of an earlier upgrade" in commit(case.plugin, message(case, intent)).err
    case.plugin(["git", "restore", "--staged", "--worktree", OLD_LESSON])
    intent = announce(case, {LESSON: "learnt\n"}, name="RC-8")
    commit(case.plugin, message(case, intent)).ok()
    # its own lesson is not an earlier one
    intent = announce(case, {LESSON: "learnt more\n"}, name="RC-8")
    commit(case.plugin, message(case, intent)).ok()


def test_a_coupled_fixture_goes_with_its_code_and_documentation_alone_waits(case: FrozenUpgrade) -> None:
    plan_root_cause(case, "RC-8", [PRODUCTION, "tests/data/expected.md"])
    plan_root_cause(case, "RC-9", ["docs/guide.md"], "docs")
    intent = announce(case, {"docs/guide.md": "new\n"}, name="RC-9")
    assert "waits for NPU_ACCURACY_GATE" in commit(case.plugin, message(case, intent)).err
    case.plugin("git restore --staged docs/guide.md")
    intent = announce(case, {PRODUCTION: "2\n", "tests/data/expected.md": "new\n"}, name="RC-8")
    commit(case.plugin, message(case, intent)).ok()


def _behind(case: FrozenUpgrade) -> Iterator[None]:
    """The derived file as it is found: of an earlier tip, cut off, absent."""
    path = case.plugin.path / ".git" / STATE
    old = path.read_bytes()
    plan_root_cause(case, "RC-8", ["afd_plugin/other.py"])
    path.write_bytes(old)
    yield
    path.write_bytes(old[:-5])
    yield
    path.unlink()
    yield


def test_a_hook_that_finds_its_file_behind_reads_the_records_and_writes_nothing(case: FrozenUpgrade) -> None:
    case.plugin("git checkout -q -- .")
    shutil.rmtree(case.plugin.path / ".git/afd/cache")
    for number, _ in enumerate(_behind(case)):
        intent = announce(case, {"afd_plugin/other.py": f"{number}\n"}, name="RC-8")
        text = message(case, intent)
        shutil.rmtree(case.plugin.path / ".git/afd/cache", ignore_errors=True)
        before = snapshot(case.plugin.path / ".git/afd")
        commit(case.plugin, text).ok()
        assert snapshot(case.plugin.path / ".git/afd") == before


def test_hooks_write_nothing_and_take_no_lock(case: FrozenUpgrade) -> None:
    intent = announce(case)
    text = case.plugin.write(".git/COMMIT_EDITMSG", message(case, intent))
    hooks = case.plugin.path / ".git/hooks"
    for refused in (False, True):
        if refused:
            (case.plugin.path / ".git" / INTENT).unlink()
        os.utime(case.plugin.path / PRODUCTION)  # a stat-dirty index that a careless read would refresh
        (case.plugin.path / ".git/index.lock").write_text("")  # held by somebody else: `commit -a` does
        before = snapshot(case.plugin.path)
        assert case.plugin.run([str(hooks / "pre-commit")]).code == (3 if refused else 0)
        assert case.plugin.run([str(hooks / "commit-msg"), str(text)]).code == (3 if refused else 0)
        line = f"refs/heads/{BRANCH} {case.plugin.head} refs/heads/x {'0' * 40}\n"
        assert case.plugin.run([str(hooks / "pre-push"), "origin", "url"], stdin=line).code == 0
        assert snapshot(case.plugin.path) == before


def test_an_unreadable_ledger_blocks_until_it_is_dealt_with(case: FrozenUpgrade) -> None:
    intent = announce(case)
    text = message(case, intent)
    case.plugin(["git", "notes", f"--ref={LEDGER_REF}", "append", "-m", "no record", "HEAD"])
    done = commit(case.plugin, text)
    assert (done.code, "cannot be read" in done.err, "git afd log --damage" in done.err) == (1, True, True)


def test_a_pointer_without_its_upgrade_blocks_and_a_closed_upgrade_does_not(case: FrozenUpgrade) -> None:
    case.record(("close", {"why": "accuracy was cancelled on request"}))
    case.plugin("git commit -q --allow-empty -m after")
    case.plugin(["git", "update-ref", "-d", LEDGER_REF])
    assert "which the ledger lacks" in case.plugin.run("git commit -q --allow-empty -m lost").err


def test_another_hook_may_change_the_index_after_ours_and_is_found_out(case: FrozenUpgrade) -> None:
    hooks = case.plugin.path / ".git/hooks"
    (hooks / "pre-commit.afd-chained").write_text("#!/bin/sh\ngit add -u\n")
    (hooks / "pre-commit.afd-chained").chmod(0o755)
    intent = announce(case)
    case.plugin.write("afd_plugin/other.py", "mine\n")
    done = commit(case.plugin, message(case, intent))
    assert (done.code, "did not announce it" in done.err) == (1, True)


def test_hooks_of_one_worktree_do_not_look_at_another(case: FrozenUpgrade, tmp_path: Path) -> None:
    case.plugin(["git", "worktree", "add", "-q", "-b", "free", str(tmp_path / "free"), "main"])
    free = Repo(tmp_path / "free")
    announce(case)
    free.write("free.txt", "1")
    free("git add -A")
    free("git commit -q -m free")


def test_paths_of_any_name_and_what_is_only_meant_to_be_added_are_told_apart(case: FrozenUpgrade) -> None:
    odd = ['afd_plugin/größe " *.py', "afd_plugin/-x\ny.py", os.fsdecode(b"afd_plugin/\xff.py"), "afd_plugin/[a].py"]
    plan_root_cause(case, "RC-8", odd)
    case.plugin.write("afd_plugin/later.py", "1\n")
    case.plugin("git add -N afd_plugin/later.py")
    for locale in ("C.UTF-8", "C", "POSIX"):
        intent = announce(case, dict.fromkeys(odd, f"{locale}\n"), name="RC-8")
        words = ["git", "commit", "-q", "-F", "-"]
        case.plugin(words, stdin=message(case, intent), env={"LC_ALL": locale})
    for path in odd:
        case.plugin.write(path, "unannounced\n")
    refused = case.plugin.run(["git", "commit", "-q", "-a", "-m", "x"])
    assert (refused.code, refused.err.count("\nfix: "), "Traceback" in refused.err) == (1, 1, False)


def test_hooks_follow_a_branch_that_is_renamed(case: FrozenUpgrade) -> None:
    case.plugin('git branch -q -m "up=grade/"\'"quoted"\'')
    assert "nothing announced" in case.plugin.run("git commit -q --allow-empty -m x").err


def test_only_the_stage_that_is_installed_judges(case: FrozenUpgrade) -> None:
    (case.plugin.path / ".git/hooks/pre-commit").unlink()
    assert "nothing announced" in case.plugin.run("git commit -q --allow-empty -m x").err
    put_hooks(case.plugin.path, "pre-commit")
    (case.plugin.path / ".git/hooks/commit-msg").unlink()
    assert "nothing announced" in case.plugin.run("git commit -q --allow-empty -m x").err
