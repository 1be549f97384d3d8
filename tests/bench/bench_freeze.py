"""``git afd freeze`` beside two plain ``git worktree add --detach`` of the same targets.

Run by hand, on copies of the real repositories: ``python tests/bench/bench_freeze.py PLUGIN VLLM ASCEND`` (the
refs are those of docs/tutorial; others: ``--vllm REF --ascend REF``). PLUGIN, VLLM and ASCEND are only read:
each is copied first. All are done in turn, each after a sync, so that a busy disk slows all.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from big_ledger import bare_start, medians, peak_memory
from kit import Repo, write_programs

ROUNDS = 5
BAR, OWN_BAR_S, MEMORY_BAR_MB = 1.1, 1.5, 200


def command(sources: tuple[Path, Path], refs: tuple[str, str], branch: str) -> list[str]:
    """Return the freeze of one round; each has a branch, and so an upgrade and worktrees, of its own."""
    named = [f"--source=vllm={sources[0]}", f"--source=vllm-ascend={sources[1]}"]
    named += [f"--target=vllm={refs[0]}", f"--target=vllm-ascend={refs[1]}", f"--branch={branch}"]
    return ["git-afd", "freeze", "-q", *named]


def main() -> None:
    """Print medians, ratios and bars."""
    parser = argparse.ArgumentParser()
    parser.add_argument("places", nargs=3, type=Path, metavar="PLUGIN VLLM ASCEND")
    parser.add_argument("--vllm", default="v0.26.0")
    parser.add_argument("--ascend", default="80d8c194f7584b17fe08065ea99a130916f6b0e7")
    asked = parser.parse_args()
    refs = (asked.vllm, asked.ascend)
    with tempfile.TemporaryDirectory(dir=asked.places[0].resolve().parent) as name:
        folder = Path(name)
        (folder / ".gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
        (folder / "bin").mkdir()
        programs = write_programs(folder / "bin")
        os.environ.update(HOME=str(folder), GIT_CONFIG_NOSYSTEM="1", PATH=f"{programs}:{os.environ['PATH']}")
        for title, place in zip(("plugin", "vllm", "vllm-ascend"), asked.places, strict=True):
            subprocess.run(["cp", "-a", str(place.resolve()), str(folder / title)], check=True)
            # a copy has new inodes: without this every status would read every file, as in no real checkout
            subprocess.run(["git", "-C", str(folder / title), "update-index", "-q", "--refresh"], check=False)
        measure(folder, refs)


def measure(folder: Path, refs: tuple[str, str]) -> None:
    """Run the rounds in a folder that holds the three copies."""
    plugin, vllm, ascend = (Repo(folder / title) for title in ("plugin", "vllm", "vllm-ascend"))
    for repo, ref in ((vllm, refs[0]), (ascend, refs[1])):
        repo(["git", "worktree", "add", "-q", "--detach", f"../at-target-{repo.path.name}", ref])
    standing = (folder / "at-target-vllm", folder / "at-target-vllm-ascend")

    def settle(_: int) -> None:
        shutil.rmtree(folder / "plain", ignore_errors=True)
        for repo in (vllm, ascend):
            repo("git worktree prune")
        os.sync()

    def plainly(number: int) -> None:
        for repo, ref in ((vllm, refs[0]), (ascend, refs[1])):
            repo(["git", "worktree", "add", "-q", "--detach", f"../plain/{number}-{repo.path.name}", ref])

    def ours(number: int) -> None:
        plugin(command((vllm.path, ascend.path), refs, f"bench/made-{number}"))

    def own(number: int) -> None:
        plugin(command(standing, refs, f"bench/own-{number}"))

    acts = (bare_start, settle, plainly, settle, ours, settle, own)
    bare, _, plain, _, whole, _, alone = medians(*acts, times=ROUNDS)
    argv = command((vllm.path, ascend.path), refs, "bench/memory")
    memory = peak_memory(argv, plugin.path)
    print(f"bare start {bare:.0f} ms; two plain git worktree add --detach: {plain:.0f} ms")
    print(f"git afd freeze, in all: {whole:.0f} ms = {whole / plain:.2f} x plain (bar {BAR})")
    print(f"git afd freeze, both targets provided: {alone / 1000:.2f} s (bar {OWN_BAR_S})")
    print(f"its peak memory: {memory:.0f} MB (bar {MEMORY_BAR_MB})")


if __name__ == "__main__":
    main()
