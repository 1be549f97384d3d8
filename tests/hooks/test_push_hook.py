"""Real `git push` with the shim in place: no name and no detour takes a commit of an open upgrade out of the house."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from kit import Kit, Repo
from kit_hooks import announce, commit, copy_of_upgrade, message, put_hooks
from kit_terminal import at_terminal
from kit_upgrade import BRANCH, FrozenUpgrade

from git_afd.core.names import LEDGER_REF
from git_afd.hook.push import asked

_built: list[tuple[FrozenUpgrade, Path]] = []


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    """An upgrade with one recorded commit, and a remote that has its base; copies, as in kit_hooks."""
    if not _built:
        _built.append(_build(tmp_path_factory))
    first, far = _built[0]
    shutil.copytree(first.plugin.path, tmp_path / "plugin", symlinks=True)
    shutil.copytree(far, tmp_path / "re mote")
    plugin = Repo(tmp_path / "plugin")
    plugin(["git", "remote", "set-url", "origin", str(tmp_path / "re mote")])
    return FrozenUpgrade(plugin, first.vllm, first.ascend, first.id)


def _build(factory: pytest.TempPathFactory) -> tuple[FrozenUpgrade, Path]:
    made = copy_of_upgrade(factory.mktemp("pushed"), factory)
    repo, remote = made.plugin, Kit(factory.mktemp("far")).repo("far", "--bare")
    repo(["git", "remote", "add", "origin", str(remote.path)])
    repo("git checkout -q -- .")
    repo("git push -q origin main")
    intent = announce(made)
    commit(repo, message(made, intent)).ok()
    body = {"root_cause": "RC-7", "commit": repo.head, "parent": intent.parent, "tree": intent.tree, "paths": []}
    made.record(("commit", body))
    (repo.path / ".git/afd-intent").unlink()
    return made, remote.path


def push(case: FrozenUpgrade, *words: str, reaches: bool) -> None:
    """Push, and insist that exactly a push that reaches the upgrade is refused and moves nothing."""
    remote = Repo(Path(case.plugin("git remote get-url origin")))
    before = remote("git for-each-ref")
    done = case.plugin.run(["git", "push", "-q", "origin", *words])
    if reaches:
        assert (done.code, f"of the open upgrade {case.id}" in done.err) == (1, True), done.err
        assert "git afd approve push" in done.err
        assert remote("git for-each-ref") == before
    else:
        assert done.code == 0, done.err


UP = ["git switch -q -c up main", "git commit -q --allow-empty -m up", "git push -q origin up"]

# what is done first; what is pushed; whether it reaches the upgrade
FIXTURES: list[tuple[Sequence[str], Sequence[str], bool]] = [
    # the branch by its own name, by another, by its id, forced, with everything
    ([], [BRANCH], True),
    ([], [f"{BRANCH}:refs/heads/innocent"], True),
    ([], ["HEAD~0:refs/heads/innocent"], True),
    ([], ["--force", f"+{BRANCH}:main"], True),
    ([], ["--all"], True),
    ([], ["--mirror"], True),
    # a tag of either kind, also of something later
    (["git tag light"], ["light"], True),
    (["git tag -a heavy -m x"], ["heavy"], True),
    (["git switch -q -c later", "git commit -q --allow-empty --no-verify -m later"], ["later"], True),
    # renamed, or with its pointer taken away, or gone but for a tag
    (["git branch -q -m harmless"], ["harmless"], True),
    ([f"git config --unset branch.{BRANCH}.afd"], [BRANCH], True),
    (["git tag kept", "git switch -q main", f"git branch -q -D {BRANCH}"], ["kept"], True),
    # with a new id: picked, rebased, amended; merged into main
    (["git switch -q main", "git commit -q --allow-empty -m x", f"git cherry-pick {BRANCH}"], ["main"], True),
    (["git commit -q --amend --no-edit --no-verify --date=2026-01-01T00:00:00Z"], [BRANCH], True),
    (["git switch -q main", f"git merge -q --no-ff --no-edit {BRANCH}"], ["main"], True),
    # a commit that nobody announced is the upgrade's too
    (["git commit -q --allow-empty --no-verify -m x", "git tag t"], ["t"], True),
    # another branch is looked at, not the one that is checked out
    (["git switch -q main"], [BRANCH], True),
    ([], ["main"], False),
    # the first commit of all, a new branch, unrelated histories, a deletion, a local ref with blanks
    ([], ["main:refs/heads/new"], False),
    (["git switch -q --orphan other", "git commit -q --allow-empty -m root"], ["other"], False),
    (["git switch -q --orphan other", "git commit -q --allow-empty -m root"], ["--force", "other:main"], False),
    ([], ["main:refs/heads/gone", ":refs/heads/absent"], False),
    ([], ["main@{1 second ago}:refs/heads/blanks"], False),
    ([], [f"{BRANCH}@{{1 second ago}}:refs/heads/blanks"], True),
    # one harmless ref does not cover for another
    ([], ["main:refs/heads/a", f"{BRANCH}:refs/heads/b"], True),
    # the ledger alone publishes no commit; a tree is none
    ([], [LEDGER_REF], False),
    ([], ["main^{tree}:refs/tags/tree"], False),
    # work that came by a merge from the remote stays publishable
    (
        [*UP, f"git switch -q {BRANCH}", "git merge -q --no-ff --no-edit up"],
        ["up:refs/heads/again"],
        False,
    ),
]


@pytest.mark.parametrize(("first", "words", "reaches"), FIXTURES)
def test_a_push_is_refused_exactly_when_it_reaches_the_upgrade(
    case: FrozenUpgrade, first: Sequence[str], words: Sequence[str], reaches: bool
) -> None:
    for command in first:
        case.plugin(command)
    push(case, *words, reaches=reaches)


def test_a_forced_push_over_a_commit_that_is_not_here_is_judged_by_what_is_pushed(
    case: FrozenUpgrade, tmp_path: Path
) -> None:
    case.plugin(["git", "clone", "-q", case.plugin("git remote get-url origin"), str(tmp_path / "else where")])
    other = Repo(tmp_path / "else where")
    other.commit("theirs")
    other("git push -q origin main")
    push(case, "--force", f"{BRANCH}:main", reaches=True)
    push(case, "--force", "main", reaches=False)


def test_a_deletion_and_a_closed_upgrade_are_nobody_s_business(case: FrozenUpgrade) -> None:
    case.plugin(["git", "push", "-q", "--no-verify", "origin", BRANCH])
    push(case, "--delete", BRANCH, reaches=False)
    case.record(("close", {"why": "accuracy was cancelled on request"}))
    push(case, BRANCH, reaches=False)


def test_an_approval_opens_what_leads_to_its_commit_and_nothing_later(case: FrozenUpgrade) -> None:
    approval = {"what": "push", "name": "Ada Example", "reason": "the user asked"}
    case.record(("approval", {**approval, "subject": "main"}))
    push(case, BRANCH, reaches=True)
    case.record(("approval", {**approval, "subject": case.plugin.head}))
    push(case, BRANCH, reaches=False)
    case.plugin("git commit -q --allow-empty --no-verify -m later")
    push(case, BRANCH, reaches=True)


def test_a_person_approves_a_push_on_a_terminal_and_only_there(case: FrozenUpgrade) -> None:
    head = case.plugin.head
    assert "terminal" in case.plugin.afd("approve push", stdin=f"approve push {head[:12]}\nasked\n").err
    push(case, BRANCH, reaches=True)
    assert head in case.plugin.afd("approve push --dry-run").ok().out
    code, shown = at_terminal(case.plugin, "push", f"approve push {head[:12]}", "the maintainers asked for a preview")
    assert code == 0, shown
    push(case, BRANCH, reaches=False)
    assert "the maintainers asked for a preview" in case.plugin.afd("status").ok().out


def test_a_ledger_that_does_not_know_or_cannot_be_read_blocks(case: FrozenUpgrade) -> None:
    tip = case.plugin(["git", "rev-parse", LEDGER_REF])
    case.plugin(["git", "update-ref", "-d", LEDGER_REF])
    assert "which the ledger lacks" in case.plugin.run(["git", "push", "origin", BRANCH]).err
    case.plugin("git push -q origin main:refs/heads/still")
    case.plugin(["git", "update-ref", LEDGER_REF, tip])
    case.plugin(["git", "notes", f"--ref={LEDGER_REF}", "append", "-m", "no record", "HEAD"])
    assert "the ledger is damaged" in case.plugin.run(["git", "push", "origin", "main:refs/heads/x"]).err


def test_every_worktree_and_a_bare_repository_with_worktrees_are_judged_alike(
    case: FrozenUpgrade, tmp_path: Path
) -> None:
    case.plugin(["git", "worktree", "add", "-q", str(tmp_path / "linked"), "main"])
    linked = Repo(tmp_path / "linked")
    assert linked.run(["git", "push", "-q", "origin", f"{BRANCH}:x"]).code == 1
    bare = Repo(tmp_path / "bare.git")
    case.plugin(["git", "clone", "-q", "--mirror", ".", str(bare.path)])
    bare(["git", "config", "remote.origin.mirror", "false"])
    bare(["git", "remote", "set-url", "origin", case.plugin("git remote get-url origin")])
    put_hooks(bare.path)
    assert f"open upgrade {case.id}" in bare.run(["git", "push", "-q", "origin", f"{BRANCH}:x"]).err
    bare("git push -q origin main:refs/heads/from-bare")


def test_the_hook_before_ours_gets_the_same_arguments_and_input(case: FrozenUpgrade, tmp_path: Path) -> None:
    kept = case.plugin.path / ".git/hooks/pre-push.afd-chained"
    kept.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/argv\ncat >{tmp_path}/stdin\nexit 0\n')
    kept.chmod(0o755)
    push(case, BRANCH, reaches=True)
    assert not (tmp_path / "stdin").exists(), "what ours refuses, nothing else begins to upload"
    push(case, "main:refs/heads/a", "main:refs/heads/b", reaches=False)
    lines = (tmp_path / "stdin").read_text().splitlines()
    main, zero = case.plugin("git rev-parse main"), "0" * 40
    assert sorted(lines) == [f"refs/heads/main {main} refs/heads/{name} {zero}" for name in "ab"]
    assert (tmp_path / "argv").read_text().splitlines()[0] == "origin"
    kept.write_text("#!/bin/sh\nexit 9\n")
    assert case.plugin.run("git push -q origin main:refs/heads/c").code == 1


# standard input; variables of the pre-commit framework; what is judged
ASKED = [
    (b"", {}, []),
    (b"refs/heads/a 11 refs/heads/b 22\n", {}, ["11"]),
    (b"main@{1 day ago} 11 refs/heads/b 22\n", {}, ["11"]),
    (b"(delete) 000 refs/heads/b 22\n", {}, []),
    (b"", {"PRE_COMMIT_TO_REF": "11", "PRE_COMMIT_LOCAL_BRANCH": "refs/heads/a"}, ["11", "refs/heads/a"]),
    # it does not name the commit of a push that takes the first commit of all along
    (b"", {"PRE_COMMIT_LOCAL_BRANCH": "refs/heads/a"}, ["refs/heads/a"]),
    (b"", {"PRE_COMMIT_TO_REF": "000"}, []),
    # a variable set by hand takes nothing away
    (b"refs/heads/a 11 refs/heads/b 22\n", {"PRE_COMMIT_TO_REF": "33"}, ["11", "33"]),
]


@pytest.mark.parametrize(("data", "environment", "commits"), ASKED)
def test_what_git_and_the_framework_say_is_read(data: bytes, environment: dict[str, str], commits: list[str]) -> None:
    assert [item.commit for item in asked(data, environment)] == commits
