"""Inventory and comparison beside git's own rename diff over both upstream ranges.

Measured as one command that looks (``git afd diff --at``), and as people work: ``git afd inventory``, then
``git afd diff``, inside an upgrade that this freezes in copies.
Run by hand: ``python tests/bench/bench_analysis.py PLUGIN VLLM ASCEND`` (refs: ``--at``, ``--current``, ``--target``).
The plugin is copied, since results are kept under its git dir; the upstreams are only read. All are done in turn, so
that a busy machine slows all. ``--griffe PYTHON`` also loads both versions of both packages with griffe, by an
interpreter that has it. Memory is what all processes of a command hold together at its worst, shared pages divided.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from big_ledger import medians
from kit import write_programs

from git_afd.core.names import LEDGER_REF

ROUNDS = 5
_DOCUMENT = "AGENTS.md"
COLD_BAR, WARM_BAR, MEMORY_BAR_MB, GRIFFE_BAR, VERIFY_BAR_S = 3.0, 0.5, 400, 5.0, 0.5

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
    parser.add_argument("--griffe", metavar="PYTHON")
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

        def alone(_: int) -> None:
            shutil.rmtree(cache, ignore_errors=True)
            run(listing(words))

        def after(_: int) -> None:
            run(words)

        taken = medians(git, cold, warm, alone, after, times=ROUNDS)
        base, first, again, inventory, then = (item / 1000 for item in taken)
        shutil.rmtree(cache, ignore_errors=True)
        memory = whole_memory(words)
        print(f"git diff of both ranges   {base:.2f} s")
        print(f"cold comparison           {first:.2f} s  {first / base:.2f} x git  (bar {COLD_BAR})")
        print(f"the same again            {again:.2f} s  {again / base:.2f} x git  (bar {WARM_BAR})")
        print(f"cold inventory            {inventory:.2f} s  {inventory / base:.2f} x git")
        print(f"comparison after it       {then:.2f} s  {then / base:.2f} x git")
        print(f"peak memory               {memory:.0f} MB  (bar {MEMORY_BAR_MB})")
        in_an_upgrade(folder / "upgrade", plugin, ranges, git)
        verify(plugin, ranges)
        if asked.griffe:
            griffe(asked.griffe, folder, ranges, first)


def command(plugin: Path, at: str, ranges: list[tuple[Path, str, str]]) -> list[str]:
    """Return the comparison as a command line."""
    words = ["git-afd", "diff", "-C", str(plugin), "--at", at, "--json"]
    for name, (place, old, new) in zip(("vllm", "vllm-ascend"), ranges, strict=True):
        words += [f"--source={name}={place.absolute()}", f"--current={name}={old}", f"--target={name}={new}"]
    return words


def in_an_upgrade(folder: Path, plugin: Path, ranges: list[tuple[Path, str, str]], git: Callable[[int], None]) -> None:
    """Freeze copies at the plugin's HEAD, then take inventory and compare as two commands that record."""
    places = [folder / name for name in ("plugin", "vllm", "vllm-ascend")]
    for source, place in zip((plugin, *(source for source, _, _ in ranges)), places, strict=True):
        shutil.copytree(source, place, symlinks=True)
    home = ["git", "-C", str(places[0])]
    words = ["git-afd", "freeze", "-C", str(places[0]), "--branch", "upgrade/bench"]
    for name, place, (_, old, new) in zip(("vllm", "vllm-ascend"), places[1:], ranges, strict=True):
        words += [f"--source={name}={place}", f"--current={name}={old}", f"--target={name}={new}"]
    run(words)
    frozen = subprocess.run([*home, "rev-parse", LEDGER_REF], check=True, capture_output=True, text=True).stdout.strip()

    def fresh(_: int) -> None:
        shutil.rmtree(places[0] / ".git" / "afd" / "cache", ignore_errors=True)
        run([*home, "update-ref", LEDGER_REF, frozen])

    def inventory(_: int) -> None:
        run(["git-afd", "inventory", "-C", str(places[0]), "--json", f"--read={_DOCUMENT}"])

    def diff(_: int) -> None:
        subprocess.run(  # its proposals wait for a decision: exit 6
            ["git-afd", "diff", "-C", str(places[0]), "--json"], check=False, stdout=subprocess.DEVNULL
        )

    base, _, first, then, again = (item / 1000 for item in medians(git, fresh, inventory, diff, diff, times=ROUNDS))
    both = first + then
    print(f"in an upgrade, cold       inventory {first:.2f} s, diff {then:.2f} s")
    print(f"both commands             {both:.2f} s  {both / base:.2f} x git  (bar {COLD_BAR})")
    print(f"diff again                {again:.2f} s  {again / base:.2f} x git  (bar {WARM_BAR})")


def listing(words: list[str]) -> list[str]:
    """Return the inventory as a command line, from that of the comparison."""
    return ["inventory" if word == "diff" else word for word in words if not word.startswith("--target")]


def run(words: list[str]) -> None:
    """Run a command and insist on its success."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def whole_memory(words: list[str]) -> float:
    """Return the most that a command's processes hold together, in MB: looked at every 20 ms."""
    most = 0.0
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while child.poll() is None:
        most = max(most, sum(map(_share, [child.pid, *_below(child.pid)])))
        time.sleep(0.02)
    return most


def _below(pid: int) -> list[int]:
    try:
        direct = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return direct + [one for each in direct for one in _below(each)]


def _share(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def verify(plugin: Path, ranges: list[tuple[Path, str, str]]) -> None:
    """Check every patch file, staged with one line more, at the current upstreams: the first time, and every day."""
    patches = sorted(plugin.glob("*/compat/patches/**/*.py"))
    for path in patches:
        path.write_text(path.read_text() + "# one line more\n")
    subprocess.run(["git", "-C", str(plugin), "add", "--", *map(str, patches)], check=True)
    words = ["git-afd", "verify", "-C", str(plugin), "--patches", "--staged"]
    for name, (place, old, _) in zip(("vllm", "vllm-ascend"), ranges, strict=True):
        words += [f"--source={name}={place.absolute()}", f"--current={name}={old}"]

    def check(_: int) -> None:
        subprocess.run(words, check=False, stdout=subprocess.DEVNULL)  # it may well find something

    def fresh(number: int) -> None:
        shutil.rmtree(plugin / ".git" / "afd" / "cache", ignore_errors=True)
        check(number)

    def start(_: int) -> None:
        subprocess.run(["git-afd", "--version"], check=True, stdout=subprocess.DEVNULL)

    first, daily, bare = (item / 1000 for item in medians(fresh, check, start, times=ROUNDS))
    print(f"verify --patches          {daily - bare:.2f} s + start of {bare:.2f} s  (bar {VERIFY_BAR_S})")
    print(f"the first time            {first - bare:.2f} s + start, {len(patches)} files")


def griffe(python: str, folder: Path, ranges: list[tuple[Path, str, str]], cold: float) -> None:
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
    subprocess.run([python, "-c", _GRIFFE, *places], check=True)
    took = time.perf_counter() - start
    print(f"griffe, all four trees    {took:.2f} s  {took / cold:.1f} x the cold comparison  (bar {GRIFFE_BAR})")


if __name__ == "__main__":
    main()
