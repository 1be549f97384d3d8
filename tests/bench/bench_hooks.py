"""The hooks beside a bare start of Python: idle, judging at ten and at ten thousand records, and in a real commit.

Run by hand: ``python tests/bench/bench_hooks.py``. All are done in turn, so that a busy machine slows all.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "hooks"))

from big_ledger import bare_start, medians
from kit import Kit, Repo
from kit_hooks import PLAN, announce, message, upgrade
from kit_upgrade import FrozenUpgrade

TIMES = 41


def many_records(folder: Path, count: int) -> FrozenUpgrade:
    """Return an upgrade with an announced commit and at least `count` records; its message lies in .git/MESSAGE."""
    folder.mkdir()
    case = upgrade(Kit(folder))
    case.plugin("git checkout -q -- .")
    common = {"gate": "static", "commit": case.plugin.head, "artifacts": {}}
    bound = {"content": "c" * 64, "whole": "w" * 64, "commits": "m" * 64, "policy": "p" * 64}
    run = {**common, "op": "finished", "status": "FAIL", "bound": bound}
    for start in range(10, count, 1000):
        numbers = range(start, min(start + 1000, count))
        case.record(*(("run", {**run, "run": f"run-{number}"}) for number in numbers))
    prepare(case, 0)
    return case


def prepare(case: FrozenUpgrade, number: int) -> None:
    """Announce the next commit."""
    intent = announce(case, {path: f"{text}# {number}\n" for path, text in PLAN.items()})
    case.plugin.write(".git/MESSAGE", message(case, intent))


def fire(repo: Repo, stage: str, code: int = 0) -> None:
    """Run one hook as git does."""
    words = [f".git/hooks/{stage}", *([".git/MESSAGE"] if stage == "commit-msg" else [])]
    done = subprocess.run(words, cwd=repo.path, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == code, (stage, done.returncode)


def commit(repo: Repo, *settings: str) -> None:
    """Commit what is staged."""
    subprocess.run(["git", *settings, "commit", "-q", "-F", ".git/MESSAGE"], cwd=repo.path, check=True)


def main() -> None:
    """Print medians as ratios."""
    with tempfile.TemporaryDirectory() as name:
        os.environ.update(HOME=name, GIT_CONFIG_NOSYSTEM="1")
        Path(name, ".gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
        few, many = (many_records(Path(name) / str(count), count) for count in (10, 10_000))
        free = Kit(Path(name)).repo("free")
        free(["cp", "-r", str(few.plugin.path / ".git/hooks"), ".git/"])
        free.commit()
        judged = [
            lambda _, c=case, s=stage: fire(c.plugin, s)
            for case in (few, many)
            for stage in ("pre-commit", "commit-msg")
        ]
        bare, idle, *rest = medians(bare_start, lambda _: fire(free, "pre-commit"), *judged, times=TIMES)
        off = ("-c", "core.hooksPath=/dev/null")
        announced = lambda number: prepare(many, number + 1)  # noqa: E731 - one of the acts
        again = lambda number: prepare(many, number + 1000)  # noqa: E731 - same
        _, plain, _, hooked = medians(
            announced, lambda _: commit(many.plugin, *off), again, lambda _: commit(many.plugin), times=15
        )
        (many.plugin.path / ".git/afd-intent").unlink()
        (refused,) = medians(lambda _: fire(many.plugin, "pre-commit", 3), times=9)
    print(f"bare start of Python: {bare:.1f} ms; all else in bare starts")
    print(f"a branch without an upgrade: {idle / bare:.2f}")
    for (stage, count), taken in zip(
        [(s, c) for c in (10, 10_000) for s in ("pre-commit", "commit-msg")], rest, strict=True
    ):
        print(f"{stage}, {count} records: {taken / bare:.2f}")
    print(f"both hooks in a real commit: +{(hooked - plain) / bare:.2f} (the commit itself {plain / bare:.2f})")
    print(f"a refusal with its reason, 10000 records: {refused / bare:.1f}")


if __name__ == "__main__":
    main()
