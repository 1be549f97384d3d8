"""Every shape of source that a user may have: it works, untouched, or is refused by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from freeze_kit import VLLM, Stage, changes, everything, fresh
from kit import Kit, Repo

from git_afd.adapters.sources import open_source
from git_afd.adapters.untouched import differences


@pytest.fixture
def case(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Stage:
    return fresh(tmp_path_factory, tmp_path)


def clone(case: Stage, *options: str) -> Repo:
    """Clone the vLLM of the stage as a server would give it."""
    case.vllm("git switch -q main")
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        case.vllm(["git", "config", name, "true"])
    place = case.vllm.path.parent / "clone"
    case.vllm(["git", "clone", "-q", *options, f"file://{case.vllm.path}", str(place)])
    return Repo(place)


def bare(case: Stage) -> Repo:
    return clone(case, "--bare")


def linked(case: Stage) -> Repo:
    case.vllm("git worktree add -q --detach ../linked v1.0.0")
    return Repo(case.vllm.path.parent / "linked")


def bare_with_worktree(case: Stage) -> Repo:
    bare(case)(["git", "worktree", "add", "-q", "--detach", "../linked", "v3.0.0"])
    return Repo(case.vllm.path.parent / "linked")


def dirty(case: Stage) -> Repo:
    case.vllm.write("vllm/engine.py", "mine\n")
    case.vllm.write("staged.txt", "mine\n")
    case.vllm("git add staged.txt")
    case.vllm.write(os.fsdecode(b"caf\xe9 -> \n'.txt"), "mine\n")
    return case.vllm


def shallow(case: Stage) -> Repo:
    return clone(case, "--depth", "3", "--no-single-branch")


def partial(case: Stage) -> Repo:
    return clone(case, "--filter=blob:none", "--no-checkout")


def sparse(case: Stage) -> Repo:
    found = clone(case)
    found("git sparse-checkout set --cone --sparse-index vllm")
    return found


def split_index(case: Stage) -> Repo:
    case.vllm("git update-index --split-index")
    return case.vllm


def sha256(case: Stage) -> Repo:
    return Kit(case.vllm.path.parent / "other").upstream("vllm", VLLM)


def lfs_without_its_program(case: Stage) -> Repo:
    case.vllm("git switch -q --detach v2.0.0")
    case.vllm.commit("large", {".gitattributes": "*.bin filter=lfs -text\n", "model.bin": "version 1\noid sha256:0\n"})
    case.vllm("git tag -f v2.0.0")
    case.vllm("git switch -q --detach v1.0.0")
    for name, value in (("smudge", "no-such-lfs"), ("clean", "no-such-lfs"), ("process", "no-such-lfs")):
        case.vllm(["git", "config", f"filter.lfs.{name}", value])
    case.vllm("git config filter.lfs.required true")
    return case.vllm


def submodule(case: Stage) -> Repo:
    case.vllm("git switch -q --detach v2.0.0")
    link = f"160000,{case.ascend.head},third_party/lib"
    case.vllm(["git", "update-index", "--add", "--cacheinfo", link])
    case.vllm(["git", "commit", "-q", "-m", "submodule"])
    case.vllm("git tag -f v2.0.0")
    case.vllm("git switch -q --detach v1.0.0")
    return case.vllm


def replaced(case: Stage) -> Repo:
    case.vllm("git replace v2.0.0^{commit} v3.0.0^{commit}")
    return case.vllm


# the shape, and which reader serves
SHAPES = [
    (bare, "libgit2"),
    (linked, "libgit2"),
    (bare_with_worktree, "libgit2"),
    (dirty, "libgit2"),
    (shallow, "libgit2"),
    (partial, "libgit2"),
    (sparse, "git"),
    (split_index, "git"),
    (lfs_without_its_program, "libgit2"),
    (submodule, "libgit2"),
    (replaced, "libgit2"),
]


@pytest.mark.parametrize(("shape", "reader"), SHAPES, ids=lambda item: getattr(item, "__name__", ""))
def test_a_source_of_any_shape_is_frozen_and_left_alone(
    case: Stage, shape: Callable[[Stage], Repo], reader: str
) -> None:
    source = shape(case)
    before = everything(source.path)
    data = case.frozen(sources=(str(source.path), "../vllm-ascend"))
    where = "" if (source.path / "HEAD").exists() else ".git/"
    mine = tuple(f"{where}{name}" for name in ("worktrees", "refs/afd", "objects"))
    assert {path for path in changes(before, everything(source.path)) if not path.startswith(mine)} == set()
    path = Path(data["worktrees"]["vllm"])
    assert (path / "new.txt").read_text() == "new\n"
    assert (path / "vllm/engine.py").is_file()
    assert Repo(path)("git rev-parse HEAD") == data["revisions"]["vllm.target"]["commit"]
    assert data["sources"]["vllm"]["read_by"] == reader
    quiet = "-c filter.lfs.process= -c filter.lfs.required=false --no-replace-objects"
    assert Repo(path)(f"git {quiet} status --porcelain --ignored") == ""


def test_a_sha256_source_beside_a_sha1_one_is_read_by_git(case: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    source = sha256(case)
    monkeypatch.delenv("GIT_DEFAULT_HASH")
    data = case.frozen(sources=(str(source.path), "../vllm-ascend"))
    assert len(data["revisions"]["vllm.target"]["commit"]) == 64
    assert data["sources"]["vllm"]["read_by"] == "git"


def test_large_files_stay_pointers(case: Stage) -> None:
    source = lfs_without_its_program(case)
    data = case.frozen(sources=(str(source.path), "../vllm-ascend"))
    assert Path(data["worktrees"]["vllm"], "model.bin").read_text() == "version 1\noid sha256:0\n"
    assert data["sources"]["vllm"]["lfs_smudge"] == "skipped"


def test_a_decoy_by_git_replace_is_not_frozen(case: Stage) -> None:
    real = case.vllm("git --no-replace-objects rev-parse v2.0.0^{tree}")
    replaced(case)
    assert case.frozen()["revisions"]["vllm.target"]["tree"] == real


def test_a_shallow_source_without_the_current_commit_is_blocked_with_the_fetch(case: Stage) -> None:
    source = clone(case, "--depth", "2", "--branch", "main")
    done = case.freeze("--json", sources=(str(source.path), "../vllm-ascend"))
    assert done.code == 6
    assert "1.0.0" in done.json["findings"][0]["message"]
    assert f"git -C {source.path} fetch origin tag v1.0.0" in done.json["next"]
    both = ("--current=vllm=v2.0.0", "--current=vllm-ascend=v2.0.0rc1")
    given = case.frozen(*both, sources=(str(source.path), "../vllm-ascend"))
    assert given["sources"]["vllm"]["shallow"] is True


def test_a_partial_clone_that_cannot_fetch_is_blocked_with_the_count(case: Stage) -> None:
    source = partial(case)
    case.vllm.path.rename(case.vllm.path.parent / "elsewhere")
    before = everything(source.path)
    done = case.freeze("--json", sources=(str(source.path), "../vllm-ascend"))
    assert done.code == 6
    assert "3 file(s) of vllm" in done.json["findings"][0]["message"]
    assert everything(source.path) == before
    assert not case.ascend("git for-each-ref refs/afd")
    assert not (case.ascend.path / ".git/worktrees").exists()


def test_a_dry_run_fetches_nothing_into_a_partial_clone(case: Stage) -> None:
    ascend = case.ascend
    ascend("git switch -q main")
    ascend("git config uploadpack.allowFilter true")
    place = ascend.path.parent / "clone"
    ascend(["git", "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{ascend.path}", str(place)])
    before = everything(place)
    done = case.freeze("--json", "--dry-run", sources=("../vllm", str(place)))
    assert done.code == 6
    assert "are not fetched in a dry run" in done.json["findings"][0]["message"]
    assert everything(place) == before
    assert case.frozen(sources=("../vllm", str(place)))["result"] == "frozen"


# what stands at the place of the vLLM source -> exit code, words
NO_SOURCE = [
    ("../nowhere", 5, "is not a directory"),
    ("../plain", 5, "is no git repository"),
    ("../vllm/vllm", 5, "only a folder inside the repository"),
    ("../vllm/.git", 5, "is a git dir, not a checkout"),
    (".", 2, "is the same repository as the plugin"),
    ("../vllm-ascend", 2, "is the same repository as the source of vllm"),
]


@pytest.mark.parametrize(("where", "code", "says"), NO_SOURCE)
def test_what_is_no_source_is_refused_by_name(case: Stage, where: str, code: int, says: str) -> None:
    case.plugin.write("../plain/file", "x")
    done = case.freeze(sources=(where, "../vllm-ascend"))
    assert (done.code, says in done.err, "fix: " in done.err) == (code, True, True), done.err


def test_one_repository_cannot_be_both_sources(case: Stage) -> None:
    case.vllm(["git", "fetch", "-q", "../vllm-ascend", "refs/tags/*:refs/tags/*"])
    done = case.freeze(sources=("../vllm", "../vllm"))
    assert (done.code, "same repository as the source of vllm" in done.err) == (2, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="chown(2) lets only root make a folder that belongs to somebody else")
def test_a_source_of_another_owner_is_told_with_the_line_that_mends_it(case: Stage) -> None:
    for path in (case.vllm.path, case.vllm.path / ".git"):
        os.chown(path, 4242, 4242)
    done = case.freeze()
    assert (done.code, "safe.directory" in done.err) == (5, True)


def test_inherited_variables_of_an_outer_git_lead_nowhere(case: Stage) -> None:
    stray = Kit(case.plugin.path.parent / "stray").repo("stray")
    head = stray.commit("stray")
    inherited = {
        "GIT_INDEX_FILE": str(stray.path / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(stray.path / ".git/objects"),
        "GIT_DIR": str(case.plugin.path / ".git"),
        "GIT_WORK_TREE": str(case.plugin.path),
    }
    before = everything(stray.path)
    data = case.frozen(env=inherited)
    assert data["base"] == case.plugin.head
    assert stray.head == head
    assert everything(stray.path) == before


HOSTILE = """[color]
	ui = always
