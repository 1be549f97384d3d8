"""The demo's stage: a folder of its own with its own HOME, where commands run as typed and nothing else is seen."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import git_afd
from git_afd.adapters.process import run_command

DATE: Final = "2026-08-01T10:00:00+00:00"
EPOCH: Final = "1785578400"
_TIMEOUT_S: Final = 120.0
_GITCONFIG: Final = """\
[user]
\tname = Ada Example
\temail = ada@example.org
[init]
\tdefaultBranch = main
[core]
\teditor = false
[advice]
\tdetachedHead = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command on the stage printed (stdout and stderr as they came) and its exit code."""

    code: int
    text: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder with `bin` (git-afd, the host's tools), `home`, `logs` and the repositories."""

    folder: Path

    def run(self, command: str, cwd: str = "plugin", env: Mapping[str, str] | None = None) -> Said:
        """Run one command line as typed (split like a shell would, started without one)."""
        logs = self.folder / "logs"
        log = logs / f"{len(list(logs.iterdir())):03}.log"
        done = run_command(
            shlex.split(command),
            cwd=self.folder / cwd,
            env={**self.environment(), **(env or {})},
            log=log,
            timeout_s=_TIMEOUT_S,
        )
        text = log.read_text(encoding="utf-8", errors="replace")
        return Said(done.exit_code if done.exit_code is not None else 128 + (done.signal or 0), text)

    def write(self, name: str, text: str) -> Path:
        """Write a file below the folder, with its folders."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self) -> dict[str, str]:
        """Return an environment in which two demos print the same: fixed identity, dates, language."""
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.folder / "home"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self.folder),
            "GIT_AUTHOR_DATE": DATE,
            "GIT_COMMITTER_DATE": DATE,
            "SOURCE_DATE_EPOCH": EPOCH,
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "110",
            "NO_COLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(self.folder / "tmp"),
        }


@contextmanager
def stage(keep: Path | None) -> Iterator[Stage]:
    """Make the stage in a new temporary folder, or in `keep` (which must not exist), and take only the former away."""
    folder = keep or Path(tempfile.mkdtemp(prefix="git-afd-demo-"))
    folder.mkdir(parents=True, exist_ok=keep is None)
    try:
        for name in ("bin", "home", "logs", "tmp"):
            (folder / name).mkdir()
        (folder / "home" / ".gitconfig").write_text(_GITCONFIG, encoding="utf-8")
        _programs(folder / "bin")
        yield Stage(folder)
    finally:
        if keep is None:
            _remove(folder)


def _programs(folder: Path) -> None:
    """Put `git-afd` there: this very installation, whatever else is on PATH."""
    package = str(Path(git_afd.__file__).resolve().parent.parent)
    for name, module, call in (("git-afd", "git_afd.cli.entry", "main"), ("git-afd-hook", "git_afd.hook", "console")):
        program = folder / name
        program.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {package!r})\n"
            f"from {module} import {call}\nsys.exit({call}())\n",
            encoding="utf-8",
        )
        program.chmod(0o755)


def _remove(folder: Path) -> None:
    """Take the demo's own folder away. Artifacts below it are read-only on purpose; their folders must not be."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)
