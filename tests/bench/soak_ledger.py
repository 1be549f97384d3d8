"""Fifty processes append at once, beside two that move the ref with plain git: nothing is lost (scenario D1).

Run by hand: ``python tests/bench/soak_ledger.py [WRITERS] [RECORDS]``, by default 50 and 20. Needs minutes.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "ledger"))

from big_ledger import build
from test_ledger import append, meddle

from git_afd.adapters.session import open_session


def main(writers: int = 50, count: int = 20) -> None:
    """Append, count, and say how long it took."""
    with tempfile.TemporaryDirectory() as folder:
        repo, _ = build(Path(folder) / "r", 3)
        context = multiprocessing.get_context("spawn")
        crew = [context.Process(target=append, args=(repo, number, count)) for number in range(writers)]
        crew += [context.Process(target=meddle, args=(repo, writers)) for _ in range(2)]
        start = time.monotonic()
        for one in crew:
            one.start()
        for one in crew:
            one.join()
        taken = time.monotonic() - start
        reading, records = open_session(repo).ledger.read(fresh=True), open_session(repo).ledger.records()
    assert reading.readable
    assert [one.exitcode for one in crew] == [0] * len(crew)
    assert len(records) == 3 + writers * count
    print(f"{writers} writers, {count} records each, 2 foreign: nothing lost in {taken:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
