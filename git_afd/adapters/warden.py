"""Starts a command below a warden: a process of ours that outlives us only to end what we started.

A tool that is killed (SIGKILL, out of memory) can clean up nothing. So each command is started by a small copy of this
process, in a session of its own, which waits for two things: that the command ends, and that we do. We hold one end of
a pipe to it; the kernel closes that end however we die. Then the warden ends the whole family, gently first.

On Linux it is also the *subreaper*: whatever the command starts stays below it in the process tree, even what leaves
its group, its session and its environment. Elsewhere only the group, the line of parents and the mark in the
environment lead to the family (see :mod:`git_afd.adapters.process_family`). What a service manager or a container
engine starts on a command's behalf is nobody's child here and is not found on any system.
"""

from __future__ import annotations

import contextlib
import errno
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from git_afd.adapters.warden_duty import Duty, serve

_LINE: Final = 1 << 12
_NO_THREADS: Final = ".*multi-threaded.*fork.*"


class NotStarted(Exception):
    """The command could not be started; the text says why, in the system's words."""


@dataclass(slots=True)
class Charge:
    """A command below its warden.

    `leader` is its pid, and its process group and session; `warden` the pid of the process that watches it;
    `output` the descriptor to read what it prints from; `report` becomes readable when there is news.
    """

    warden: int
    leader: int
    output: int
    report: int
    _control: int
    _said: bytes = b""
    _code: list[int] = field(default_factory=list)
    _alone: bool = False
    _gone: bool = False

    @property
    def ended(self) -> bool:
        """Whether the command itself has ended, as far as :meth:`look` has heard."""
        return bool(self._code) or self._gone

    @property
    def code(self) -> int | None:
        """The command's exit code, negative for a signal; None while it lives, or when nobody can know it."""
        return self._code[0] if self._code else None

    @property
    def alone(self) -> bool:
        """Whether the warden has seen that nothing which the command started lives any more."""
        return self._alone

    @property
    def silent(self) -> bool:
        """Whether the warden is gone (killed): it says nothing more, and the command counts as ended."""
        return self._gone

    def look(self) -> None:
        """Hear what the warden has said meanwhile."""
        with contextlib.suppress(BlockingIOError):
            while not self._gone:
                data = os.read(self.report, _LINE)
                self._gone = not data
                *lines, self._said = (self._said + data).split(b"\n")
                for line in lines:
                    self._hear(line)

    def release(self) -> None:
        """Let the warden go: all that could be ended has ended, and the command's pid may be given away."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, b".")
        self.abandon()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.warden, 0)

    def abandon(self) -> None:
        """Stop watching: the warden ends the family as if we had died."""
        for number in (self._control, self.report, self.output):
            os.close(number)

    def _hear(self, line: bytes) -> None:
        word, _, rest = line.partition(b" ")
        if word == b"ended":
            self._code.append(int(rest))
        elif word == b"alone":
            self._alone = True


def start(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], token: str, grace_s: float, hold: Sequence[int] = ()
) -> Charge:
    """Start `argv` in `cwd` with exactly the environment `env`; both outputs go to one pipe, the input is empty.

    `token` marks the family in `env`. When this process dies, the warden gives the family `grace_s` seconds to clean
    up, and keeps the descriptors `hold` open (locks) until all of it is gone. Raises NotStarted.
    """
    if not argv or any("\0" in word for word in argv):
        raise NotStarted("embedded null byte" if argv else "there is no command")
    output, theirs = os.pipe()
    watched, control = os.pipe()
    report, reporting = os.pipe()
    duty = Duty(tuple(argv), str(cwd), env, token, grace_s, tuple(hold), watched, reporting, theirs, output)
    try:
        warden = _fork()
        if warden == 0:
            serve(duty)
    except OSError as error:
        for number in (output, control, report):
            os.close(number)
        raise NotStarted(error.strerror or str(error)) from None
    finally:
        for number in (theirs, watched, reporting):
            os.close(number)
    return _started(Charge(warden, 0, output, report, control))


def _fork() -> int:
    """Copy this process; what comes after in the copy uses no lock that another thread could have held."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NO_THREADS, DeprecationWarning)
        return os.fork()


def _started(charge: Charge) -> Charge:
    """Wait until the command runs, or could not be started; a warden that is killed meanwhile has left one to end."""
    charge.leader = int(_line(charge.report).partition(" ")[2] or 0)
    word, _, why = _line(charge.report).partition(" ") if charge.leader else ("failed", "", os.strerror(errno.EAGAIN))
    if word == "failed":
        charge.release()
        raise NotStarted(why)
    for number in (charge.output, charge.report):
        os.set_blocking(number, False)
    return charge


def _line(report: int) -> str:
    """Read one line, byte by byte: what follows it is for :meth:`Charge.look`."""
    said = b""
    while (data := os.read(report, 1)) not in (b"", b"\n"):
        said += data
    return said.decode(errors="replace")
