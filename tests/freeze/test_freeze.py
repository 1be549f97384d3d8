"""`git afd freeze` on a plugin and two upstreams: what it records, what it adds, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from freeze_kit import BRANCH, Stage, changes, everything, fresh

from git_afd.adapters.session import open_session
from git_afd.core.state import Upgrade


@pytest.fixture
def case(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Stage:
    return fresh(tmp_path_factory, tmp_path)


def upgrade(case: Stage) -> Upgrade:
    session = open_session(case.plugin.path)
    return session.upgrade(session.reading())


def test_four_commits_are_found_and_recorded_with_ref_object_commit_and_tree(case: Stage) -> None:
    data = case.frozen()
    up = upgrade(case)
    assert data["result"] == "frozen"
    assert up.recorded == {"FREEZE_IDENTITY": "PASS"}
    assert up.phases["FREEZE_IDENTITY"].evidence == (up.freeze.record,)
    for key, repo, ref in (
        ("vllm.current", case.vllm, "v1.0.0"),
        ("vllm.target", case.vllm, "v2.0.0"),
        ("vllm-ascend.current", case.ascend, "v1.0.0rc1"),
        ("vllm-ascend.target", case.ascend, "v2.0.0rc1"),
    ):
        found = up.freeze.revisions[key]
        ids = [repo(["git", "rev-parse", f"{ref}{peel}"]) for peel in ("", "^{commit}", "^{tree}")]
        assert [found.object, found.commit, found.tree] == ids
        assert found.object != found.commit  # an annotated tag is not the commit that it names
        assert found.ref in (ref, ref.removeprefix("v"))


def test_the_branch_is_made_without_touching_index_or_files(case: Stage) -> None:
    case.plugin.write("README.md", "changed\n")
    case.plugin.write("notes.txt", "mine\n")
    case.plugin("git add notes.txt")
    before = everything(case.plugin.path)
    data = case.frozen()
    moved = changes(before, everything(case.plugin.path))
    allowed = (".git/afd", ".git/refs", ".git/logs", ".git/HEAD", ".git/config")
    assert {path for path in moved if not path.startswith(allowed)} == set()
    assert case.plugin("git branch --show-current") == BRANCH
    assert case.plugin(["git", "config", f"branch.{BRANCH}.afd"]) == data["upgrade"]
    assert data["dirty"] == ["README.md", "notes.txt"]
    assert upgrade(case).freeze.dirty["notes.txt"].startswith("sha256:")


def test_targets_are_detached_locked_worktrees_and_no_branch_appears(case: Stage) -> None:
    data = case.frozen()
    for name, repo, file in (("vllm", case.vllm, "new.txt"), ("vllm-ascend", case.ascend, "Dockerfile.a3")):
        path = Path(data["worktrees"][name])
        assert (path / file).is_file()
        assert not case.plugin.run(["git", "-C", str(path), "symbolic-ref", "-q", "HEAD"]).out
        assert case.plugin(["git", "-C", str(path), "status", "--porcelain", "--ignored"]) == ""
        listed = repo("git worktree list --porcelain")
        assert f"worktree {path}" in listed
        assert f"locked git-afd: {name} target of {data['upgrade']}" in listed
        assert repo("git for-each-ref refs/heads") == repo("git for-each-ref refs/heads/main")
        assert f"{data['upgrade']}-{name}" in str(path)


def test_sources_gain_nothing_but_registration_and_pins(case: Stage) -> None:
    for repo in (case.vllm, case.ascend):
        repo.write("mine.txt", "dirty\n")
        hook = repo.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hook-ran\n")
        hook.chmod(0o755)
        reference = repo.write(".git/hooks/reference-transaction", "#!/bin/sh\ntouch hook-ran\n")
        reference.chmod(0o755)
    before = {repo: everything(repo.path) for repo in (case.vllm, case.ascend)}
    data = case.frozen()
    for repo, name in ((case.vllm, "vllm"), (case.ascend, "vllm-ascend")):
        moved = changes(before[repo], everything(repo.path))
        mine = (f".git/worktrees/{data['upgrade']}-{name}", f".git/refs/afd/pins/{data['upgrade']}")
        folders = {".git/worktrees", ".git/refs/afd", ".git/refs/afd/pins"}
        assert {path for path in moved - folders if not path.startswith(mine)} == set()
        assert data["untouched"][name]["before"] == data["untouched"][name]["after"]
        pins = repo(["git", "for-each-ref", "--format=%(refname:lstrip=4) %(objectname)", "refs/afd"]).splitlines()
        sides = {side: data["revisions"][f"{name}.{side}"]["commit"] for side in ("current", "target")}
        assert pins == [f"{name}/current {sides['current']}", f"{name}/target {sides['target']}"]


def test_a_provided_checkout_that_stands_at_the_target_is_re_used(case: Stage) -> None:
    case.vllm("git switch -q --detach v2.0.0")
    data = case.frozen()
    assert data["worktrees"]["vllm"] == str(case.vllm.path)
    assert data["sources"]["vllm"]["reused"] is True
    assert not (case.vllm.path / ".git/worktrees").exists()
    assert data["sources"]["vllm-ascend"]["reused"] is False


def test_a_dirty_checkout_at_the_target_is_not_the_target_tree(case: Stage) -> None:
    case.vllm("git switch -q --detach v2.0.0")
    case.vllm.write("scratch.txt", "x")
    data = case.frozen()
    assert data["worktrees"]["vllm"] != str(case.vllm.path)


def test_the_same_input_again_changes_nothing_and_says_so(case: Stage) -> None:
    case.frozen()
    kept = [everything(repo.path) for repo in (case.plugin, case.vllm, case.ascend)]
    data = case.frozen()
    assert data["result"] == "already"
    assert [everything(repo.path) for repo in (case.plugin, case.vllm, case.ascend)] == kept


def test_a_renamed_branch_keeps_its_upgrade(case: Stage) -> None:
    upgrade_id = case.frozen()["upgrade"]
    case.plugin(["git", "branch", "-m", BRANCH, "upgrade/renamed"])
    again = case.frozen(branch="")
    assert (again["result"], again["upgrade"]) == ("already", upgrade_id)
    assert case.plugin("git branch --show-current") == "upgrade/renamed"
    old = case.freeze()  # a second branch of the same upgrade
    assert (old.code, "is called upgrade/renamed now" in old.err) == (3, True)


def test_a_branch_whose_upgrade_the_ledger_lacks_is_not_given_another(case: Stage) -> None:
    pointer = ["git", "config", f"branch.{BRANCH}.afd"]
    case.plugin([*pointer, "U-elsewhere"])
    done = case.freeze()
    assert (done.code, "U-elsewhere, which the ledger lacks" in done.err) == (6, True)
    assert case.plugin(pointer) == "U-elsewhere"


def test_nobody_freezes_nothing(case: Stage, sealed: Path) -> None:
    (sealed / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    before = [everything(repo.path) for repo in (case.plugin, case.vllm, case.ascend)]
    done = case.freeze()
    assert (done.code, done.err.splitlines()[0]) == (5, "git-afd: git does not know who you are")
    assert [everything(repo.path) for repo in (case.plugin, case.vllm, case.ascend)] == before


def test_other_input_is_refused_and_names_the_existing_freeze(case: Stage) -> None:
    data = case.frozen()
    done = case.freeze(targets=("v3.0.0", "v2.0.0rc1"))
    assert done.code == 3
    assert data["upgrade"] in done.err
    assert "vllm.target" in done.err
    other = case.freeze(sources=("../vllm-ascend", "../vllm"), targets=("v1.0.0rc1", "v1.0.0"))
    assert other.code == 3


def test_a_dry_run_writes_nothing_at_all(case: Stage) -> None:
    before = [everything(repo.path) for repo in (case.plugin, case.vllm, case.ascend)]
    data = case.frozen("--dry-run", "--explain")
    assert data["result"] == "dry-run"
    assert [everything(repo.path) for repo in (case.plugin, case.vllm, case.ascend)] == before
    assert case.frozen()["upgrade"] == data["upgrade"]


def test_the_plugin_is_recorded_with_documents_guards_policy_and_primary(case: Stage) -> None:
    case.frozen()
    body = upgrade(case).freeze.body
    documents = body["documents"]
    assert isinstance(documents, dict)
    assert documents["AGENTS.md"] == case.plugin("git rev-parse HEAD:AGENTS.md")
    assert ".agents/skills/upgrade-npu/references/old-lessons.md" in documents
    assert body["guards"] == [
        {
            "guard": "gsm8k threshold",
            "kind": "threshold",
            "value": "0.20",
            "path": "tests/e2e/accuracy/test_gsm8k.py",
            "line": 1,
            "blob": case.plugin("git rev-parse HEAD:tests/e2e/accuracy/test_gsm8k.py"),
        }
    ]
    assert body["primary"] == "Ada Example <ada@example.org>"
    assert body["base"] == case.plugin.head


def test_an_earlier_pair_may_be_named_and_is_frozen_as_given(case: Stage) -> None:
    data = case.frozen("--current=vllm=v3.0.0", "--current=vllm-ascend=v1.0.0rc1")
    assert data["revisions"]["vllm.current"]["commit"] == case.vllm("git rev-parse v3.0.0^{commit}")
    assert data["pair"]["current"]["verdict"] == "blocked"
    assert data["pair"]["target"]["verdict"] == "supported"


# call (what differs from a good one) -> exit code, words in the message, words in the fix
REFUSED = [
    # what is missing is asked for by name, all of it at once
    (["--source=vllm=../vllm"], 2, "target of vllm-ascend", "--target vllm-ascend=REF"),
    # an upstream that there is none of
    (["--source=vlm=../vllm"], 2, "'vlm', which is no upstream", "vllm and vllm-ascend"),
    # no NAME=
    (["--source=../vllm"], 2, "is not NAME=VALUE", "--source vllm="),
    # a value that is empty
    (["--source=vllm="], 2, "is not NAME=VALUE", "--source vllm="),
    # twice
    (["--source=vllm=a", "--source=vllm=b"], 2, "names vllm twice", "once"),
]


@pytest.mark.parametrize(("options", "code", "says", "fix"), REFUSED)
def test_a_wrong_call_is_told_in_one_sentence(case: Stage, options: list[str], code: int, says: str, fix: str) -> None:
    done = case.plugin.afd(["freeze", *options])
    assert done.code == code
    assert says in done.err.splitlines()[0]
    assert done.err.splitlines()[1].startswith("fix: ")
    assert fix in done.err.splitlines()[1]


# target of vllm -> words in the message
NO_COMMIT = [
    ("v9", "names nothing there"),
    ("-x", "cannot be the name"),
    ("--help", "cannot be the name"),
    ("a\nb", "cannot be the name"),
    ("HEAD:new.txt", "names nothing there"),  # a path of version 1 that it does not have
    ("HEAD:old.txt", "names a blob"),
    ("v1.0.0^{tree}", "names a tree"),
    ("both", "is ambiguous: refs/tags/both and refs/heads/both"),
    ("blob-tag", "names a tag of no commit"),
]


@pytest.mark.parametrize(("ref", "says"), NO_COMMIT)
def test_a_target_that_is_no_commit_is_refused(case: Stage, ref: str, says: str) -> None:
    case.vllm("git branch both v1.0.0")
    case.vllm("git tag both v2.0.0")
    case.vllm("git tag -a -m blob blob-tag HEAD:old.txt")
    done = case.freeze(targets=(ref, "v2.0.0rc1"))
    assert done.code == 2
    assert says in done.err
    assert "fix: " in done.err
    assert not (case.plugin.path / ".git/afd/worktrees").exists()


def test_the_default_branch_and_a_detached_head_need_a_branch_by_name(case: Stage) -> None:
    done = case.freeze(branch="")
    assert (done.code, "--branch NAME" in done.err) == (3, True)
    assert case.freeze(branch="main").code == 3
    case.plugin("git switch -q --detach")
    done = case.freeze(branch="")
    assert (done.code, "detached" in done.err) == (3, True)
    case.frozen()
    assert case.plugin("git branch --show-current") == BRANCH


def test_the_current_branch_may_be_named_or_left_out(case: Stage) -> None:
    case.plugin("git switch -q -c work")
    assert case.frozen(branch="work")["branch"] == "work"
    assert case.frozen(branch="")["result"] == "already"


# branch -> words in the message
BRANCHES = [
    ("there", "exists at"),
    ("bad..name", "cannot be the name"),
    ("there/below", "cannot exist beside branch there"),
    ("up", "cannot exist beside branch up/down"),
]


@pytest.mark.parametrize(("branch", "says"), BRANCHES)
def test_a_branch_that_cannot_be_made_without_touching_files_is_refused(case: Stage, branch: str, says: str) -> None:
    case.plugin("git branch there")
    case.plugin("git branch up/down")
    case.plugin.commit("moved on")
    done = case.freeze(branch=branch)
    assert done.code == 3
    assert says in done.err
