"""The one door that runs gate commands: their output kept, their time bounded, their whole family ended.

Nothing that a run started outlives it without being named in its result.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, Self

from git_afd.adapters.process_family import RUN_VARIABLE, Family, lives, named, send_group
from git_afd.adapters.signal_forwarding import Forwarding
from git_afd.core.git_environment import without_repository
from git_afd.errors import EnvironmentFault

if TYPE_CHECKING:
    from psutil import Process

TEARDOWN_S: Final = 90.0
"""How long a command may clean up: releasing NPU memory takes 45 s and more (domain: NPU host evidence)."""

_TICK_S: Final = 0.1
_KILL_WAIT_S: Final = 5.0
_SETTLE_S: Final = 0.5
_CHUNK: Final = 1 << 16


class Errand(Protocol):
    """What is done while a command runs, such as a request to a server; the command is stopped when it is done."""

    def done(self, family: Family) -> bool:
        """Say whether it is done; asked again and again, and must not block."""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How one command ended.

    `exit_code` is None when a signal ended it; `signal` is that signal's number, else None. `timed_out`: its
    time was up. `interrupted`: this program was told to stop meanwhile (SIGINT, SIGTERM, SIGHUP); the caller
    must stop too. `stopped`: it still ran when its errand was done, and was told to end then. `log` holds stdout
    and stderr as they came, `log_digest` its SHA-256, `log_bytes` its length.
    `left_behind` names processes that still lived when the command itself had ended and were ended for it,
    `killed` those that did not end on a signal in the time they had, `survivors` those that even SIGKILL did not
    end: all as ``pid name``.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    interrupted: bool
    duration_s: float
    log: Path
    log_digest: str
    log_bytes: int
    left_behind: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    killed: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the command ended by itself, in time, with exit code 0, and all that it started is gone."""
        return self.exit_code == 0 and not (self.timed_out or self.interrupted or self.survivors)


def run_command(  # noqa: PLR0913 - one call that says everything about a run, all by name
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    timeout_s: float,
    grace_s: float = TEARDOWN_S,
    echo: Callable[[bytes], None] | None = None,
    errand: Errand | None = None,
) -> ProcessResult:
    """Run `argv` (a list, never a shell line) in `cwd` to its end and return how it ended.

    `env` is the whole environment; what locates a git repository is taken out, and Python children are told not
    to buffer (else nothing is live). stdin is empty. `log` must not exist yet; `echo` gets each piece of output
    as it comes, and is dropped when it fails with OSError: the run is worth more than the screen. When
    `timeout_s` seconds are over, its `errand` is done, or this program is told to stop, the family gets the
    signal, `grace_s` seconds to clean up, then SIGKILL. Raises EnvironmentFault: the program or the folder is not
    there, the log exists or cannot be written.
    """
    token = secrets.token_hex(8)
    marked = {"PYTHONUNBUFFERED": "1", **without_repository(env), RUN_VARIABLE: f"{env.get(RUN_VARIABLE, '')}/{token}"}
    with _Log(log, echo) as sink, Forwarding() as forwarding:
        started = time.monotonic()
        process, output = _start(argv, cwd, marked)
        with _Run(process, output, Family(process.pid, token), sink, forwarding) as run:
            timed_out = run.watch(started + timeout_s, errand)
            left_behind = run.stop(grace_s)
        code = run.code()
        duration = time.monotonic() - started
    if sink.fault:
        raise EnvironmentFault(f"The log {log} could not be written: {sink.fault}.", "Make room and run again.")
    return ProcessResult(
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        timed_out=timed_out,
        interrupted=bool(forwarding.seen),
        duration_s=duration,
        log=log,
        log_digest=sink.digest.hexdigest(),
        log_bytes=sink.size,
        left_behind=left_behind,
        survivors=run.survivors,
        killed=run.killed,
        stopped=run.stopped,
    )


