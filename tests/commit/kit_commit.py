"""What the tests of commits share: an upgrade with one open root cause, and a picture of what is not planned."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from kit import Done, Kit, Repo, call
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade, frozen

UPSTREAM = "vllm: vllm/engine.py::Engine.step: takes dbo by keyword"
NEW_CODE = "def step(self, batch, *, dbo=False):\n    return batch\n"
NEW_TEST = "def test_step():\n    assert 1\n"
COMMIT = ["commit", "--root-cause", "RC-1"]


def plan(case: FrozenUpgrade, files: Sequence[str] = (PRODUCTION,), tests: Sequence[str] = (TEST,)) -> None:
    """Open the next root cause for these paths."""
    number = len(case.upgrade.root_causes) + 1
    words = ["--title", f"take the keyword {number}", "--kind", "adaptation", "--upstream", UPSTREAM]
    words += ["--class", "BEHAVIORAL", "--invariant", "one step per batch", "--removal", "when the patch goes"]
    words += [word for path in files for word in ("--file", path)]
    words += [word for path in tests for word in ("--test", path)]
    words += ["--disposes", f"I-{number}=rebased"] if number < 3 else []
    call(["root-cause", "add", *words], case.plugin.path).ok()


def opened_failure(case: FrozenUpgrade) -> str:
    """Let the static gate have failed once; return the name of the failure, classified."""
    if not case.upgrade.failures:
        run = {"run": "failed", "op": "finished", "status": "FAIL", "gate": "static", "commit": ""}
        opened = {"op": "open", "failure": "F-1", "run": "failed"}
        case.record(("run", run), ("failure", opened))
        case.record(("failure", {"op": "classify", "failure": "F-1", "class": "afd", "why": "seen"}))
    return "F-1"


def plan_fix(case: FrozenUpgrade, paths: Sequence[str], title: str = "a fix") -> str:
    """Open the next root cause for these paths, with a reason instead of a test; return its name."""
    words = ["--title", title, "--kind", "failure-fix", "--invariant", "as it was", "--untested", "trivial"]
    words += ["--failure", opened_failure(case)]
    words += [word for path in paths for word in ("--file", path)]
    done = call(["root-cause", "add", "--json", *words], case.plugin.path).ok()
    return str(done.json["data"]["root_cause"])


def work(case: FrozenUpgrade) -> None:
    """Do the planned work."""
    case.plugin.write(PRODUCTION, NEW_CODE)
    case.plugin.write(TEST, NEW_TEST)


_MADE: dict[str, FrozenUpgrade] = {}


def planned(kit: Kit, *, files: Mapping[str, str | bytes] | None = None) -> FrozenUpgrade:
    """Return an upgrade with RC-1 planned and its work done.

    Made once per process and copied: the upstreams are shared, and nobody writes to them.
    """
    key = repr(sorted((files or {}).items()))
    if key not in _MADE:
        place = kit.folder.parent / f"planned-{len(_MADE)}"
        _MADE[key] = frozen(Kit(place), up_to="ARCHITECTURE_GATE", files=files)
        plan(_MADE[key])
    made = _MADE[key]
    shutil.copytree(made.plugin.path, kit.folder / "plugin", symlinks=True)
    case = FrozenUpgrade(Repo(kit.folder / "plugin"), made.vllm, made.ascend, made.id)
    case.plugin("git status")  # the copies are new files to the index
    work(case)
    return case


def commit(case: FrozenUpgrade, *words: str, **kwargs: object) -> Done:
    """Run `git afd commit` for RC-1 as a process of its own, in JSON."""
    return case.plugin.afd([*COMMIT, "--json", *words], **kwargs)


def hook(repo: Repo, name: str, script: str) -> None:
    """Install a hook of the user's."""
    path = repo.path / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def others(repo: Repo, planned_paths: Sequence[str] = (PRODUCTION, TEST)) -> dict[str, object]:
    """Return content, mode, index entry and status of everything that is not planned, and the refs of the user's."""
    index = [line for line in repo("git ls-files --stage -z").split("\0") if line.split("\t")[-1] not in planned_paths]
    status = [
        line for line in repo("git --no-optional-locks status --porcelain=v2 -z --untracked-files=all").split("\0")
        if not line.endswith(tuple(planned_paths))
    ]  # fmt: skip
    return {"files": _files(repo.path, planned_paths), "index": index, "status": status}


def _files(root: Path, left_out: Sequence[str]) -> dict[str, tuple[bytes, int, int]]:
    found: dict[str, tuple[bytes, int, int]] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and not name.startswith(".git/") and name not in left_out:
            stat = path.lstat()
            found[name] = (path.read_bytes(), stat.st_mode, stat.st_mtime_ns)
    return found


def trailers(repo: Repo, commit_id: str = "HEAD") -> list[str]:
    """Return the trailers that git finds in a commit's message."""
    message = repo(["git", "log", "-1", "--format=%B", commit_id])
    words = "git -c trailer.separators=: interpret-trailers --parse --no-divider"
    return repo(words, stdin=message).splitlines()
