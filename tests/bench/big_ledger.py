"""Builds ledgers of any size for the benchmarks, through git's own fast-import, and measures medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "ledger"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from chronicle import ADA, FREEZE, cause, phase, run

from git_afd.adapters.configuration import read_policy
from git_afd.core.outcome import Json
from git_afd.core.records import Draft, Record, chain, line_of

BRANCH, UPGRADE = "upgrade/v2", "U-bench"


def bodies(base: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """A long upgrade: a freeze, then runs, phases, root causes and approvals in turn, for ever."""
    text = (files("git_afd") / "profiles" / "npu.toml").read_text(encoding="utf-8")
    policy: dict[str, Json] = {"digest": read_policy(text, "bench").digest, "text": text}
    yield "freeze", {**FREEZE, "base": base, "branch": BRANCH, "policy": policy}
    yield "phase", phase("FREEZE_IDENTITY")
    number = 0
    while True:
        number += 1
        bound: dict[str, Json] = {"content": "c" * 64, "whole": "w" * 64, "commits": "m" * 64, "policy": "p" * 64}
        artifacts: dict[str, Json] = {"junit.xml": f"{number:064x}", "log": f"{number:064x}"}
        yield "run", {"run": f"run-{number}", "op": "started", "gate": "static", "commit": base}
        yield "run", run(f"run-{number}", "static", "FAIL", bound=bound, artifacts=artifacts)
        yield "phase", phase("STATIC_AND_UNIT_GATE", "FAIL", (f"{number:064x}",))
        if number % 4 == 0:
            yield "root-cause", cause(f"RC-{number // 4}", title="a root cause", upstream=["vllm: a.py::B: c"])
        if number % 50 == 0:
            yield "approval", {"what": "skip", "subject": f"t{number}", "name": "Ada", "reason": "documented"}


def build(folder: Path, records: int) -> tuple[Path, list[str]]:
    """Make a repository with `records` records, one per note on a commit of its own; return it and the commits."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", BRANCH)
    head = f"commit refs/heads/{BRANCH}\nmark :{{0}}\ncommitter {ADA} {{1}} +0000\ndata 1\nx\n"
    commits = "".join(head.format(n, 1_700_000_000 + n) for n in range(1, records + 1))
    git(folder, "fast-import", "--quiet", stdin=commits.encode())
    ids = git(folder, "rev-list", "--reverse", BRANCH).split()
    source = bodies(ids[0])
    drafts = [Draft(kind, UPGRADE, body, commit) for commit, (kind, body) in zip(ids, source, strict=False)]
    sealed = chain(drafts, 0, (), at="2026-08-01T10:00:00Z", by=ADA, tool="git-afd bench")
    git(folder, "fast-import", "--quiet", stdin=_notes(ids, sealed))
    git(folder, "config", f"branch.{BRANCH}.afd", UPGRADE)
    git(folder, "config", "user.name", "Ada Example")
    git(folder, "config", "user.email", "ada@example.org")
    git(folder, "reset", "-q", "--soft", BRANCH)
    return folder, ids


def _notes(commits: list[str], records: list[Record]) -> bytes:
    lines = [f"commit refs/notes/afd/ledger\ncommitter {ADA} 1700000000 +0000\ndata 1\nx\n"]
    for commit, record in zip(commits, records, strict=True):
        text = line_of(record) + "\n"
        lines.append(f"N inline {commit}\ndata {len(text)}\n{text}\n")
    return "".join(lines).encode()


def git(folder: Path, *args: str, stdin: bytes = b"") -> str:
    """Run git and insist."""
    done = subprocess.run(["git", *args], cwd=folder, input=stdin, capture_output=True, check=True)
    return done.stdout.decode().strip()


def medians(*acts: Callable[[int], object], times: int = 15) -> tuple[float, ...]:
    """Return the median of each act in milliseconds; they take turns, so that a busy machine slows all alike."""
    taken: list[list[float]] = [[] for _ in acts]
    for number in range(times):
        for act, durations in zip(acts, taken, strict=True):
            start = time.perf_counter()
            act(number)
            durations.append((time.perf_counter() - start) * 1000)
    return tuple(statistics.median(durations) for durations in taken)


def peak_memory(argv: list[str], cwd: Path) -> float:
    """Return the peak resident memory of one execution in MB."""
    child = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / 1024


def bare_start(_: int) -> None:
    """Start an interpreter that does nothing."""
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
