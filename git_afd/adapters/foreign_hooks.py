"""Which hooks of the user would run during a commit besides ours: any of them may touch the whole work tree."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from git_afd.adapters.git import Git

_AROUND_A_COMMIT: Final = (
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "reference-transaction",
)
_SEAL: Final = b"# git-afd shim sha256:"
_CHAINED: Final = ".afd-chained"


def hooks_folder(git: Git) -> Path:
    """Return where git looks for hooks here (``core.hooksPath`` honoured), absolute."""
    return Path(git("rev-parse", "--path-format=absolute", "--git-path", "hooks"))


def foreign_hooks(git: Git) -> tuple[str, ...]:
    """Name the hooks that git would run around a commit and that are not ours alone; empty when there are none."""
    folder = hooks_folder(git)
    found = [name for name in _AROUND_A_COMMIT if _foreign(folder / name)]
    configured = git.run("config", "--name-only", "--get-regexp", r"^hook\..*\.(command|event)$").text
    return (*found, *(["hooks of the configuration"] if configured else []))


def _foreign(hook: Path) -> bool:
    if not hook.is_file() or not os.access(hook, os.X_OK):
        return False  # git skips it too
    if hook.with_name(hook.name + _CHAINED).exists():
        return True
    try:
        return _SEAL not in hook.read_bytes()
    except OSError:
        return True
