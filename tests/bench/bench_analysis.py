"""``git afd diff --at`` (inventory and comparison together) beside git's own rename diff over both upstream ranges.

Run by hand: ``python tests/bench/bench_analysis.py PLUGIN VLLM ASCEND`` (refs: ``--at``, ``--current``, ``--target``).
The plugin is copied, since results are kept under its git dir; the upstreams are only read. All are done in turn, so
that a busy machine slows all. ``--griffe`` also loads both package versions with griffe, where it is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from big_ledger import medians, peak_memory
from kit import write_programs

ROUNDS = 5
COLD_BAR, WARM_BAR, MEMORY_BAR_MB, GRIFFE_BAR = 3.0, 0.5, 400, 5.0

_GRIFFE = """
import sys, griffe
for path, name in zip(sys.argv[1::2], sys.argv[2::2]):
    griffe.load(name, search_paths=[path], resolve_aliases=False, allow_inspection=False)
"""


def main() -> None:
    """Print medians, ratios and bars."""
    parser = argparse.ArgumentParser()
    parser.add_argument("places", nargs=3, type=Path, metavar="PLUGIN VLLM ASCEND")
    parser.add_argument("--at", default="430948e")
    parser.add_argument("--current", nargs=2, default=("v0.19.1", "v0.19.1rc1"))
    parser.add_argument("--target", nargs=2, default=("v0.26.0", "80d8c194f"))
    parser.add_argument("--griffe", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plugin = folder / "plugin"
        shutil.copytree(asked.places[0], plugin, symlinks=True)
        (folder / "bin").mkdir()
        os.environ["PATH"] = f"{write_programs(folder / 'bin')}:{os.environ['PATH']}"
        ranges = list(zip(asked.places[1:], asked.current, asked.target, strict=True))
        words = command(plugin, asked.at, ranges)
        cache = plugin / ".git" / "afd" / "cache"

        def git(_: int) -> None:
            for place, old, new in ranges:
                diff = ["git", "-C", str(place), "diff", "--find-renames", "--name-status", old, new]
                subprocess.run(diff, check=True, stdout=subprocess.DEVNULL)

        def cold(_: int) -> None:
            shutil.rmtree(cache, ignore_errors=True)
            run(words)

        def warm(_: int) -> None:
            run(words)

        base, first, again = (item / 1000 for item in medians(git, cold, warm, times=ROUNDS))
        shutil.rmtree(cache, ignore_errors=True)
        memory = peak_memory(words, plugin)
        print(f"git diff of both ranges   {base:.2f} s")
        print(f"cold comparison           {first:.2f} s  {first / base:.2f} x git  (bar {COLD_BAR})")
        print(f"the same again            {again:.2f} s  {again / base:.2f} x git  (bar {WARM_BAR})")
        print(f"peak memory               {memory:.0f} MB  (bar {MEMORY_BAR_MB})")
        if asked.griffe:
            griffe(folder, ranges, first)


def command(plugin: Path, at: str, ranges: list[tuple[Path, str, str]]) -> list[str]:
    """Return the comparison as a command line."""
    words = ["git-afd", "diff", "-C", str(plugin), "--at", at, "--json"]
    for name, (place, old, new) in zip(("vllm", "vllm-ascend"), ranges, strict=True):
        words += [f"--source={name}={place.absolute()}", f"--current={name}={old}", f"--target={name}={new}"]
    return words


def run(words: list[str]) -> None:
    """Run a command and insist on its success."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def griffe(folder: Path, ranges: list[tuple[Path, str, str]], cold: float) -> None:
    """Load both versions of both packages with griffe, for comparison."""
    places: list[str] = []
    for number, ((place, *refs), package) in enumerate(zip(ranges, ("vllm", "vllm_ascend"), strict=True)):
        for side, ref in enumerate(refs):
            target = folder / f"griffe-{number}-{side}"
            target.mkdir()
            packed = subprocess.run(
                ["git", "-C", str(place), "archive", ref, package], check=True, stdout=subprocess.PIPE
            )
            subprocess.run(["tar", "-x", "-C", str(target)], input=packed.stdout, check=True)
            places += [str(target), package]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", _GRIFFE, *places], check=True)
    took = time.perf_counter() - start
    print(f"griffe, all four trees    {took:.2f} s  {took / cold:.1f} x the cold comparison  (bar {GRIFFE_BAR})")


if __name__ == "__main__":
    main()
