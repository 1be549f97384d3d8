"""Notes are found and written in whatever layout git keeps them (scenario D9), and git agrees with what we wrote."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import Kit, Repo

from git_afd.adapters.ledger import Ledger
from git_afd.adapters.notes import Notes
from git_afd.adapters.session import open_session
from git_afd.core import notes_tree
from git_afd.core.git_objects import DIRECTORY, tree
from git_afd.core.names import LEDGER_REF
from git_afd.core.notes_tree import Level, parse_level, places, put
from git_afd.core.records import Draft

NAMES = [hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest() for number in range(1100)]


def ledger_of(repo: Repo) -> Ledger:
    return open_session(repo.path).ledger


def commits(repo: Repo, count: int) -> list[str]:
    """Make `count` commits in one process."""
    one = "commit refs/heads/main\nmark :{0}\ncommitter A <a@example.org> {0} +0000\ndata 1\nx\n"
    repo("git fast-import --quiet", stdin="".join(one.format(number) for number in range(1, count + 1)))
    return repo("git rev-list --reverse main").splitlines()


def git_notes(repo: Repo, ref: str = LEDGER_REF) -> dict[str, str]:
    """What git itself lists: annotated object to blob."""
    return dict(line.split()[::-1] for line in repo(["git", "notes", "--ref", ref, "list"]).splitlines())


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
@pytest.mark.parametrize("count", [3, 500])
def test_notes_of_any_fan_out_are_read_and_extended(kit: Kit, count: int, options: tuple[str, ...]) -> None:
    repo = kit.repo("r", *options)
    ids = commits(repo, count)
    ledger = ledger_of(repo)
    drafts = [Draft("remark", "U", {"n": number}, name) for number, name in enumerate(ids)]
    ledger.transact(lambda _: drafts)
    ledger.transact(lambda _: [Draft("remark", "U", {"again": True}, ids[1]), Draft("remark", "U", {}, ids[-1])])
    assert list(git_notes(repo)) == sorted(ids)
    assert len(repo(["git", "notes", "--ref", LEDGER_REF, "show", ids[1]]).splitlines()) == 2
    assert len(ledger.records()) == count + 2
    assert "error" not in repo("git fsck --strict --no-dangling")
    top = [line.split()[1] for line in repo(["git", "ls-tree", LEDGER_REF]).splitlines()]
    assert set(top) == ({"blob"} if count == 3 else {"tree"})


def test_a_ledger_that_plain_git_has_written_over_is_still_one(repo: Repo) -> None:
    ids = commits(repo, 300)
    ledger = ledger_of(repo)
    ledger.transact(lambda _: [Draft("remark", "U", {"n": n}, name) for n, name in enumerate(ids[:290])])
    for name in ids[280:]:  # a foreign note beside ours, and beyond: git lays the tree out anew
        repo(["git", "notes", "--ref", LEDGER_REF, "append", "-m", "", "--allow-empty", name])
    ledger.transact(lambda _: [Draft("remark", "U", {"n": n}, ids[n]) for n in (0, 280, 295)])
    assert len(ledger.records()) == 293
    assert ledger.read().damage == ()
    assert len(git_notes(repo)) == 300


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7, 19])
def test_a_layout_of_any_depth_is_read_and_extended_in_its_place(repo: Repo, depth: int) -> None:
    ids = commits(repo, 2)
    ledger = ledger_of(repo)
    ledger.transact(lambda _: [Draft("remark", "U", {"n": 1}, ids[0])])
    blob = git_notes(repo)[ids[0]]
    deep = "/".join([*(ids[0][at : at + 2] for at in range(0, depth * 2, 2)), ids[0][depth * 2 :]])
    env = {"GIT_INDEX_FILE": str(repo.path / ".git/deep")}
    repo("git update-index --index-info", stdin=f"100644 {blob}\t{deep}\n", env=env)
    made = repo(["git", "commit-tree", repo("git write-tree", env=env), "-p", LEDGER_REF, "-m", "deep"])
    repo(["git", "update-ref", LEDGER_REF, made])
    ledger.transact(lambda _: [Draft("remark", "U", {"n": 2}, name) for name in ids])
    assert len(ledger.records()) == 3
    assert sorted(git_notes(repo)) == sorted(ids)
    assert deep in repo(["git", "ls-tree", "-r", "--name-only", LEDGER_REF]).splitlines()
    assert len(repo(["git", "notes", "--ref", LEDGER_REF, "show", ids[0]]).splitlines()) == 2


def test_a_note_that_odd_merges_left_in_two_places_becomes_one(repo: Repo) -> None:
    ids = commits(repo, 2)
    ledger = ledger_of(repo)
    ledger.transact(lambda _: [Draft("remark", "U", {"n": 1}, ids[0])])
    ledger.transact(lambda _: [Draft("remark", "U", {"n": 2}, ids[1])])
    first, second = (git_notes(repo)[name] for name in ids)
    env = {"GIT_INDEX_FILE": str(repo.path / ".git/odd")}
    twice = f"100644 {first}\t{ids[0]}\n100644 {second}\t{ids[0][:2]}/{ids[0][2:]}\n"
    repo("git update-index --index-info", stdin=twice, env=env)
    made = repo(["git", "commit-tree", repo("git write-tree", env=env), "-p", LEDGER_REF, "-m", "odd"])
    repo(["git", "update-ref", LEDGER_REF, made])
    assert len(ledger.records()) == 2
    ledger.transact(lambda _: [Draft("remark", "U", {"n": 3}, ids[0])])
    assert [record.body["n"] for record in ledger.records()] == [1, 2, 3]
    assert len(repo(["git", "ls-tree", "-r", "--name-only", LEDGER_REF]).splitlines()) == 1


def test_files_that_are_no_notes_stay_as_they_are(repo: Repo) -> None:
    head = repo.commit()
    blob = repo("git hash-object -w --stdin", stdin="read me")
    made = repo("git mktree", stdin=f"100644 blob {blob}\tREADME\n100755 blob {blob}\tzz\n")
    repo(["git", "update-ref", LEDGER_REF, repo(["git", "commit-tree", made, "-m", "x"])])
    ledger = ledger_of(repo)
    assert [item.place for item in ledger.read().damage] == ["README", "zz"]
    new = Notes(ledger.git).extended(ledger.tip(), {head: "line\n"}, "m", "A <a@example.org>", 1)
    assert repo(["git", "ls-tree", "--name-only", new]).splitlines() == sorted(["README", "zz", head])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(NAMES), max_size=1100), st.integers(1, 40))
def test_every_note_is_on_one_of_its_places_and_none_is_lost(names: list[str], full: int) -> None:
    root, limit = Level(), notes_tree.FULL
    notes_tree.FULL = full  # type: ignore[misc]  # a small limit reaches three levels with few notes
    try:
        for name in names:
            put(root, name, "b" * 40)
    finally:
        notes_tree.FULL = limit  # type: ignore[misc]  # as above
    found = sorted(_paths(root))
    assert sorted(path.replace("/", "") for path in found) == sorted(set(names))
    for path in found:
        assert path in {place for _, place in places(path.replace("/", ""))}


def _paths(level: Level) -> list[str]:
    below = [f"{name}/{path}" for name, folder in level.opened.items() for path in _paths(folder)]
    return [*level.entries, *below]


def test_a_tree_is_written_byte_for_byte_as_git_writes_it(repo: Repo) -> None:
    repo.commit("odd names", {"a.b": "1", "a/b": "2", "a0": "3", "a-": "4", "\xe9": "5", "ab/x": "6"})
    raw = repo.run("git cat-file tree HEAD^{tree}").out.encode("utf-8", "surrogateescape")
    level = parse_level(raw, 20)
    assert level.entries["a"][0] == DIRECTORY
    assert tree(level.entries, 20).data == raw
    assert tree(level.entries, 20).id == repo("git rev-parse HEAD^{tree}")