def _start(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start `argv` in a session of its own; return it and the descriptor that its output is read from."""
    output, theirs = os.pipe()
    try:
        process = subprocess.Popen(
            list(argv), cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True
        )
    except (OSError, ValueError, IndexError) as error:
        os.close(output)
        raise _not_started(argv, cwd, error) from None
    finally:
        os.close(theirs)
    return process, output


def _not_started(argv: Sequence[str], cwd: Path, error: Exception) -> EnvironmentFault:
    program = argv[0] if argv else "(nothing)"
    if not cwd.is_dir():
        return EnvironmentFault(f"The folder {cwd} to run {program} in is not there.", "Name a folder that exists.")
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return EnvironmentFault(
        f"The program {program} could not be started: {why}.",
        "Install it or correct the command in the policy.",
        code="program-missing",
    )


class _Log:
    """The log file, its digest and the screen: one place that takes output."""

    def __init__(self, path: Path, echo: Callable[[bytes], None] | None) -> None:
        self.digest = hashlib.sha256()
        self.size = 0
        self.fault = ""
        self._path = path
        self._echo = echo
        self._file: BinaryIO

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("xb", buffering=0)
        except OSError as error:
            raise EnvironmentFault(
                f"The log {self._path} cannot be made: {error.strerror}.", "Give the run a folder of its own."
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def take(self, data: bytes) -> None:
        """Write `data`; after a failure only swallow, so that the command can still end."""
        if self.fault:
            return
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.fault = error.strerror or str(error)
            return
        self.digest.update(data)
        self.size += len(data)
        self._show(data)

    def _show(self, data: bytes) -> None:
        if self._echo is None:
            return
        try:
            self._echo(data)
        except OSError:  # the reader of our screen went away (a closed pipe)
            self._echo = None


class _Run:
    """One command that is running: its output, its family and its end."""

    def __init__(
        self, process: subprocess.Popen[bytes], output: int, family: Family, sink: _Log, forwarding: Forwarding
    ) -> None:
        self._process = process
        self._family = family
        self._sink = sink
        self._forwarding = forwarding
        self._pipe = output
        self._open: selectors.BaseSelector = selectors.DefaultSelector()
        self._nap = _TICK_S / 64
        self._lost = False
        self.stopped = False
        self.killed: tuple[str, ...] = ()
        self.survivors: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        os.set_blocking(self._pipe, False)
        self._open.register(self._pipe, selectors.EVENT_READ)
        self._forwarding.attach(self._family.leader)
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever happened above, the group does not outlive this block."""
        if not self._ended():
            send_group(self._family.leader, signal.SIGKILL)
        self._open.close()
        os.close(self._pipe)

    def watch(self, deadline: float, errand: Errand | None) -> bool:
        """Copy output until the command ends, a signal comes, `errand` is done or `deadline` passes: then True."""
        while not (self._ended() or self._forwarding.seen or self._sink.fault):
            if errand is not None and errand.done(self._family):
                self.stopped = not self._ended()
                return False
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            self._pump(min(_TICK_S, left))
        return False

    def stop(self, grace_s: float) -> tuple[str, ...]:
        """End the family: a signal, time to clean up, SIGKILL; return who was left behind."""
        until = time.monotonic() + grace_s
        left_behind: tuple[str, ...] = ()
        if self._ended():
            left_behind = self._stragglers()
            if not left_behind:
                self._drain()
                return ()
        else:
            forwarded = self._forwarding.seen[0] if self._forwarding.seen else None
            self._family.tell_all(forwarded or signal.SIGTERM, group_knows=forwarded is not None)
            self._pump_until(until, self._ended)
        self.killed = named(self._end_rest(signal.SIGTERM, until))
        self.survivors = named(self._end_rest(signal.SIGKILL, time.monotonic() + _KILL_WAIT_S))
        self._drain()
        return left_behind

    def code(self) -> int | None:
        """Return the exit code, negative for a signal; None when the command lives still or nobody can know."""
        return self._process.poll() if not self._lost else None

    def _stragglers(self) -> tuple[str, ...]:
        """Return who lives a moment after the command's own end: a pipeline's members need not end as one."""
        members = self._family.living()
        self._pump_until(time.monotonic() + _SETTLE_S, lambda: not any(map(lives, members)))
        return named(filter(lives, members))

    def _end_rest(self, number: int, until: float) -> list[Process]:
        """Send `number`, once each, to whoever lives, newcomers too, until none does or time is up."""
        while (members := self._family.living()) and time.monotonic() < until:
            self._family.tell(members, number)
            self._pump_until(until, lambda: not any(map(lives, members)))
        return members

    def _pump_until(self, until: float, done: Callable[[], bool]) -> None:
        while not done() and time.monotonic() < until:
            self._pump(_TICK_S / 2)

    def _ended(self) -> bool:
        """Say whether the command itself ended, without reaping it: its pid, and so its group, stays ours."""
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        try:
            flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:  # somebody ignores SIGCHLD: the exit code is gone
            self._lost = self._process.returncode is None
            return True

    def _pump(self, wait_s: float) -> None:
        """Copy what is there, waiting for it `wait_s` seconds at most; after the end of output just wait."""
        if not self._open.get_map():
            time.sleep(min(wait_s, self._nap))
            self._nap *= 2
        elif self._open.select(wait_s):
            self._copy()

    def _copy(self) -> bool:
        """Take one piece of output; False when there is none (yet, or for ever)."""
        if not self._open.get_map():
            return False
        try:
            data = os.read(self._pipe, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._sink.take(data)
        else:
            self._open.unregister(self._pipe)
        return bool(data)

    def _drain(self) -> None:
        """Take what stands in the pipe; a holder of it that we may not end does not make us wait."""
        end = time.monotonic() + _KILL_WAIT_S
        while self._copy() and time.monotonic() < end:
            pass
