"""Two clones write, git merges their notes with ``cat_sort_uniq`` on a scratch ref: everybody computes one state."""

from __future__ import annotations

import shutil

import pytest
from chronicle import ADA, BOB, FREEZE, UPGRADE, cause, phase
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import Kit, Repo

from git_afd.adapters.git import Git
from git_afd.adapters.ledger import Ledger, Reading
from git_afd.core.fold import fold
from git_afd.core.names import LEDGER_REF
from git_afd.core.outcome import Json
from git_afd.core.records import Draft

SCRATCH = "refs/notes/afd-merging"


def ledger_of(repo: Repo, actor: str) -> Ledger:
    return Ledger(Git(repo.path), repo.path / ".git", actor, lambda: "2026-08-01T10:00:00Z")


def write(repo: Repo, actor: str, *said: tuple[str, dict[str, Json], str]) -> Reading:
    ledger = ledger_of(repo, actor)
    for kind, body, commit in said:
        ledger.transact(lambda _, kind=kind, body=body, commit=commit: (Draft(kind, UPGRADE, body, commit),))  # type: ignore[misc]  # bound
    return ledger.read()


def merge(repo: Repo, other: Repo) -> Reading:
    """Bring the other's ledger in the way the sync does: fetched beside, merged on a scratch ref, then swapped in."""
    repo(["git", "fetch", "-q", str(other.path), f"+{LEDGER_REF}:refs/afd/theirs"])
    repo(["git", "update-ref", SCRATCH, LEDGER_REF])
    repo(["git", "notes", "--ref", SCRATCH, "merge", "-q", "-s", "cat_sort_uniq", "refs/afd/theirs"])
    repo(["git", "update-ref", LEDGER_REF, SCRATCH])
    return ledger_of(repo, ADA).read()


def pair(kit: Kit, folder: str) -> tuple[Repo, Repo, list[str]]:
    ada = kit.repo(f"{folder}/ada")
    commits = [ada.commit(str(number)) for number in range(3)]
    write(
        ada,
        ADA,
        ("freeze", {**FREEZE, "base": commits[0]}, commits[0]),
        ("phase", phase("FREEZE_IDENTITY"), commits[0]),
    )
    bob = Repo(ada.path.parent / "bob")
    shutil.copytree(ada.path, bob.path)
    return ada, bob, commits


Said = list[tuple[tuple[str, dict[str, Json]], int]]
SAID: st.SearchStrategy[Said] = st.lists(
    st.tuples(
        st.sampled_from([("root-cause", cause("RC-1")), ("root-cause", cause("RC-2")), ("remark", {})]),
        st.integers(0, 2),
    ),
    max_size=3,
)


@settings(max_examples=5, deadline=None)
@given(SAID, SAID)
def test_merged_ledgers_give_one_state_whoever_merges(
    tmp_path_factory: pytest.TempPathFactory, mine: Said, yours: Said
) -> None:
    ada, bob, commits = pair(Kit(tmp_path_factory.mktemp("pair")), "p")
    for repo, actor, said in ((ada, ADA, mine), (bob, BOB, yours)):
        write(repo, actor, *((kind, {**body, "who": actor}, commits[at]) for (kind, body), at in said))
    union = {record.id: record for repo in (ada, bob) for record in ledger_of(repo, ADA).records()}
    here, there = merge(ada, bob), merge(bob, ada)
    assert here.state == there.state == fold(union.values())
    assert here.damage == there.damage == ()
    assert len(union) == 2 + len(mine) + len(yours)


def test_after_a_merge_the_next_record_has_seen_both_sides(kit: Kit) -> None:
    ada, bob, commits = pair(kit, "p")
    write(ada, ADA, ("remark", {"a": 1}, commits[1]))
    write(bob, BOB, ("remark", {"b": 1}, commits[1]), ("remark", {"b": 2}, commits[1]))
    heads = merge(ada, bob).state.heads
    assert len(heads) == 2
    write(ada, ADA, ("remark", {"a": 2}, commits[1]))
    newest = ledger_of(ada, ADA).records()[-1]
    assert (newest.prev, newest.seq) == (heads, 5)


def test_the_same_number_taken_twice_is_reported_and_the_second_does_not_count(kit: Kit) -> None:
    ada, bob, commits = pair(kit, "p")
    write(ada, ADA, ("root-cause", cause("RC-1", title="Ada's"), commits[1]))
    write(bob, BOB, ("root-cause", cause("RC-1", title="Bob's"), commits[1]))
    state = merge(ada, bob).state
    assert len(state.upgrades[UPGRADE].root_causes) == 1
    assert "RC-1 is taken; add it again to get the next free number" in state.findings[0].message
