from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

from kit import Repo

from git_afd.adapters.git import Git
from git_afd.adapters.ledger import Ledger
from git_afd.adapters.session import open_session
from git_afd.core.fold import fold
from git_afd.core.names import LEDGER_REF
from git_afd.core.records import Draft
from git_afd.core.state import State

FOREIGN = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def ledger_of(repo: Repo) -> Ledger:
    return open_session(repo.path).ledger


def append(path: Path, writer: int, count: int) -> None:
    session = open_session(path)
    for number in range(count):
        draft = Draft("remark", "U-none", {"writer": writer, "number": number}, session.head or "")
        session.ledger.transact(lambda _, draft=draft: (draft,))  # type: ignore[misc]  # a loop variable, bound


def test_a_repository_without_a_ledger_reads_as_absent_and_is_not_written_to(repo: Repo) -> None:
    repo.commit()
    reading = ledger_of(repo).read()
    assert reading.tip is None
    assert reading.state == State()
    assert not (repo.path / ".git/afd").exists()


def meddle(path: Path, count: int) -> None:
    """Move the ledger's ref with plain git, as a fetch or a colleague's script would: a foreign line, by swap."""
    git, moved = Git(path), 0
    while moved < count:
        old = git.run("rev-parse", "--verify", "--quiet", LEDGER_REF).text
        if not old:
            continue
        made = git("commit-tree", f"{old}^{{tree}}", "-p", old, "-m", "foreign", env=FOREIGN)
        moved += git.run("update-ref", LEDGER_REF, made, old, locks=True).ok
        time.sleep(0.02)


def test_eight_parallel_writers_and_a_foreign_one_lose_nothing(repo: Repo) -> None:
    repo.commit()
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append, args=(repo.path, number, 5)) for number in range(8)]
    everybody = [*writers, context.Process(target=meddle, args=(repo.path, 8))]
    for writer in everybody:
        writer.start()
    for writer in everybody:
        writer.join(100)
    records = ledger_of(repo).records()
    assert [writer.exitcode for writer in everybody] == [0] * 9
    assert len(records) == 40
    assert {(r.body["writer"], r.body["number"]) for r in records} == {(w, n) for w in range(8) for n in range(5)}
    assert sorted(record.seq for record in records) == list(range(1, 41))
    assert [len(record.prev) for record in records] == [0, *[1] * 39]  # one chain, no forks
    assert repo(["git", "log", "--format=%s", LEDGER_REF]).splitlines().count("foreign") == 8
    assert len(repo("git for-each-ref refs/notes").splitlines()) == 1
    assert ledger_of(repo).read(fresh=True).readable


def test_a_decision_that_holds_already_writes_nothing(repo: Repo) -> None:
    repo.commit()
    _, written = ledger_of(repo).transact(lambda _: ())
    assert written == ()
    assert ledger_of(repo).tip() is None


def test_the_cached_state_equals_a_fresh_fold_and_may_be_deleted_at_any_moment(repo: Repo) -> None:
    head = repo.commit()
    ledger = ledger_of(repo)
    for number in range(3):
        ledger.transact(lambda _, number=number: (Draft("remark", "U", {"n": number}, head),))  # type: ignore[misc]
    cached = ledger.read().state
    assert cached == fold(ledger.records())
    for file in (ledger.home / "cache").iterdir():
        file.unlink()
    assert ledger.read().state == cached
