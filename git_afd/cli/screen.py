"""What a person sees of a gate at work, on stderr: what its commands print, and one line that says how far it is.

On a terminal that line is the last one and is written anew several times a second; without one, a plain line is said
once a minute. Output is passed on by whole lines, so that the status never stands in the middle of one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from git_afd.core.progress import Progress, fitted

AGAIN_S: Final = 0.25
MINUTE_S: Final = 60.0
"""How often the status is said: on a terminal, and without one."""

_HELD: Final = 16 << 10
_ERASE: Final = b"\r\x1b[K"
_NARROWEST: Final = 8


class Screen:
    """Takes what is to be shown. `write` takes bytes whole; `width` is asked anew each time, since windows change.

    `every` is the time in seconds between two statuses, `clock` tells seconds.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        width: Callable[[], int] | None,
        every: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `width` there is no terminal."""
        self._write = write
        self._width = width
        self._every = every
        self._clock = clock
        self._progress: Progress | None = None
        self._held = b""
        self._shown = False
        self._inside = False
        self._gone = False
        self._said = clock()

    def tell(self, line: str) -> None:
        """Show a line of our own; what a command printed without an end of line is ended first."""
        self._finish()
        self._out(f"git-afd: {line}\n".encode(errors="backslashreplace"))

    def began(self, title: str, expected: int) -> None:
        """Say from now on how far this command is."""
        self._finish()
        self._said = self._clock()
        self._progress = Progress(title, expected, self._said)

    def ended(self) -> None:
        """Say nothing of the command any more: it has ended."""
        self._finish()
        self._progress = None

    def echo(self, data: bytes) -> None:
        """Pass on what a command printed, as far as its lines have ended."""
        if self._progress is not None:
            self._progress.feed(data)
        whole, end, rest = data.rpartition(b"\n")
        if end:
            self._out(self._held + whole + end)
            self._held, self._inside = rest, False
        else:
            self._held += rest
        if len(self._held) > _HELD:  # no line of text: shown as it comes, and no status inside it
            self._out(self._held)
            self._held, self._inside = b"", True

    def tick(self) -> None:
        """Say where it stands, when it is time."""
        now = self._clock()
        if self._progress is None or self._inside or now - self._said < self._every:
            return
        self._said = now
        line = self._progress.line(now)
        if self._width is None:
            self._out(f"git-afd: {line}\n".encode(errors="backslashreplace"))
        elif (cells := self._width() - 1) >= _NARROWEST:
            self._out(_ERASE + fitted(line, cells).encode(errors="replace"))
            self._shown = True

    def _finish(self) -> None:
        if self._held or self._inside:
            self._out(self._held + b"\n")
        self._held, self._inside = b"", False
        self._out(b"")

    def _out(self, data: bytes) -> None:
        """Write where the status stood. When nobody looks any more, the run goes on and nothing is written."""
        before = _ERASE if self._shown and not data.startswith(_ERASE) else b""
        self._shown = False
        if (before or data) and not self._gone:
            try:
                self._write(before + data)
            except OSError:
                self._gone = True


def stderr_screen() -> Screen:
    """Return the screen of this process: a terminal's only where it understands how to go back in a line."""
    number = sys.stderr.fileno()
    terminal = os.isatty(number) and os.environ.get("TERM", "dumb") not in ("dumb", "")
    width = (lambda: _columns(number)) if terminal else None
    return Screen(lambda data: _write_all(number, data), width=width, every=AGAIN_S if terminal else MINUTE_S)


def _columns(number: int) -> int:
    try:
        return os.get_terminal_size(number).columns or 80
    except OSError:
        return 80


def _write_all(number: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]
