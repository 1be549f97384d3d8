"""Hands the signals that tell us to stop to the command we run."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final, Self

from git_afd.adapters.process_family import send_group


def send_one(pid: int, number: int) -> None:
    """Send signal `number` to one process, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


Handler = Callable[[int, FrameType | None], object] | int | None


class Forwarding:
    """While open, SIGINT, SIGTERM and SIGHUP go to the group of the run and are remembered in `seen`.

    `send` delivers to what :meth:`attach` named: a group by default, which has a session of its own, so that the
    terminal reaches only us; or :func:`send_one`, for one child that stays in our group since it may ask on the
    terminal. A signal that was ignored when we started (nohup, a background job) stays ignored. SIGCHLD is put
    back to its default: a parent that ignores it hands that down, and then the kernel throws the exit code away.
    Outside the main thread Python allows no handlers: whoever owns the main thread deals with signals.
    """

    _FORWARDED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, send: Callable[[int, int], object] = send_group) -> None:
        """Nothing seen, no group."""
        self._send = send
        self.seen: list[int] = []
        self._group: int | None = None
        self._before: dict[signal.Signals, Handler] = {}

    def __enter__(self) -> Self:
        """Install the handlers."""
        if threading.current_thread() is threading.main_thread():
            for number in self._FORWARDED:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handle)
            self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(self, *_: object) -> None:
        """Put the former handlers back; one that was not set from Python becomes the default."""
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def attach(self, group: int) -> None:
        """Send to `group` from now on, also what came before it existed."""
        self._group = group
        for number in tuple(self.seen):
            self._send(group, number)

    def detach(self) -> None:
        """Send to nobody any more: what was attached has ended, and its number may be given to a stranger."""
        self._group = None

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.seen.append(number)
        if self._group is not None:
            self._send(self._group, number)
