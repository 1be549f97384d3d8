"""The tree that a gate's commands run in: the work tree, or a detached worktree of HEAD that is removed again."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from git_afd.actions.gate.order import Order
from git_afd.adapters.git import Git
from git_afd.adapters.session import Session
from git_afd.adapters.sources import Source, open_source
from git_afd.adapters.worktrees import add_worktree, remove_worktree, take_back, unclean
from git_afd.errors import AfdError, Refused

_REASON: Final = "git-afd: a gate runs here"
_HOME: Final = "trees"
_PREFIX: Final = "gate-"


@contextmanager
def tree_of(session: Session, order: Order) -> Iterator[Path]:
    """Give the tree that the commands run in.

    A worktree of ours stands below the common git dir for as long as the run; when the run left files in it, it
    stays, and its path is told. One that a killed run left is removed first: no other gate runs here now.
    """
    for left in (session.ledger.home / _HOME).glob(f"{_PREFIX}*"):
        with suppress(AfdError):
            _remove(open_source("plugin", session.root), left, lambda _: None)
    if not order.worktree or session.head is None:
        yield session.root
        return
    source = open_source("plugin", session.root)
    path = session.ledger.home / _HOME / f"{_PREFIX}{secrets.token_hex(6)}"
    path.parent.mkdir(parents=True, exist_ok=True)
    _add(source, session.head, path)
    try:
        yield path
    finally:
        _remove(source, path, order.tell)


def _add(source: Source, commit: str, path: Path) -> None:
    try:
        add_worktree(source, commit, path, _REASON)
    except (AfdError, KeyboardInterrupt):
        take_back(source, commit, path, _REASON)
        raise


def _remove(source: Source, path: Path, tell: Callable[[str], None]) -> None:
    """Remove the worktree; bytecode that our own commands cached there goes with it, anything else stays."""
    cached = [path / name for name in unclean(Git(path)) if "/__pycache__/" in f"/{name}" and name.endswith(".pyc")]
    for file in cached:
        file.unlink()
        with suppress(OSError):  # not the last one there
            file.parent.rmdir()
    try:
        remove_worktree(source, path, _REASON)
    except Refused as reason:
        tell(f"the worktree stays: {reason.message}")
