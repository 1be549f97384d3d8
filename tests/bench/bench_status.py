"""``git afd status`` at ten and at ten thousand records, warm, cold and right after an append.

Run by hand: ``python tests/bench/bench_status.py``. All are done in turn, so that a busy machine slows all.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from big_ledger import UPGRADE, bare_start, build, medians, peak_memory

from git_afd.adapters.session import open_session
from git_afd.core.records import Draft

ROOT = Path(__file__).resolve().parent.parent.parent
START = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from git_afd.cli.entry import main; main()"
STATUS = [sys.executable, "-c", START, "status"]


def status(repo: Path) -> None:
    """Run one `status`."""
    subprocess.run(STATUS, cwd=repo, stdout=subprocess.DEVNULL, check=True)


def main(many: int = 10_000) -> None:
    """Print medians as ratios."""
    with tempfile.TemporaryDirectory() as folder:
        small, _ = build(Path(folder) / "small", 10)
        large, commits = build(Path(folder) / "large", many)
        bare, ten, warm = medians(bare_start, lambda _: status(small), lambda _: status(large), times=15)
        ledger = open_session(large).ledger
        body = {"what": "skip", "subject": "t", "name": "Ada", "reason": "documented"}

        def append(number: int) -> None:
            ledger.transact(lambda _: (Draft("approval", UPGRADE, body, commits[number]),))

        _, after = medians(append, lambda _: status(large), times=9)
        memory = peak_memory(STATUS, large)

        def forget(_: int) -> None:
            shutil.rmtree(large / ".git/afd/cache")

        _, cold, again = medians(forget, lambda _: status(large), lambda _: status(small), times=7)
        forget(0)
        memory_cold = peak_memory(STATUS, large)
    print(f"bare start: {bare:.1f} ms; status with 10 records: {ten:.0f} ms = {ten / bare:.1f} bare starts")
    print(f"status with {many} records, warm: {warm / ten:.2f} x that with 10 (bar 1.5)")
    print(f"status with {many} records, cold: {cold / again:.2f} x that with 10 warm (bar 5)")
    print(f"status with {many} records, right after an append: {after / ten:.2f} x that with 10 warm")
    print(f"peak memory: {memory:.0f} MB warm, {memory_cold:.0f} MB cold (bar 200)")


if __name__ == "__main__":
    main()
