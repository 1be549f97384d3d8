"""``git afd commit`` in both ways beside a plain ``git commit`` of the same paths.

Run by hand: ``python tests/bench/bench_commit.py [FILES]``; FILES is the size of the plugin (default 400). All are
done in turn, so that a busy machine slows all.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "commit"))

from big_ledger import bare_start, medians
from kit import Kit, write_programs
from kit_commit import hook, plan_fix
from kit_upgrade import frozen

ROUNDS = 9


def seal(folder: Path) -> None:
    """See nothing of this machine's git configuration, and run this tree."""
    (folder / ".gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
    programs = write_programs(folder / "bin")
    os.environ.update(HOME=str(folder), GIT_CONFIG_NOSYSTEM="1", PATH=f"{programs}:{os.environ['PATH']}")


def main(size: int = 400) -> None:
    """Print medians as ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        seal(folder)
        files = {f"afd_plugin/m{number}.py": f"X = {number}\n" * 50 for number in range(size)}
        case = frozen(Kit(folder), up_to="ARCHITECTURE_GATE", files=files)
        repo = case.plugin

        def plainly(number: int) -> None:
            repo.write("README.md", f"{number}\n")
            repo("git commit -q -s -m plain -- README.md")

        def ours(number: int) -> None:
            repo(["git-afd", "commit", "--root-cause", names[number], "-q"])

        def prepare(number: int) -> None:
            path = f"afd_plugin/m{number % size}.py"
            names[number] = plan_fix(case, [path], title=f"fix {number}")
            repo.write(path, f"X = {number}  # changed\n")

        names: dict[int, str] = {}
        bare, plain, _, in_place = medians(bare_start, plainly, prepare, ours, times=ROUNDS)
        hook(repo, "pre-commit", "exit 0")
        later = [lambda number, act=act: act(number + 100) for act in (plainly, prepare, ours)]
        plain_hook, _, scratch = medians(*later, times=ROUNDS)
    print(f"plain git commit of one path among {size}: {plain:.0f} ms (bare start {bare:.0f} ms)")
    print(f"git afd commit in place: {in_place:.0f} ms = {in_place / plain:.1f} x plain")
    print(f"git afd commit in a scratch worktree: {scratch:.0f} ms = {scratch / plain_hook:.1f} x plain with the hook")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
