"""Pure work that a second process does while this one goes on: forked, so that it sees all that was read already.

Its results come back through a pipe, one after the other. Nothing rests on it: where no second process can be had (one
core, other threads, no safe fork), or where it fails in whatever way, nothing comes, and whoever asked does the work
himself. So results are the same with it and without, and a fault of the work is raised where it is noticed.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final, NoReturn, TypeVar

_T = TypeVar("_T")
_THREADS: Final = "/proc/self/task"
_ROOM: Final = 1 << 20
"""Bytes that the pipe holds where the system allows it: results may lie there while this process is busy."""

_BROKEN: Final = (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError, ValueError)


@contextmanager
def beside(work: Callable[[], _T]) -> Iterator[Callable[[], _T]]:
    """Begin `work`, which must be pure, and yield what waits for its result; it is worked out here if nothing comes."""
    known: list[_T] = []

    def one() -> Iterator[_T]:
        yield work()

    with each_beside(one) as results:

        def result() -> _T:
            if not known:
                known.extend(results)
            if not known:
                known.append(work())
            return known[0]

        yield result


@contextmanager
def each_beside(work: Callable[[], Iterable[_T]]) -> Iterator[Iterator[_T]]:
    """Begin `work`, which must be pure, and yield its results as they come: all, or the first few, or none.

    On leaving, nothing of the second process is left.
    """
    child = _Child.start(work) if _may_fork() else None
    try:
        yield _results(child) if child else iter(())
    finally:
        if child:
            child.end()


def _results(child: _Child) -> Iterator[_T]:
    while child.owner == os.getpid():  # another second process must not take what this one waits for
        try:
            yield pickle.load(child.file)  # noqa: S301 - our own process wrote it
        except _BROKEN:
            return


def _may_fork() -> bool:
    """Say whether a second process helps, and a fork is safe: a lock that another thread holds would stay held."""
    if sys.platform != "linux":
        return False
    try:
        return len(os.sched_getaffinity(0)) > 1 and len(os.listdir(_THREADS)) == 1  # noqa: PTH208 - names are enough
    except OSError:
        return False


@dataclass(slots=True)
class _Child:
    """The second process, the end of its pipe that is read, and the process that reads it (their ids)."""

    pid: int
    file: BinaryIO
    owner: int

    @classmethod
    def start(cls, work: Callable[[], Iterable[object]]) -> _Child | None:
        """Fork; None where the system gives no pipe or no process."""
        try:
            ours, theirs = os.pipe()
        except OSError:
            return None
        with contextlib.suppress(OSError):
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, _ROOM)
        try:
            pid = os.fork()
        except OSError:
            os.close(ours)
            os.close(theirs)
            return None
        if not pid:
            _work(work, theirs)
        os.close(theirs)
        return cls(pid, os.fdopen(ours, "rb"), os.getpid())

    def end(self) -> None:
        """End the process if it still runs: what it would say is not wanted, and it holds nothing."""
        self.file.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _work(work: Callable[[], Iterable[object]], pipe: int) -> NoReturn:
    """Do the work in the second process and end it at once: nothing of the first one's is flushed or cleaned up."""
    status = 1
    gc.disable()  # it ends soon, and what it shares with the first process must not be written to
    try:
        with os.fdopen(pipe, "wb") as file:
            for result in work():
                pickle.dump(result, file, protocol=5)
                file.flush()
        status = 0
    finally:
        os._exit(status)
