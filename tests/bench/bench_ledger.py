"""Appending to a ledger of ten thousand notes, beside plain ``git notes append``.

Run by hand: ``python tests/bench/bench_ledger.py``. Both are done in turn, so that a busy machine slows both.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from big_ledger import UPGRADE, build, git, medians

from git_afd.adapters.session import open_session
from git_afd.core.records import Draft

BAR = 4.5


def main(notes: int = 10_000) -> None:
    """Print medians and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        repo, commits = build(Path(folder) / "r", notes)
        git(repo, "update-ref", "refs/notes/afd/plain", "refs/notes/afd/ledger")
        ledger = open_session(repo).ledger
        ledger.read()
        body = {"what": "skip", "subject": "t", "name": "Ada", "reason": "documented"}

        def append(number: int) -> None:
            ledger.transact(lambda _: (Draft("approval", UPGRADE, body, commits[100 + number]),))

        def plainly(number: int) -> None:
            git(repo, "notes", "--ref", "afd/plain", "append", "-m", "x", commits[100 + number])

        plain, ours = medians(plainly, append, times=31)
        assert len(ledger.records()) == notes + 31
    print(f"plain git notes append at {notes} notes: {plain:.1f} ms")
    print(f"transact (lock, read, decide, append, cache): {ours:.1f} ms = {ours / plain:.2f} x plain (bar {BAR})")


if __name__ == "__main__":
    main()
