"""Hands the signals that tell us to stop to the command we run."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final, Self

from git_afd.adapters.process_family import send_group

STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that tell us to stop."""


def send_one(pid: int, number: int) -> None:
    """Send signal `number` to one process, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


Handler = Callable[[int, FrameType | None], object] | int | None


class Forwarding:
    """While open, SIGINT, SIGTERM and SIGHUP go to the group of the run and are remembered in `seen`.

    `send` delivers to what :meth:`attach` named: a group by default, which has a session of its own, so that the
    terminal reaches only us; or :func:`send_one`, for one child that stays in our group since it may ask on the
    terminal. With `once` only the first is handed on: a second Ctrl-C would cut the command's cleaning up short.
    Signals that were held back (:class:`Stops`) come through while this is open. A signal that was ignored when we
    started (nohup, a background job) stays ignored. SIGCHLD is put back to its default: a parent that ignores it
    hands that down, and then the kernel throws the exit code away. Outside the main thread Python allows no handlers:
    whoever owns the main thread deals with signals.
    """

    def __init__(self, send: Callable[[int, int], object] = send_group, *, once: bool = False) -> None:
        """Nothing seen, no group."""
        self._send = send
        self._once = once
        self.seen: list[int] = []
        self._group: int | None = None
        self._before: dict[signal.Signals, Handler] = {}
        self._mask: set[signal.Signals | int] = set()

    def __enter__(self) -> Self:
        """Install the handlers."""
        if threading.current_thread() is threading.main_thread():
            for number in STOPS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handle)
            self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        return self

    def __exit__(self, *_: object) -> None:
        """Put the former handlers back; one that was not set from Python becomes the default."""
        if self._before:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def attach(self, group: int) -> None:
        """Send to `group` from now on, also what came before it existed."""
        self._group = group
        for number in self.seen[: 1 if self._once else None]:
            self._send(group, number)

    def detach(self) -> None:
        """Send to nobody any more: what was attached has ended, and its number may be given to a stranger."""
        self._group = None

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.seen.append(number)
        if self._group is not None and not (self._once and len(self.seen) > 1):
            self._send(self._group, number)


class Stops:
    """While open, SIGINT, SIGTERM and SIGHUP wait until somebody asks: what is being written is written whole.

    They are held back in the kernel, and so in every git that we start meanwhile: a Ctrl-C on a terminal goes to all
    of them. :class:`Forwarding` and :meth:`interruptible` let them through. What is still waiting at the end is
    dropped: by then there is nothing left to stop.
    """

    def __init__(self) -> None:
        """Nothing is held back yet."""
        self._told = False
        self._numbers: set[signal.Signals] = set()
        self._before: set[signal.Signals | int] = set()

    def __enter__(self) -> Self:
        """Hold them back, those that are not ignored anyway."""
        if threading.current_thread() is threading.main_thread():
            self._numbers = {number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN}
            self._before = signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)
        return self

    def __exit__(self, *_: object) -> None:
        """Drop what waits, and let the next ones through."""
        self._hear()
        if self._numbers:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    @property
    def told(self) -> bool:
        """Whether one of them has come while they were held back."""
        self._hear()
        return self._told

    def insist(self) -> None:
        """Raise KeyboardInterrupt when we were told to stop."""
        if self.told:
            raise KeyboardInterrupt

    def _hear(self) -> None:
        while waiting := signal.sigpending() & self._numbers:
            signal.sigwait(waiting)
            self._told = True

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """While open, the first of them raises KeyboardInterrupt: for what only waits."""
        handlers = {number: signal.signal(number, _interrupt) for number in self._numbers}
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for number, handler in handlers.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # one is enough
    raise KeyboardInterrupt
