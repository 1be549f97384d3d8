"""status, next and log in every shape of repository and environment that people have.

Scenarios A4, A6, A10, A11, E6, E7, E22, G3, G5 and G6.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from kit import Kit, Repo, run
from kit_upgrade import BRANCH, UPGRADE, FrozenUpgrade, frozen

from git_afd.adapters.configuration import point
from git_afd.adapters.ledger import Ledger
from git_afd.adapters.session import open_session
from git_afd.core.names import LEDGER_REF
from git_afd.core.records import Draft
from git_afd.errors import EnvironmentFault

HOSTILE = """
[color]
	ui = always
[core]
	quotePath = true
	notesRef = refs/notes/elsewhere
	commentChar = auto
	abbrev = 4
	pager = false
	logAllRefUpdates = always
	fsmonitor = true
	untrackedCache = true
[log]
	showSignature = true
	decorate = full
	date = relative
[diff]
	noprefix = true
	external = false
	renames = copies
	orderFile = /nowhere
[status]
	branch = true
	short = true
	showUntrackedFiles = no
[notes]
	displayRef = *
	rewriteRef = refs/notes/*
	mergeStrategy = theirs
	rewriteMode = overwrite
[notes "afd/ledger"]
	mergeStrategy = ours
[commit]
	gpgSign = true
	cleanup = verbatim
[tag]
	gpgSign = true
[gpg]
	program = false
[user]
	useConfigOnly = true
[i18n]
	commitEncoding = ISO-8859-1
	logOutputEncoding = ISO-8859-1
[trailer]
	ifexists = replace
[trailer "AFD-Upgrade"]
	key = Gotcha
[submodule]
	recurse = true
[transfer]
	fsckObjects = true
	hideRefs = refs/notes
[receive]
	denyCurrentBranch = refuse
[alias]
	notes = !false
	update-ref = !false
[pager]
	status = true
"""


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    """A frozen upgrade."""
    return frozen(kit)


def answers(repo: Repo, **kwargs: Any) -> dict[str, Any]:
    """What the three reading verbs say here; each must be able to answer."""
    found = {verb: repo.afd([verb, "--json"], **kwargs).ok().json for verb in ("status", "next", "log")}
    assert not [finding for said in found.values() for finding in said["findings"] if finding["severity"] == "error"]
    assert found["status"]["next"] == found["next"]["next"] == found["log"]["next"]
    return found


def check(repo: Repo, **kwargs: Any) -> None:
    """The upgrade is found here, with its records."""
    said = answers(repo, **kwargs)
    assert said["status"]["data"]["upgrade"] == UPGRADE
    assert len(said["log"]["data"]["records"]) == 2
    assert said["next"]["next"] == "git afd inventory"


def test_in_a_subdirectory_and_from_outside(case: FrozenUpgrade, tmp_path: Path) -> None:
    check(Repo(case.plugin.path / "docs"))
    for place in (str(case.plugin.path), os.path.relpath(case.plugin.path / "docs", tmp_path)):
        assert Repo(tmp_path).afd(["status", "-C", place, "--json"]).ok().json["data"]["upgrade"] == UPGRADE


def test_in_a_linked_worktree_and_in_the_main_one_beside_it(case: FrozenUpgrade, tmp_path: Path) -> None:
    case.plugin("git switch -q -c other")
    case.plugin(["git", "worktree", "add", "-q", str(tmp_path / "linked"), BRANCH])
    linked = Repo(tmp_path / "linked")
    check(linked)
    check(Repo(linked.path / "docs"))
    assert answers(case.plugin)["status"]["data"]["upgrade"] is None
    before = case.upgrade
    record_here(linked)
    assert case.upgrade != before  # one ledger for all worktrees (A11)


def record_here(repo: Repo) -> None:
    session = open_session(repo.path, work_tree=False)
    body = {"what": "skip", "subject": "t", "name": "Ada", "reason": "documented"}
    session.ledger.transact(lambda _: (Draft("approval", UPGRADE, body, repo("git rev-parse " + BRANCH)),))


def test_in_a_bare_repository_with_worktrees(case: FrozenUpgrade, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    run(["git", "clone", "-q", "--bare", str(case.plugin.path), str(bare)], tmp_path).ok()
    repo = Repo(bare)
    repo(["git", "fetch", "-q", str(case.plugin.path), f"{LEDGER_REF}:{LEDGER_REF}"])
    point(open_session(bare, work_tree=False).git, BRANCH, UPGRADE)
    check(repo)  # the bare repository itself stands on the branch
    repo("git symbolic-ref HEAD refs/heads/main")
    repo(["git", "worktree", "add", "-q", str(tmp_path / "work"), BRANCH])
    check(Repo(tmp_path / "work"))
    check(Repo(tmp_path / "work" / "docs"))
    record_here(Repo(tmp_path / "work"))
    assert len(answers(repo)["log"]["data"]["records"]) == 3


def test_on_a_detached_head_and_on_an_unborn_branch_it_says_so(case: FrozenUpgrade) -> None:
    case.plugin("git switch -q --detach")
    said = answers(case.plugin)
    assert "HEAD is detached" in said["status"]["data"]["why"]
    assert said["status"]["data"]["upgrades"] == {UPGRADE: BRANCH}
    assert len(said["log"]["data"]["records"]) == 2
    case.plugin("git switch -q --orphan empty")
    assert "branch empty has no upgrade" in answers(case.plugin)["status"]["data"]["why"]


def test_in_a_repository_that_has_nothing_at_all(kit: Kit) -> None:
    repo = kit.repo("empty")
    said = answers(repo)
    assert said["status"]["data"]["upgrade"] is None
    assert said["log"]["data"]["records"] == []
    assert not (repo.path / ".git/afd").exists()


def test_in_a_submodule(case: FrozenUpgrade, kit: Kit) -> None:
    outer = kit.repo("outer")
    outer.commit("outer")
    outer(
        [
            "git",
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "-q",
            "add",
            "-b",
            BRANCH,
            str(case.plugin.path),
            "sub",
        ]
    )
    sub = Repo(outer.path / "sub")
    sub(["git", "fetch", "-q", str(case.plugin.path), f"{LEDGER_REF}:{LEDGER_REF}"])
    point(open_session(sub.path).git, BRANCH, UPGRADE)
    check(sub)
    check(Repo(sub.path / "docs"))
    assert answers(outer)["log"]["data"]["records"] == []  # and the outer one is another repository
    assert (outer.path / ".git/modules/sub/afd").is_dir()
    assert not (outer.path / ".git/afd").exists()


@pytest.mark.parametrize("form", ["sha256", "reftable"])
def test_with_another_object_or_ref_format(kit: Kit, form: str) -> None:
    options = {"sha256": "--object-format=sha256", "reftable": "--ref-format=reftable"}
    if run(["git", "init", "-q", options[form], "probe"], kit.folder).code:
        pytest.skip(f"this git cannot make a {form} repository (sha256 came with 2.29, reftable with 2.45)")
    repo = kit.repo("r", options[form])
    head = repo.commit()
    ledger = open_session(repo.path).ledger
    for number in range(3):
        ledger.transact(lambda _, n=number: (Draft("remark", "U", {"n": n}, head),))  # type: ignore[misc]  # bound
    assert len(answers(repo)["log"]["data"]["records"]) == 3


def test_a_replaced_object_deceives_nobody(case: FrozenUpgrade) -> None:
    repo = case.plugin
    first = ledger_of(repo).tip() or ""
    fake = repo(["git", "commit-tree", repo("git mktree", stdin=""), "-m", "nothing happened"])
    repo(["git", "replace", first, fake])
    blob = repo(["git", "--no-replace-objects", "notes", "--ref", LEDGER_REF, "list"]).split()[0]
    repo(["git", "replace", blob, repo("git hash-object -w --stdin", stdin="no record\n")])
    shutil.rmtree(repo.path / ".git/afd/cache")
    check(repo)
    record_here(repo)
    assert len(answers(repo)["log"]["data"]["records"]) == 3


def ledger_of(repo: Repo) -> Ledger:
    return open_session(repo.path).ledger


def test_under_a_hostile_configuration_nothing_changes(case: FrozenUpgrade, sealed: Path) -> None:
    plain = {verb: case.plugin.afd([verb]).ok().out for verb in ("status", "next", "log")}
    config = sealed / ".gitconfig"
    config.write_text(config.read_text() + HOSTILE)
    check(case.plugin)
    assert {verb: case.plugin.afd([verb]).ok().out for verb in plain} == plain
    assert not json.dumps(plain).count("\\u001b")


def test_the_ledger_s_commits_are_made_whatever_is_configured(case: FrozenUpgrade, sealed: Path) -> None:
    (sealed / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n" + HOSTILE)  # and no identity at all
    session = open_session(case.plugin.path)
    assert session.actor == ""
    env = {"GIT_NOTES_REF": "refs/notes/elsewhere", "GIT_AFD_ACTOR": "agent 7>\n"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        record_here(case.plugin)
    with_nobody = Ledger(session.git, session.common_dir, "", session.now)
    with pytest.raises(EnvironmentFault, match="git does not know who you are"):
        with_nobody.transact(lambda _: (Draft("remark", UPGRADE, {}, case.plugin.head),))
    record_here_as(case, "J\u00fcrgen <j@example.org>")
    text = "git log --format=%an|%ae|%cn|%ce|%s --encoding=UTF-8 " + LEDGER_REF
    rows = [line.split("|") for line in case.plugin(text).splitlines()]
    assert rows[0][:4] == ["J\u00fcrgen", "j@example.org"] * 2
    assert rows[1][:4] == ["agent 7", "git-afd@localhost"] * 2
    newest = ledger_of(case.plugin).records()[-1]
    assert rows[0][4] == f"afd: record remark {newest.id[:12]}"
    assert "gpgsig" not in case.plugin(["git", "cat-file", "commit", LEDGER_REF])
    assert case.plugin("git for-each-ref refs/notes/elsewhere") == ""
    assert "bad" not in case.plugin("git fsck --strict --no-dangling")


def record_here_as(case: FrozenUpgrade, actor: str) -> None:
    session = open_session(case.plugin.path)
    ledger = Ledger(session.git, session.common_dir, actor, session.now)
    ledger.transact(lambda _: (Draft("remark", UPGRADE, {"by": actor}, case.plugin.head),))


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"},  # git speaks another language (G3)
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},  # and one that can spell nothing
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"GIT_TRACE": "1"},  # chatter on standard error
        {"GIT_PAGER": "false", "PAGER": "false"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.quotePath", "GIT_CONFIG_VALUE_0": "true"},
        {"GIT_LITERAL_PATHSPECS": "0", "GIT_GLOB_PATHSPECS": "1"},
        {"GIT_OPTIONAL_LOCKS": "1"},
        {"TZ": "Asia/Kathmandu"},
    ],
)
def test_in_other_environments(case: FrozenUpgrade, env: dict[str, str]) -> None:
    case.record(
        ("approval", {"what": "skip", "subject": "t\u00e4st \u2192", "name": "J\u00fcrgen", "reason": "\u2713"})
    )
    said = answers(case.plugin, env=env)
    assert said["status"]["data"]["approvals"][0]["name"] == "J\u00fcrgen"
    assert "Traceback" not in case.plugin.afd("status", env=env).ok().err


def test_inherited_variables_of_an_outer_git_are_resolved_once_and_dropped(case: FrozenUpgrade, kit: Kit) -> None:
    other = kit.repo("other")
    other.commit()
    git_dir = str(case.plugin.path / ".git")
    check(other, env={"GIT_DIR": git_dir, "GIT_WORK_TREE": str(case.plugin.path)})
    check(case.plugin, env={"GIT_DIR": ".git"})
    check(case.plugin, env={"GIT_INDEX_FILE": "nowhere/index", "GIT_OBJECT_DIRECTORY": "nowhere"})
    check(Repo(case.plugin.path / "docs"), env={"GIT_DIR": "../.git", "GIT_WORK_TREE": ".."})
    check(other, env={"GIT_DIR": os.path.relpath(git_dir, other.path), "GIT_WORK_TREE": "../plugin"})
    check(case.plugin, env={"GIT_PREFIX": "docs/"})


def test_as_an_alias_after_a_change_of_directory(case: FrozenUpgrade) -> None:
    case.plugin(["git", "config", "alias.st", "!cd docs && git afd status --json"])
    for place in (case.plugin, Repo(case.plugin.path / "docs")):
        assert json.loads(place("git st"))["data"]["upgrade"] == UPGRADE
        assert json.loads(place("git afd status --json"))["data"]["upgrade"] == UPGRADE


def test_names_that_are_no_utf8_are_shown_as_escapes(kit: Kit) -> None:
    odd = kit.repo("odd")
    odd.commit("odd", {"ok": "1"})
    folder = os.fsencode(odd.path) + b"/caf\xe9"
    Path(os.fsdecode(folder)).mkdir()
    done = run(["git-afd", "status", "-C", os.fsdecode(folder) + "/nowhere"], odd.path)
    assert done.code == 5
    assert "caf\\xe9/nowhere is not a directory" in done.err
    assert (
        run(["git-afd", "status", "-C", os.fsdecode(folder), "--json"], odd.path).ok().json["data"]["upgrade"] is None
    )


def test_reading_never_writes_to_the_index_or_the_work_tree(case: FrozenUpgrade) -> None:
    index = case.plugin.path / ".git/index"
    before = (index.stat().st_mtime_ns, index.read_bytes(), case.plugin("git for-each-ref"))
    os.utime(case.plugin.path / "README.md", (1, 1))  # a stale index entry that `git status` would like to refresh
    answers(case.plugin)
    assert (index.stat().st_mtime_ns, index.read_bytes(), case.plugin("git for-each-ref")) == before
