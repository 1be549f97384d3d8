"""What the tests of the hooks share: an upgrade with the shims in place, and what `git afd commit` would announce."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from kit import Done, Kit, Repo, call
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade, frozen

from git_afd.adapters.hook_install import STAGES, inspect, install
from git_afd.adapters.session import open_session
from git_afd.core.intent import FILE, GONE, Intent, Planned, write_intent
from git_afd.core.message import Wording, compose

SIGNER = "Ada Example <ada@example.org>"
PLAN = {
    PRODUCTION: "def step(self, batch, *, dbo=False):\n    return batch\n",
    TEST: "def test_step():\n    assert 1\n",
}
OLD_LESSON = ".agents/skills/upgrade-npu/references/v0-to-v1-lessons.md"
LESSON = ".agents/skills/upgrade-npu/references/v1-to-v2-lessons.md"
MINE = "afd_plugin/mine.py"


def put_hooks(path: Path, *stages: str) -> None:
    """Install the shims (all, or only some) into the repository that `path` is in."""
    for hook in inspect(open_session(path, work_tree=False), probe=False):
        if hook.stage in (stages or STAGES):
            install(hook)


def upgrade(kit: Kit, *, up_to: str = "ARCHITECTURE_GATE") -> FrozenUpgrade:
    """Return an upgrade with hooks, an earlier lesson, a path dirty at the freeze, and RC-7 open with PLAN's paths."""
    case = frozen(kit, up_to=up_to, files={OLD_LESSON: "0", MINE: "0"}, dirty={MINE: "1"})
    plan_root_cause(case, "RC-7", tuple(PLAN))
    put_hooks(case.plugin.path)
    return case


_built: list[FrozenUpgrade] = []


def copy_of_upgrade(folder: Path, factory: pytest.TempPathFactory) -> FrozenUpgrade:
    """Return :func:`upgrade` as a copy of the test's own; it is built once per worker, for it takes long."""
    if not _built:
        _built.append(upgrade(Kit(factory.mktemp("built"))))
    first = _built[0]
    shutil.copytree(first.plugin.path, folder / "plugin", symlinks=True)
    return FrozenUpgrade(Repo(folder / "plugin"), first.vllm, first.ascend, first.id)


def plan_root_cause(case: FrozenUpgrade, name: str, files: Sequence[str], kind: str = "adaptation") -> None:
    """Record an open root cause."""
    body = {"root_cause": name, "op": "add", "title": "follow step", "kind": kind, "class": "MECHANICAL"}
    case.record(("root-cause", {**body, "invariant": "one step", "files": list(files), "tests": [], "disposes": {}}))


def announce(
    case: FrozenUpgrade, files: Mapping[str, str | None] | None = None, *, name: str = "RC-7", at: Repo | None = None
) -> Intent:
    """Write and stage `files` (None deletes) and leave the intent that `git afd commit` would leave."""
    repo = at or case.plugin
    paths = []
    for path, text in (PLAN if files is None else files).items():
        if text is None:
            repo(["git", "rm", "-q", "--", path])
            paths.append(Planned(GONE, "0" * 40, path))
        else:
            repo.write(path, text)
            repo(["git", "add", "-f", "--", path])
            paths.append(Planned("100644", repo(["git", "rev-parse", f":{path}"]), path))
    ledger = case.session.ledger.tip() or ""
    intent = Intent(case.id, name, ledger, repo.head, repo("git write-tree"), paths)
    git_dir = Path(repo("git rev-parse --absolute-git-dir"))
    (git_dir / FILE).write_bytes(write_intent(intent).encode("utf-8", "surrogateescape"))
    return intent


def message(case: FrozenUpgrade, intent: Intent, *, signer: str = SIGNER) -> str:
    """Return the message that `git afd commit` would compose."""
    cause = case.upgrade.root_causes[intent.root_cause]
    paths = [item.path for item in intent.paths]
    heads = " ".join(case.session.ledger.read().state.heads)
    return compose(case.upgrade, cause, paths, Wording(), ledger=heads, signer=signer)


def afd(repo: Repo, words: str) -> Done:
    """Run `git-afd` in `repo`, inside this process: a tenth of the price."""
    return call(shlex.split(words), repo.path)


def commit(repo: Repo, text: str, *options: str) -> Done:
    """Run `git commit` with a message."""
    return repo.run(["git", "commit", "-q", "-F", "-", *options], stdin=text)


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return every file below a folder: mode, time of change, bytes (of a link: where it points)."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if path.is_symlink():
            found[str(path)] = (status.st_mode, 0, os.fsencode(path.readlink()))
        elif path.is_file():
            found[str(path)] = (status.st_mode, status.st_mtime_ns, path.read_bytes())
    return found
