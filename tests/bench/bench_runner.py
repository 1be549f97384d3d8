"""What the runner of gate commands costs: beside a command that computes, and under one that prints a gigabyte.

Run by hand: ``python tests/bench/bench_runner.py [SECONDS [GIGABYTES]]`` (60 and 1). The command that computes does a
fixed piece of work, alone and through the runner in turn, and says itself how much processor time it took: the time
that the runner and its warden took beside it does not depend on what else the machine does.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from git_afd.adapters.kept_log import log_ends, log_text  # noqa: E402 - this tree, not an installed one
from git_afd.adapters.process import ProcessResult, run_command  # noqa: E402 - same
from git_afd.cli.screen import AGAIN_S, Screen  # noqa: E402 - same

WORK = """import sys, time
end, total, line = float(sys.argv[1]), 0, 0
began = time.process_time()
while time.process_time() - began < end:
    total += sum(range(100_000))
    if time.process_time() - began > line:
        line += 0.05
        print(f'INFO step {total % 1000003}: {time.process_time() - began:.3f} s of processor time')
"""
FLOOD = """import os, sys
block = b''.join(b'INFO 12-01 10:00:%02d [engine.py:%d] step %d: %.2f tokens/s, %d requests\\n'
                 % (n % 60, n * 7919 % 977, n, n * 0.37 % 911, n * 31 % 257) for n in range(14_000))[:1 << 20]
for _ in range(int(sys.argv[1])): os.write(1, block)
"""


def main(seconds: float = 60.0, gigabytes: float = 1.0) -> None:
    """Print what it costs."""
    with tempfile.TemporaryDirectory() as folder:
        computing(Path(folder), seconds)
        flood(Path(folder), int(gigabytes * 1024))


def computing(folder: Path, seconds: float) -> None:
    """Run the same work alone and through the runner."""
    words = [sys.executable, "-c", WORK, str(seconds)]
    began = time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    alone = time.monotonic() - began
    before = processor()
    with Path(os.devnull).open("wb", buffering=0) as nowhere:
        screen = Screen(nowhere.write, width=lambda: 100, every=AGAIN_S)  # as on a terminal
        screen.began("static 1/1 work", 0)
        done = run(words, folder / "work.log.gz", echo=screen.echo, tick=screen.tick)
    spent = processor() - before
    print(f"a command of {seconds:.0f} s of processor time that prints {done.log_bytes / 1e3:.0f} KB:")
    print(f"  processor time of runner and warden: {spent:.2f} s = {100 * spent / seconds:.2f} % (bar 2 %)")
    print(f"  wall time {done.duration_s:.1f} s, alone {alone:.1f} s (with whatever else the machine does)")


def flood(folder: Path, blocks: int) -> None:
    """Let a command print much, and read the log again."""
    before = peak()
    log = folder / "flood.log.gz"
    done = run([sys.executable, "-c", FLOOD, str(blocks)], log)
    grown = peak() - before
    size = done.log_bytes / 1e6
    print(f"{size / 1e3:.2f} GB printed in {done.duration_s:.1f} s: {size / done.duration_s:.0f} MB/s")
    print(f"  kept as {log.stat().st_size / 1e6:.0f} MB; memory grew by {grown:.1f} MB to {peak():.0f} MB (bar 50 MB)")
    began = time.monotonic()
    _, left, tail = log_ends(log.name, log, head=8 << 20, tail=64 << 10)
    print(f"  its two ends in {time.monotonic() - began:.1f} s, {left} bytes between them left out")
    digest = hashlib.sha256()
    for piece in log_text(log.name, log):
        digest.update(piece)
    exact = digest.hexdigest() == done.log_digest and tail == tail_of(done)
    print(f"  read again {'exactly as printed' if exact else 'DIFFERENTLY'}; memory {peak():.0f} MB")


def tail_of(done: ProcessResult) -> bytes:
    """Return the last bytes of the text, read another way."""
    with subprocess.Popen(["gzip", "-dc", str(done.log)], stdout=subprocess.PIPE) as text:
        return subprocess.run(["tail", "-c", str(64 << 10)], stdin=text.stdout, capture_output=True, check=True).stdout


def run(words: list[str], log: Path, **more: object) -> ProcessResult:
    """Run a command as a gate does."""
    env = dict(os.environ)
    done = run_command(words, cwd=log.parent, env=env, log=log, timeout_s=3600, **more)  # type: ignore[arg-type]
    assert done.succeeded
    return done


def processor() -> float:
    """Return the processor time of this process and of the wardens it has waited for, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak() -> float:
    """Return this process's peak of resident memory in MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
