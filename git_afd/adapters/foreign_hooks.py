"""Which hooks of the user would run during a commit besides ours: any of them may touch the whole work tree."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from git_afd.adapters.hook_install import Hook, hooks_folder, inspect
from git_afd.adapters.session import Session

_NEVER_OURS: Final = ("prepare-commit-msg", "post-commit", "post-index-change", "reference-transaction")


def foreign_hooks(session: Session) -> tuple[str, ...]:
    """Name the hooks that git would run around a commit and that are not ours alone; empty when there are none."""
    folder = hooks_folder(session).path
    found = [hook.stage for hook in inspect(session, probe=False) if hook.stage != "pre-push" and _foreign(hook)]
    found += [name for name in _NEVER_OURS if _runs(folder / name)]
    configured = session.git.run("config", "--name-only", "--get-regexp", r"^hook\..*\.(command|event)$").text
    return (*found, *(["hooks of the configuration"] if configured else []))


def _foreign(hook: Hook) -> bool:
    """Say whether something besides our shim runs at this stage: before it, instead of it, or chained by it."""
    if hook.path.name != hook.stage or hook.chained:
        return True
    return hook.kind in ("foreign", "framework", "edited") and _runs(hook.path)


def _runs(hook: Path) -> bool:
    """Say whether git would run it: one that is not executable is skipped."""
    return hook.is_file() and os.access(hook, os.X_OK)