[log]
	showSignature = true
[core]
	quotePath = true
	autocrlf = true
	fsmonitor = no-such-monitor
	logAllRefUpdates = always
[status]
	short = true
	branch = true
	showUntrackedFiles = no
[submodule]
	recurse = true
[checkout]
	guess = false
	workers = 1
[diff]
	noprefix = true
	external = no-such-diff
[commit]
	gpgSign = true
[user]
	useConfigOnly = true
[advice]
	detachedHead = true
[extensions]
	worktreeConfig = true
"""


def test_a_hostile_configuration_changes_no_answer(case: Stage, sealed: Path) -> None:
    case.plugin.write("notes.txt", "mine\n")
    plain = case.frozen("--dry-run")
    with (sealed / ".gitconfig").open("a") as file:
        file.write(HOSTILE)
    data = case.frozen()
    assert data["dirty"] == ["notes.txt"]
    for name in ("upgrade", "revisions", "pair", "stack"):
        assert data[name] == plain[name]
    assert not case.vllm("git for-each-ref refs/heads/upgrade")


def test_a_bare_plugin_with_worktrees_is_frozen_in_the_worktree(case: Stage) -> None:
    home = case.plugin.path.parent / "home.git"
    case.plugin(["git", "clone", "-q", "--bare", str(case.plugin.path), str(home)])
    Repo(home)(["git", "worktree", "add", "-q", "-b", "work", "../tree"])
    plugin = Repo(case.plugin.path.parent / "tree")
    data = Stage(plugin, case.vllm, case.ascend).frozen(branch="work")
    assert data["worktrees"]["vllm"].startswith(str(home / "afd/worktrees"))
    assert plugin.afd("status").code == 0
    assert Repo(home).afd("worktree list").ok().out.count("present") == 2


@pytest.mark.parametrize("inside", ["plugin/wt", "vllm/.git/wt", "vllm/below/wt"])
def test_worktrees_never_go_into_a_repository(case: Stage, inside: str) -> None:
    done = case.freeze(f"--worktrees=../{inside}")
    assert (done.code, "inside a git repository" in done.err) == (3, True)


def test_worktrees_go_where_they_are_told_and_take_no_place_that_is_taken(case: Stage) -> None:
    would = case.frozen("--dry-run")["upgrade"]
    taken = case.plugin.path.parent / "my trees" / f"{would}-vllm"
    taken.mkdir(parents=True)
    done = case.freeze("--worktrees=../my trees")
    assert (done.code, str(taken) in done.err) == (3, True)
    taken.rmdir()
    data = case.frozen("--worktrees=../my trees")
    assert data["worktrees"]["vllm"] == str(taken)
    assert case.freeze("--worktrees=../other").code == 3
    assert case.frozen("--worktrees=../my trees")["result"] == "already"


@pytest.mark.parametrize("file", ["MERGE_HEAD", "BISECT_LOG"])
def test_no_freeze_while_an_operation_is_under_way(case: Stage, file: str) -> None:
    case.plugin.write(f".git/{file}", f"{case.plugin.head}\n")
    done = case.freeze()
    assert (done.code, "in progress" in done.err) == (3, True)


def test_refs_that_are_no_files_are_compared_by_name(case: Stage) -> None:
    # this git may not know reftable: what matters here is that its folder, which every ref moves, is not compared
    table = case.vllm.write(".git/reftable/0x1.ref", "tables")
    source = open_source("vllm", case.vllm.path)
    before = source.fingerprint()
    table.write_text("other tables")
    assert differences(before, source.fingerprint(), ()) == ()
    case.vllm("git update-ref refs/afd/pins/U-1/vllm/target HEAD")
    assert differences(before, source.fingerprint(), ("git:refs/afd/pins/U-1",)) == ()
    case.vllm("git pack-refs --all")
    case.vllm("git tag -d v3.0.0")
    assert "git:refs/tags/v3.0.0" in differences(before, source.fingerprint(), ("git:refs/afd/pins/U-1",))
