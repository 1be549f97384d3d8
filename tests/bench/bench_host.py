"""What a look at the host costs besides npu-smi itself, on a busy host: many processes, some of them listening.

Run by hand: ``python tests/bench/bench_host.py``. All are done in turn, so that a busy machine slows all.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from big_ledger import medians

from git_afd.adapters.host import host_facts
from git_afd.adapters.host_snapshot import snapshot

PROCESSES = 300
FREE = (8001, 1239, 6392, 6402, 6453, 19080, 19600, 19610)
SLEEP = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]


def main() -> None:
    """Print medians in seconds."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        for _ in range(PROCESSES):
            process = subprocess.Popen(SLEEP, stdin=subprocess.PIPE, env={"PATH": "/usr/bin"})
            stack.callback(process.communicate)
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        ports = (server.getsockname()[1], *FREE)
        env = {**os.environ, "PATH": "/usr/bin:/bin"}

        def shot(_: int) -> None:
            assert snapshot(ports, (os.getpid(),), folder).ports[0].state == "listening"

        def look(_: int) -> None:
            host_facts(sys.executable, cwd=folder, env=env, ports=ports)

        bare, whole = medians(shot, look, times=15)
    print(f"{PROCESSES} more processes: snapshot {bare / 1000:.3f} s; with the interpreter asked {whole / 1000:.3f} s")


if __name__ == "__main__":
    main()
