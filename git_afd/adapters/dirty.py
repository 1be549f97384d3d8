"""What stood in the user's work tree beside HEAD: dirty paths with digests of their content, operations under way."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from git_afd.adapters.git import Git
from git_afd.adapters.sources import dirty_paths

_DIGEST_UP_TO: Final = 256 << 20

OPERATIONS: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
    "rebase-merge": "a rebase",
    "rebase-apply/applying": "a git am",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
}
"""Files in a worktree's git dir that say what is under way (gitrepository-layout(5)); the first one there counts."""


def dirty_digests(git: Git, root: Path) -> dict[str, str]:
    """Map each path that `git status` lists to a digest of what stands there now.

    ``sha256:`` of a file's bytes, ``link:`` of a link's target, ``absent``, ``folder`` (a submodule or nested
    repository), or ``size:`` and the modification time of a file too large to read.
    """
    return {path: _digest(root / path) for path in dirty_paths(git)}


def under_way(git_dir: Path) -> str:
    """Name the operation that is in progress in a worktree, empty when none is."""
    return next((name for file, name in OPERATIONS.items() if (git_dir / file).exists()), "")


def _digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return f"link:{hashlib.sha256(os.fsencode(path.readlink())).hexdigest()}"
        if path.is_dir():
            return "folder"
        size = path.stat().st_size
        if size > _DIGEST_UP_TO:
            return f"size:{size} mtime:{path.stat().st_mtime_ns}"
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except FileNotFoundError:
        return "absent"
    except OSError as error:
        return f"unreadable: {error.strerror}"
