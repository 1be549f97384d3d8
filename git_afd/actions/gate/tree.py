"""The tree that a gate's commands run in: the work tree, or a detached worktree of HEAD that is removed again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from git_afd.actions.gate.order import Order
from git_afd.adapters.session import Session


@contextmanager
def tree_of(session: Session, order: Order) -> Iterator[Path]:
    """Give the tree that the commands run in."""
    del order
    yield session.root
