"""The warden's side: a copy of our process that starts one command, waits for its end and for ours, and never returns.

It reports in lines: ``leader PID``, then ``started`` or ``failed WHY``, ``ended CODE`` (negative for a signal),
``alone`` when nothing that came from the command is left. It listens for one byte, which dismisses it; the end of
that pipe without the byte means that we died.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

from git_afd.adapters.process_family import Family
from git_afd.adapters.signal_forwarding import STOPS

_PR_SET_CHILD_SUBREAPER: Final = 36
_TICK_S: Final = 0.05
_KILL_WAIT_S: Final = 10.0
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Duty:
    """What one warden has to do; the descriptors: where we are heard and answered, the output's two ends."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    token: str
    grace_s: float
    hold: tuple[int, ...]
    control: int
    report: int
    theirs: int
    output: int


def serve(duty: Duty) -> NoReturn:
    """Be the warden until dismissed; whatever happens in here, the caller's code does not run twice."""
    code = 1
    try:
        gc.disable()
        _serve(duty)
        code = 0
    finally:
        os._exit(code)


def _serve(duty: Duty) -> None:
    os.setsid()  # the terminal's Ctrl-C and hang-up are ours to hand on, not the warden's to die of
    _close_others({duty.control, duty.report, duty.theirs, duty.output, *duty.hold})
    ignored: set[int] = {number for number in STOPS if signal.getsignal(number) is signal.SIG_IGN}
    woken = _wake_on_child()
    for stop in STOPS:
        signal.signal(stop, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    complete = _become_subreaper()
    leader = _start(duty, ignored)
    if leader is None:
        return
    os.close(duty.theirs)  # the pipe ends when the command's family is gone, not when we are
    for number in (1, 2):
        os.dup2(0, number)
    _say(duty, "started")
    if not _watch(duty, leader, woken, complete=complete):
        _end(duty, leader)


def _close_others(kept: set[int]) -> None:
    """Close what we inherited: another run's pipes, the repository's files. Standard streams stay, input is empty."""
    low = 3
    for number in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        os.closerange(low, number)
        low = number + 1
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)


def _wake_on_child() -> int:
    """Make the end of a child readable on the returned descriptor."""
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    os.set_blocking(woken, False)
    return woken


def _become_subreaper() -> bool:
    """Have orphans handed to us (prctl(2), Linux); return whether they will be."""
    if sys.platform != "linux":
        return False
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _start(duty: Duty, ignored: set[int]) -> int | None:
    """Start the command; None when it cannot be, which is reported."""
    failed, failing = os.pipe()
    leader = os.fork()
    if leader == 0:
        _become(duty, failing, ignored)
    _say(duty, f"leader {leader}")
    os.close(failing)
    why = b"".join(iter(lambda: os.read(failed, _CHUNK), b""))
    os.close(failed)
    if why:
        os.waitpid(leader, 0)
        _say(duty, f"failed {why.decode(errors='replace')}")
        return None
    return leader


def _become(duty: Duty, failing: int, ignored: set[int]) -> NoReturn:
    """Turn into the command: what Python and the warden changed about signals is put back first."""
    try:
        os.setsid()
        for number in {*STOPS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ} - ignored:
            signal.signal(number, signal.SIG_DFL)
        os.dup2(duty.theirs, 1)
        os.dup2(duty.theirs, 2)
        os.chdir(duty.cwd)
        os.execvpe(duty.argv[0], duty.argv, dict(duty.env))  # noqa: S606 - no shell is the point
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        os.write(failing, why.encode(errors="replace"))
    finally:
        os._exit(127)


def _say(duty: Duty, *lines: str) -> None:
    """Report in one piece: who hears of the command's end hears at once whether anything is left."""
    if lines:
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(duty.report, "".join(f"{line}\n" for line in lines).encode())


def _watch(duty: Duty, leader: int, woken: int, *, complete: bool) -> bool:
    """Wait for the command's end and report it; return True when dismissed, False when those we serve have died."""
    ended = alone = False
    heard = select.poll()
    for number in (duty.control, woken):
        heard.register(number, select.POLLIN)
    while True:
        news = []
        if not ended and (code := _code_of(leader)) is not None:
            ended = True
            news.append(f"ended {code}")
        if ended and complete and not alone and _childless(but=leader):
            alone = True
            news.append("alone")
        _say(duty, *news)
        if any(number == duty.control for number, _ in heard.poll()):
            return bool(os.read(duty.control, 1))
        with contextlib.suppress(BlockingIOError):
            os.read(woken, _CHUNK)


def _code_of(leader: int) -> int | None:
    """Return how the command ended, without reaping it: its pid, and so its group, is given to nobody else."""
    if not hasattr(os, "waitid"):
        pid, status = os.waitpid(leader, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None
    found = os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _childless(*, but: int) -> bool:
    """Reap the orphans that have ended; say whether none lives. False where the kernel does not list children."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123 - no pathlib in a fork
            children = [int(word) for word in file.read().split()]
    except OSError:
        return False
    living = [pid for pid in children if pid != but]
    return not [pid for pid in living if os.waitpid(pid, os.WNOHANG)[0] == 0]


def _end(duty: Duty, leader: int) -> None:
    """End the family of a run whose tool has died: a signal, time to clean up, SIGKILL."""
    family = Family(leader, duty.token, root=os.getpid())
    os.set_blocking(duty.output, False)
    until = time.monotonic() + duty.grace_s
    family.tell_all(signal.SIGTERM, group_knows=False)
    family.end_rest(signal.SIGTERM, until, partial(_swallow_until, duty))
    family.end_rest(signal.SIGKILL, time.monotonic() + _KILL_WAIT_S, partial(_swallow_until, duty))


def _swallow_until(duty: Duty, until: float, done: Callable[[], bool]) -> None:
    """Read and drop what the family prints meanwhile: a full or broken pipe must not cut its cleaning up short."""
    while not done() and time.monotonic() < until:
        time.sleep(_TICK_S)
        with contextlib.suppress(BlockingIOError):
            while os.read(duty.output, _CHUNK):
                pass
