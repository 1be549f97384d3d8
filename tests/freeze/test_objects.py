"""Both readers give the same answers, and every fingerprint notices what it must."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import Kit, Repo

from git_afd.adapters.git import Git
from git_afd.adapters.objects import LibraryObjects, ProgramObjects, open_objects
from git_afd.adapters.revisions import Resolved, Unresolved, commits_of, resolve
from git_afd.adapters.untouched import differences, fingerprint
from git_afd.errors import Blocked, EnvironmentFault


@pytest.fixture
def repo(kit: Kit) -> Repo:
    found = kit.repo("repo")
    (found.path / "link").symlink_to("a.txt")
    found.write(os.fsdecode(b"caf\xe9 '\n.txt"), b"\x00\xff\n")
    found.write("empty", "")
    found.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    found.commit("files", {"a.txt": "a\n", "deep/er/b.txt": "b\n"})
    found(["git", "update-index", "--add", "--cacheinfo", f"160000,{found.head},sub"])
    found(["git", "commit", "-q", "-m", "submodule"])
    return found


def readers(repo: Repo) -> tuple[LibraryObjects, ProgramObjects]:
    git = Git(repo.path)
    library = open_objects(git, repo.path)
    assert isinstance(library, LibraryObjects)
    return library, ProgramObjects(git)


def test_both_readers_list_the_same_files_in_the_same_order(repo: Repo) -> None:
    library, program = readers(repo)
    assert library.entries(repo.head) == program.entries(repo.head)
    for inside in {part for entry in program.entries(repo.head) for part in (entry.path, entry.path.partition("/")[0])}:
        assert library.entries(repo.head, inside) == program.entries(repo.head, inside) != ()
    assert library.entries(repo.head, "no/such") == program.entries(repo.head, "no/such") == ()
    assert {entry.kind for entry in library.entries(repo.head)} == {"blob", "commit"}


def test_both_readers_give_the_same_bytes_and_none_for_what_is_no_blob(repo: Repo) -> None:
    library, program = readers(repo)
    ids = [entry.id for entry in library.entries(repo.head)] + ["0" * 40, repo("git rev-parse HEAD^{tree}")]
    assert library.blobs(ids) == program.blobs(ids)
    assert min(data for data in library.blobs(ids).values() if data is not None) == b""
    assert list(library.blobs(ids).values()).count(None) == 3  # the submodule, nothing, a tree


# what happens to the work tree -> detached, whether the index is still HEAD's tree
HEADS: list[tuple[str, bool, bool]] = [
    ("git switch -q --detach", True, True),
    ("git switch -q -c other", False, True),
    ("git rm -q a.txt", False, False),
    ("rm a.txt", False, True),
]


@pytest.mark.parametrize(("act", "detached", "equal"), HEADS)
def test_both_readers_see_the_same_head(repo: Repo, act: str, detached: bool, equal: bool) -> None:
    repo(act)
    library, program = readers(repo)
    assert library.head() == program.head()
    assert (library.head().detached, library.head().index_equal) == (detached, equal)


def test_both_readers_refuse_what_is_missing(repo: Repo) -> None:
    for reader in readers(repo):
        with pytest.raises(Blocked):
            reader.entries("0" * 40)


def test_an_unborn_head_is_told_by_both(kit: Kit) -> None:
    for reader in readers(kit.repo("unborn")):
        with pytest.raises(EnvironmentFault):
            reader.head()


# configuration or format -> the reader that serves
CHOICES: list[tuple[list[str], str]] = [
    (["git", "config", "core.repositoryFormatVersion", "0"], "libgit2"),
    (["git", "update-index", "--split-index"], "git"),
    (["git", "sparse-checkout", "set", "--cone", "--sparse-index", "deep"], "git"),
    (["git", "config", "extensions.unheardOf", "true"], "git"),
]


@pytest.mark.parametrize(("act", "name"), CHOICES)
def test_what_libgit2_cannot_open_is_read_by_git(repo: Repo, act: list[str], name: str) -> None:
    if "extensions.unheardOf" in act:
        repo("git config core.repositoryFormatVersion 1")
    repo(act)
    assert open_objects(Git(repo.path), repo.path).name == name


def test_a_name_is_resolved_to_object_commit_and_tree(repo: Repo) -> None:
    repo("git tag -a -m v1 v1")
    found = resolve(Git(repo.path), "v1")
    assert found == Resolved(*(repo(["git", "rev-parse", f"v1{peel}"]) for peel in ("", "^{commit}", "^{tree}")))
    assert resolve(Git(repo.path), repo.head[:8]) == Resolved(repo.head, repo.head, repo("git rev-parse HEAD^{tree}"))


def test_an_abbreviation_of_several_commits_is_ambiguous(repo: Repo) -> None:
    tree = repo("git rev-parse HEAD^{tree}")
    made: dict[str, str] = {}
    for number in range(2000):  # two of them share four digits, by the birthday
        made_id = repo(["git", "commit-tree", "-m", str(number), tree])
        if made_id[:4] in made:
            found = resolve(Git(repo.path), made_id[:4])
            assert isinstance(found, Unresolved)
            assert "beginning of several" in found.why
            assert commits_of(Git(repo.path), [made_id[:4]]) == {made_id[:4]: None}
            return
        made[made_id[:4]] = made_id
    pytest.fail("no two commits shared four digits")


def rewrite_same(repo: Repo) -> None:
    repo.write("a.txt", (repo.path / "a.txt").read_bytes())


# what is done to a source -> the path that is told
TOUCHES: list[tuple[Callable[[Repo], object], str]] = [
    (rewrite_same, "tree:a.txt"),
    (lambda repo: repo.write("new", "x"), "tree:new"),
    (lambda repo: (repo.path / "run.sh").chmod(0o644), "tree:run.sh"),
    (lambda repo: (repo.path / "empty").unlink(), "tree:empty"),
    (lambda repo: os.utime(repo.path / ".git/index"), "git:index"),
    (lambda repo: repo("git branch other"), "git:refs/heads/other"),
    (lambda repo: repo("git branch objects/lfs"), "git:refs/heads/objects/lfs"),
    (lambda repo: repo("git config a.b c"), "git:config"),
    (lambda repo: repo("git switch -q --detach"), "git:HEAD"),
    (lambda repo: repo.write(".git/hooks/post-checkout", "x"), "git:hooks/post-checkout"),
    (lambda repo: repo("git update-ref refs/afd/pins/other/x HEAD"), "git:refs/afd/pins/other/x"),
]


@pytest.mark.parametrize(("touch", "told"), TOUCHES)
def test_every_touch_is_noticed(repo: Repo, touch: Callable[[Repo], object], told: str) -> None:
    before = fingerprint(repo.path, repo.path / ".git")
    touch(repo)
    added = ("git:refs/afd/pins/U-1", "git:worktrees/U-1-vllm")
    assert told in differences(before, fingerprint(repo.path, repo.path / ".git"), added)


def test_what_is_ours_is_allowed_and_nothing_beside_it(repo: Repo) -> None:
    before = fingerprint(repo.path, repo.path / ".git")
    repo("git update-ref refs/afd/pins/U-1/vllm/target HEAD")
    repo.write(".git/worktrees/U-1-vllm/HEAD", "x")
    after = fingerprint(repo.path, repo.path / ".git")
    added = ("git:refs/afd/pins/U-1", "git:worktrees/U-1-vllm")
    assert differences(before, after, added) == ()
    assert before.without(added).digest == after.without(added).digest
    assert differences(before, after, added[:1]) == (
        "git:worktrees",
        "git:worktrees/U-1-vllm",
        "git:worktrees/U-1-vllm/HEAD",
    )


def test_taking_a_fingerprint_changes_nothing(repo: Repo) -> None:
    first = fingerprint(repo.path, repo.path / ".git")
    assert differences(first, fingerprint(Path(repo.path), repo.path / ".git"), ()) == ()
