"""A plugin and two upstreams whose versions name each other, ready for `git afd freeze`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kit import Done, Kit, Repo

BRANCH = "upgrade/v2"

VLLM: Mapping[str, Mapping[str, str | bytes]] = {
    "v1.0.0": {"vllm/__init__.py": "", "vllm/engine.py": "def step():\n    return 1\n", "old.txt": "old\n"},
    "v2.0.0": {"vllm/__init__.py": "", "vllm/engine.py": "def step(batch):\n    return batch\n", "new.txt": "new\n"},
    "v3.0.0": {"vllm/__init__.py": "", "vllm/engine.py": "def leap():\n    return 3\n"},
}


def _ascend(vllm: str, python: str = "3.11") -> Mapping[str, str | bytes]:
    return {
        "vllm_ascend/__init__.py": "",
        "Dockerfile.a3": f"FROM quay.io/ascend/cann:9.0.1-a3-ubuntu22.04-py{python}\nARG VLLM_TAG={vllm}\n",
        ".github/vllm-release-tag.commit": vllm,
        "requirements.txt": "torch==2.10.0\ntorch-npu==2.10.0\ntriton-ascend==3.2.1\n",
    }


ASCEND: Mapping[str, Mapping[str, str | bytes]] = {
    "v1.0.0rc1": _ascend("v1.0.0"),
    "v2.0.0rc1": _ascend("v2.0.0"),
    "v3.0.0rc1": {"vllm_ascend/__init__.py": "", "requirements.txt": "torch==2.10.0\n"},  # names no vLLM
}

PLUGIN: Mapping[str, str | bytes] = {
    "AGENTS.md": "Rules of the house.\n",
    "README.md": "| upstream | version |\n| --- | --- |\n| vLLM | 1.0.0 |\n| vLLM-Ascend | 1.0.0rc1 |\n",
    "pyproject.toml": '[project]\nname = "plugin"\nversion = "1"\ndependencies = ["vllm==1.0.0"]\n',
    "afd_plugin/__init__.py": "",
    ".agents/skills/upgrade-npu/references/old-lessons.md": "A lesson.\n",
    "tests/e2e/accuracy/test_gsm8k.py": 'LIMIT = os.environ.get("AFD_GSM8K_THRESHOLD", "0.20")\n',
}


@dataclass(frozen=True)
class Stage:
    """The three repositories side by side, the plugin on `main`."""

    plugin: Repo
    vllm: Repo
    ascend: Repo

    def freeze(
        self,
        *more: str,
        targets: tuple[str, str] = ("v2.0.0", "v2.0.0rc1"),
        sources: tuple[str, str] = ("../vllm", "../vllm-ascend"),
        branch: str = BRANCH,
        **kwargs: Any,
    ) -> Done:
        """Run `git afd freeze` in the plugin."""
        named = [f"--source=vllm={sources[0]}", f"--source=vllm-ascend={sources[1]}"]
        named += [f"--target=vllm={targets[0]}", f"--target=vllm-ascend={targets[1]}"]
        return self.plugin.afd(["freeze", *named, *([f"--branch={branch}"] if branch else []), *more], **kwargs)

    def frozen(self, *more: str, **kwargs: Any) -> Mapping[str, Any]:
        """Freeze, insist on PASS, return the data."""
        data: Mapping[str, Any] = self.freeze("--json", *more, **kwargs).ok().json["data"]
        return data


_BUILT: list[Path] = []


def fresh(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Stage:
    """Copy the stage, built once in the sealed world of the first test that asks, into a test's own folder."""
    if not _BUILT:
        _BUILT.append(_build(Kit(tmp_path_factory.mktemp("built"))))
    shutil.copytree(_BUILT[0], tmp_path, symlinks=True, dirs_exist_ok=True)
    return Stage(*(Repo(tmp_path / name) for name in ("plugin", "vllm", "vllm-ascend")))


def _build(kit: Kit) -> Path:
    """Build the three repositories; both upstream checkouts stand at version 1. Returns their folder."""
    vllm, ascend = kit.upstream("vllm", VLLM), kit.upstream("vllm-ascend", ASCEND)
    vllm("git switch -q --detach v1.0.0")
    ascend("git switch -q --detach v1.0.0rc1")
    kit.repo("plugin").commit("base", PLUGIN)
    return kit.folder


def everything(folder: Path) -> dict[str, tuple[str, ...]]:
    """Read a folder as another program would: mode, modification time and bytes of every path."""
    found: dict[str, tuple[str, ...]] = {}
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(top) / name
            info = path.lstat()
            if path.is_dir() and not path.is_symlink():
                found[str(path.relative_to(folder))] = (f"{info.st_mode:o}",)
                continue
            data = str(path.readlink()) if path.is_symlink() else path.read_bytes().hex()
            found[str(path.relative_to(folder))] = (f"{info.st_mode:o}", str(info.st_mtime_ns), data)
    return found


def changes(before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Name every path that is new, gone or different; objects are left out."""
    moved = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return {path for path in moved if not path.startswith(".git/objects/")}
