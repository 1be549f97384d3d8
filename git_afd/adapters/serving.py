"""Waits until a server is ready, makes one request to it, and looks at its processes meanwhile.

It is the errand of a running command (see :mod:`git_afd.adapters.process`): the talking goes on in a thread of its own,
so that the server's output is read, and its end and ours are noticed, while an answer is awaited.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from git_afd.adapters.host_snapshot import listeners_here
from git_afd.adapters.http_exchange import NoReply, Reply, exchange
from git_afd.adapters.process_family import RUN_VARIABLE, Family
from git_afd.adapters.signal_forwarding import STOPS
from git_afd.core.evidence.native_answer import RESPONSE_LIMIT
from git_afd.core.evidence.secrets import shown_words
from git_afd.core.evidence.served import Listener, Seen
from git_afd.core.native_cell import Cell

if TYPE_CHECKING:
    from psutil import Process

_ASK_S: Final = 5.0
_PAUSES_S: Final = (0.05, 1.0)
_SEEN_LIMIT: Final = 1000
_FREE_S: Final = 1.0
_JOIN_S: Final = 5.0
_LATE_S: Final = 10.0
_OK: Final = 200
_DECIDES: Final = ("VLLM_PLUGINS", "PYTHONPATH", "ASCEND_RT_VISIBLE_DEVICES", "VLLM_VERSION")


@dataclass(slots=True)
class Serving:
    """The errand of one cell; what it saw stands in its fields, whenever and however the server ended.

    `port` is where the server listens, `body` the request's. `ready_s` is set when the server is ready; the request
    is made only after whoever runs the server has looked at who listens.
    """

    cell: Cell
    port: int
    body: bytes
    ready_s: float | None = None
    waiting: str = ""
    reply: Reply | None = None
    reply_s: float | None = None
    fault: str = ""
    more: int = 0
    listeners: dict[Listener, None] = field(default_factory=dict)
    _seen: dict[tuple[int, tuple[str, ...], bool], Seen] = field(default_factory=dict)
    _began: float = 0.0
    _asked: float = 0.0
    _next_look: float = 0.0
    _thread: threading.Thread | None = None
    _go: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _talked: threading.Event = field(default_factory=threading.Event)

    @property
    def processes(self) -> tuple[Seen, ...]:
        """The processes of the family, each as often as its arguments were seen to change."""
        return tuple(self._seen.values())

    def done(self, family: Family) -> bool:
        """Look, let the request be made, and say whether there is nothing more to do."""
        now = time.monotonic()
        if self._thread is None:
            self._began = now
            self._thread = threading.Thread(target=self._talk, name="git-afd-serving", daemon=True)
            self._thread.start()
        if now >= self._next_look:
            self._look(family)
            self._next_look = time.monotonic() + min(max((now - self._began) / 4, _PAUSES_S[0]), _PAUSES_S[1])
        if self.ready_s is not None and not self._go.is_set():
            self._look(family)
            self._look_at_port(family)
            self._asked = time.monotonic()
            self._go.set()
        if self._talked.is_set():
            self._look(family)
            self._look_at_port(family)
            return True
        return self._go.is_set() and now > self._asked + self.cell.request.timeout_s + _LATE_S

    def close(self) -> None:
        """End the thread, whatever it waits for; the server has ended by now, so nothing keeps it."""
        self._stop.set()
        self._go.set()
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def _talk(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # they are for whoever runs the server
        try:
            if self._wait_ready():
                self.ready_s = time.monotonic() - self._began
                self._go.wait()
                if not self._stop.is_set():
                    self._request()
        finally:
            self._talked.set()

    def _wait_ready(self) -> bool:
        ready, until = self.cell.ready, self._began + self.cell.ready.timeout_s
        pause = _PAUSES_S[0]
        while not self._stop.is_set() and (left := until - time.monotonic()) > 0:
            try:
                reply = self._exchange(ready.path, None, min(_ASK_S, left))
                if reply.status == _OK:
                    return True
                self.waiting = f"GET {ready.path} was answered with HTTP {reply.status}"
            except NoReply as reason:
                self.waiting = f"GET {ready.path}: {reason}"
            self._stop.wait(pause)
            pause = min(pause * 1.5, _PAUSES_S[1])
        return False

    def _request(self) -> None:
        began, request = time.monotonic(), self.cell.request
        try:
            self.reply = self._exchange(request.endpoint, self.body, request.timeout_s)
            self.reply_s = time.monotonic() - began
        except NoReply as reason:
            self.fault = str(reason)

    def _exchange(self, path: str, body: bytes | None, timeout_s: float) -> Reply:
        return exchange(self.cell.host, self.port, path, body=body, timeout_s=timeout_s, limit=RESPONSE_LIMIT)

    def _look(self, family: Family) -> None:
        for process in family.living():
            seen = _seen(process)
            if seen is None:
                continue
            key = (seen.pid, seen.argv, seen.environment is not None)
            if len(self._seen) < _SEEN_LIMIT:
                self._seen.setdefault(key, seen)
            elif key not in self._seen:
                self.more += 1

    def _look_at_port(self, family: Family) -> None:
        ours = {process.pid for process in family.living()}
        self.listeners |= {Listener(name, pid in ours): None for pid, name in _listening(self.port)}


def listeners(port: int) -> tuple[str, ...]:
    """Return who listens at a TCP port of this host, as ``pid name``; somebody else's is ``unknown``."""
    return tuple(name for _, name in _listening(port))


def free_port() -> int:
    """Return a port of this host that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def freed(port: int) -> tuple[str, ...]:
    """Wait a little until nobody listens at `port`; return who still does."""
    until = time.monotonic() + _FREE_S
    while (left := listeners(port)) and time.monotonic() < until:
        time.sleep(_PAUSES_S[0])
    return left


def folder_of(program: str) -> str:
    """Return the folder that a program stands in, the folder's symbolic links resolved but not the program's own.

    Two virtual environments have the same interpreter behind their links, and differ in this folder.
    """
    return str(Path(program).parent.resolve()) if Path(program).is_absolute() else ""


def _listening(port: int) -> Iterator[tuple[int | None, str]]:
    """Yield who listens at `port`; a host that does not say counts as somebody whom nobody knows."""
    found = listeners_here()
    if found is None:
        yield None, "unknown (this host does not say who listens)"
        return
    yield from ((pid, _name(pid)) for number, pid in found if number == port)


def _name(pid: int | None) -> str:
    import psutil

    if pid is None:
        return "unknown"
    try:
        return f"{pid} {psutil.Process(pid).name()}"
    except psutil.Error:
        return f"{pid} ?"


def _seen(process: Process) -> Seen | None:
    """Return what a process is now; None when it has ended."""
    import psutil

    try:
        argv = process.cmdline()
        folder = folder_of(argv[0] if argv else "") or folder_of(process.exe())
    except (psutil.Error, OSError):
        return None
    return Seen(process.pid, tuple(shown_words(argv)), folder, _environment(process))


def _environment(process: Process) -> Mapping[str, str] | None:
    """Return what decides in a process's environment; None when it is unreadable, or lacks even our own mark."""
    import psutil

    try:
        found = process.environ()
    except (psutil.Error, OSError):
        return None
    if RUN_VARIABLE not in found and "VLLM_PLUGINS" not in found:
        return None
    return {name: value for name, value in found.items() if name in _DECIDES or name.startswith("AFD_")}
