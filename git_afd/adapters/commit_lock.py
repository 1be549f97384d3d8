"""One `git afd commit` at a time in a repository, so that what an earlier one left can be told from a living one."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from git_afd.errors import Conflict


@contextmanager
def commit_lock(home: Path) -> Iterator[None]:
    """Hold the lock below `home`; the kernel frees it when the process dies. Raises Conflict when another holds it."""
    home.mkdir(exist_ok=True)
    with (home / "commit.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("another git afd commit runs in this repository", "wait for it, then run it again") from None
        yield
