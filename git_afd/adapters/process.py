"""The one door that runs gate commands: their output kept, their time bounded, their whole family ended.

Nothing that a run started outlives it without being named in its result.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, Self

from git_afd.adapters.kept_log import LogSink
from git_afd.adapters.process_family import RUN_VARIABLE, Family, lives, named
from git_afd.adapters.signal_forwarding import Forwarding
from git_afd.adapters.warden import Charge, NotStarted, start
from git_afd.core.git_environment import without_repository
from git_afd.errors import EnvironmentFault

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
    and stderr as they came, compressed when its name says so; `log_digest` is the SHA-256 of that text, `log_bytes`
    its length, `tail` its end.
    `left_behind` names processes that still lived when the command itself had ended and were ended for it,
    `killed` those that did not end on a signal in the time they had, `survivors` those that even SIGKILL did not
    end: pid, age and command of each.
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
    tail: bytes = b""

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
    tick: Callable[[], None] | None = None,
    hold: Sequence[int] = (),
) -> ProcessResult:
    """Run `argv` (a list, never a shell line) in `cwd` to its end and return how it ended.

    `env` is the whole environment; what locates a git repository is taken out, and Python children are told not
    to buffer (else nothing is live). stdin is empty. `log` must not exist yet, and is compressed when its name ends
    in ``.gz``; `echo` gets each piece of output as it comes, and is dropped when it fails with OSError: the run is
    worth more than the screen. When `timeout_s` seconds are over, its `errand` is done, or this program is told to
    stop, the family gets the signal, `grace_s` seconds to clean up, then SIGKILL; the same when this program dies,
    however it dies (see :mod:`git_afd.adapters.warden`): then the descriptors `hold` (locks) stay open until the
    family is gone. `tick` is called several times a second while the command runs. Raises EnvironmentFault: the
    program or the folder is not there, the log exists or cannot be written.
    """
    token = secrets.token_hex(8)
    marked = {"PYTHONUNBUFFERED": "1", **without_repository(env), RUN_VARIABLE: f"{env.get(RUN_VARIABLE, '')}/{token}"}
    with LogSink(log, echo) as sink, Forwarding(once=True) as forwarding:
        started = time.monotonic()
        try:
            charge = start(argv, cwd=cwd, env=marked, token=token, grace_s=grace_s, hold=hold)
        except NotStarted as error:
            raise _not_started(argv, cwd, error) from None
        with _Run(charge, Family(charge.leader, token, root=charge.warden), sink, forwarding, tick) as run:
            timed_out = run.watch(started + timeout_s, errand)
            left_behind = run.stop(grace_s)
        code = charge.code
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
        tail=sink.tail,
    )


def _not_started(argv: Sequence[str], cwd: Path, error: NotStarted) -> EnvironmentFault:
    program = argv[0] if argv else "(nothing)"
    if not cwd.is_dir():
        return EnvironmentFault(f"The folder {cwd} to run {program} in is not there.", "Name a folder that exists.")
    return EnvironmentFault(
        f"The program {program} could not be started: {error}.",
        "Install it or correct the command in the policy.",
        code="program-missing",
    )


class _Run:
    """One command that is running: its output, its family and its end."""

    def __init__(
        self,
        charge: Charge,
        family: Family,
        sink: LogSink,
        forwarding: Forwarding,
        tick: Callable[[], None] | None,
    ) -> None:
        self._charge = charge
        self._family = family
        self._sink = sink
        self._forwarding = forwarding
        self._tick = tick
        self._open: selectors.BaseSelector = selectors.DefaultSelector()
        self.stopped = False
        self.killed: tuple[str, ...] = ()
        self.survivors: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        for number in (self._charge.output, self._charge.report):
            self._open.register(number, selectors.EVENT_READ)
        self._forwarding.attach(self._family.leader)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Whatever happened above, the family does not outlive this block by more than its time to clean up."""
        self._open.close()
        if kind is None:
            self._charge.release()
        else:
            self._charge.abandon()

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
        if not self._charge.alone:
            self.killed = named(self._family.end_rest(signal.SIGTERM, until, self._pump_until))
            last = time.monotonic() + _KILL_WAIT_S
            self.survivors = named(self._family.end_rest(signal.SIGKILL, last, self._pump_until))
            self._pump_until(time.monotonic() + _SETTLE_S, self._ended)  # its warden has to notice first
        self._drain()
        return left_behind

    def _stragglers(self) -> tuple[str, ...]:
        """Return who lives a moment after the command's own end: a pipeline's members need not end as one."""
        if self._charge.alone or not (members := self._family.living()):
            return ()
        self._pump_until(time.monotonic() + _SETTLE_S, lambda: self._is_alone() or not any(map(lives, members)))
        return named(filter(lives, members))

    def _pump_until(self, until: float, done: Callable[[], bool]) -> None:
        while not done() and time.monotonic() < until:
            self._pump(_TICK_S / 2)

    def _ended(self) -> bool:
        self._charge.look()
        return self._charge.ended

    def _is_alone(self) -> bool:
        self._charge.look()
        return self._charge.alone

    def _pump(self, wait_s: float) -> None:
        """Copy what is there, waiting for output or news `wait_s` seconds at most."""
        self._sink.push()
        if self._tick:
            self._tick()
        ready = {key.fd for key, _ in self._open.select(wait_s)}
        if self._charge.output in ready:
            self._copy()
        if self._charge.report in ready:
            self._charge.look()
            if self._charge.silent:
                self._forget(self._charge.report)

    def _copy(self) -> bool:
        """Take one piece of output; False when there is none (yet, or for ever)."""
        if self._charge.output not in self._open.get_map():
            return False
        try:
            data = os.read(self._charge.output, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._sink.take(data)
        else:
            self._forget(self._charge.output)
        return bool(data)

    def _forget(self, number: int) -> None:
        if number in self._open.get_map():
            self._open.unregister(number)

    def _drain(self) -> None:
        """Take what stands in the pipe; a holder of it that we may not end does not make us wait."""
        end = time.monotonic() + _KILL_WAIT_S
        while self._copy() and time.monotonic() < end:
            pass
