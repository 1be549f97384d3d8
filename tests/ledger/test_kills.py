"""A writer is killed before and after each git process of an append: nothing lost, nothing half-written (D1, C9)."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path

import pytest
from kit import ROOT, Repo

from git_afd.adapters.session import open_session
from git_afd.core.names import LEDGER_REF
from git_afd.core.records import Draft

REAL_GIT = shutil.which("git") or "git"

# A git that kills its caller: before the n-th call of a transaction, or after it. Killed with the caller's whole
# luck: the git process itself has not begun, or has finished, when nobody is left to hear of it.
KILLER = f"""#!{sys.executable}
import os, signal, subprocess, sys
count = os.path.join(os.environ["KILL_DIR"], "count")
number = int(open(count).read()) + 1 if os.path.exists(count) else 1
open(count, "w").write(str(number))
with open(os.path.join(os.environ["KILL_DIR"], "calls"), "a") as log:
    log.write(" ".join(a for a in sys.argv[1:] if "=" not in a and a != "-c").split()[0] + "\\n")
at, when = int(os.environ["KILL_AT"]), os.environ["KILL_WHEN"]
if number == at and when == "before":
    os.kill(os.getppid(), signal.SIGKILL)
    sys.exit(1)
code = subprocess.call([{REAL_GIT!r}, *sys.argv[1:]])
if number == at:
    os.kill(os.getppid(), signal.SIGKILL)
sys.exit(code)
"""


def append(path: Path, body: dict[str, object]) -> None:
    session = open_session(path)
    session.ledger.transact(lambda _: [Draft("remark", "U", body, session.head or "")])


WRITER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from git_afd.adapters.session import open_session
from git_afd.core.records import Draft
session = open_session(Path("."))
os.environ["PATH"] = os.environ["KILL_DIR"] + os.pathsep + os.environ["PATH"]
session.ledger.transact(lambda _: (Draft("remark", "U", {"by": sys.argv[2]}, session.head),))
"""


def killed_append(repo: Repo, folder: Path, at: int, when: str) -> int:
    """Append in a child whose git kills it at its `at`-th call; return the child's exit code."""
    env = {"KILL_DIR": str(folder), "KILL_AT": str(at), "KILL_WHEN": when}
    return repo.run([sys.executable, "-c", WRITER, str(ROOT), f"{when} {at}"], env=env).code


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_writer_leaves_the_old_ledger_or_the_new_one(repo: Repo, tmp_path: Path, when: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(KILLER)
    (folder / "git").chmod(0o755)
    repo.commit()
    append(repo.path, {"n": 0})
    calls = folder / "calls"
    at, moved = 0, 0
    while True:
        at += 1
        (folder / "count").unlink(missing_ok=True)
        calls.write_text("")
        before = open_session(repo.path).ledger.records()
        ended = killed_append(repo, folder, at, when)
        after = open_session(repo.path).ledger.read(fresh=True)
        now = open_session(repo.path).ledger.records()
        assert after.readable
        assert now[: len(before)] == before
        assert repo("git for-each-ref --format=%(refname)").splitlines() == ["refs/heads/main", LEDGER_REF]
        assert len(now) - len(before) in (0, 1)
        moved += len(now) - len(before)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        append(repo.path, {"next": at})  # the next writer finds the lock free and nothing in its way
    assert calls.read_text().split() == ["for-each-ref", "cat-file", "unpack-objects", "update-ref"]
    assert moved == (1 if when == "before" else 2)  # the last, which was not killed; and one killed after the ref moved
    assert "missing" not in repo("git fsck")


def test_a_ref_that_was_left_by_an_older_way_of_writing_is_nobody_s_business(repo: Repo) -> None:
    head = repo.commit()
    repo(["git", "update-ref", "refs/notes/somebody", head])
    append(repo.path, {"n": 1})
    assert repo("git rev-parse refs/notes/somebody") == head
