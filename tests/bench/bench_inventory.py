"""``git afd inventory --at`` beside ``git diff --find-renames --name-status`` over both upstream ranges.

Run by hand, on the real repositories (they are only read; the plugin is copied, since results are kept in it):
``python tests/bench/bench_inventory.py PLUGIN VLLM ASCEND --vllm OLD NEW --ascend OLD NEW``. All are done in turn,
so that a busy machine slows all.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5


def seconds(args: list[str], folder: Path) -> float:
    """Run a program and return how long it took."""
    started = time.perf_counter()
    subprocess.run(args, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Print medians as ratios to git's own time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("plugin", type=Path)
    parser.add_argument("vllm", type=Path)
    parser.add_argument("ascend", type=Path)
    parser.add_argument("--vllm", dest="vllm_range", nargs=2, default=("v0.19.1", "v0.26.0"))
    parser.add_argument("--ascend", dest="ascend_range", nargs=2, default=("v0.19.1rc1", "80d8c194f"))
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    ranges = ((asked.vllm, asked.vllm_range), (asked.ascend, asked.ascend_range))
    with tempfile.TemporaryDirectory() as name:
        plugin = Path(name) / "plugin"
        shutil.copytree(asked.plugin, plugin, symlinks=True)
        words = [
            "inventory",
            "--at",
            "HEAD",
            "--json",
            f"--source=vllm={asked.vllm}",
            f"--source=vllm-ascend={asked.ascend}",
        ]
        words += [f"--current=vllm={asked.vllm_range[0]}", f"--current=vllm-ascend={asked.ascend_range[0]}"]
        command = [sys.executable, "-m", "git_afd", *words]
        rows: dict[str, list[float]] = {"git": [], "cold": [], "warm": []}
        for _ in range(ROUNDS):
            rows["git"].append(
                sum(seconds(["git", "diff", "--find-renames", "--name-status", *r], p) for p, r in ranges)
            )
            shutil.rmtree(plugin / ".git" / "afd" / "cache", ignore_errors=True)
            rows["cold"].append(seconds(command, plugin))
            rows["warm"].append(seconds(command, plugin))
    middle = {row: sorted(values)[ROUNDS // 2] for row, values in rows.items()}
    print(f"git diff of both ranges  {middle['git']:.2f} s")
    for row in ("cold", "warm"):
        print(f"inventory, {row}          {middle[row]:.2f} s = {middle[row] / middle['git']:.2f} x")
    print(f"most memory              {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main()
