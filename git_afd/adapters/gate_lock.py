"""One gate at a time: in a repository, and on a host's devices.

A lock is a file that the kernel unlocks when the last process that holds it is gone (flock(2)): nothing is ever left
to remove by hand. The wardens of a gate's commands hold it too, so that a gate that was killed keeps it until its
commands have ended. What stands in the file says who holds it, and is only believed while that process lives.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from git_afd.errors import Conflict, EnvironmentFault

_FILE: Final = "gate.lock"
_DEVICES: Final = "devices.lock"
_LIMIT: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock: a gate of an upgrade, its run (empty: none is recorded yet), its process and since when.

    `started` is the process's start in seconds since the epoch: a number is given to another process some day.
    """

    gate: str
    upgrade: str
    repository: str
    since: str
    pid: int
    started: float
    run: str = ""

    @property
    def lives(self) -> bool:
        """Whether that very process still runs."""
        import psutil

        try:
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.started) < 1 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def told(self) -> str:
        """Say who holds it, in a few words."""
        run = f", run {self.run}" if self.run else ""
        return f"gate {self.gate} of {self.upgrade}{run}, process {self.pid}, since {self.since}"


class GateLock:
    """The locks that a gate holds while it is at work for `run`; `numbers` are their descriptors, for its wardens."""

    def __init__(self, holder: Holder, numbers: tuple[int, ...]) -> None:
        """Write down who holds them."""
        self.numbers = numbers
        self.run = ""
        self._holder = holder
        self.name(holder.run)

    def name(self, run: str) -> None:
        """Write down which run they are held for."""
        self.run = run
        text = json.dumps({**asdict(self._holder), "run": run}, sort_keys=True).encode()
        for number in self.numbers:
            os.pwrite(number, text, 0)
            os.ftruncate(number, len(text))


@contextmanager
def gate_lock(home: Path, holder: Holder, *, devices: bool) -> Iterator[GateLock]:
    """Hold the repository's lock below `home`, and with `devices` the host's. Raises Conflict naming who holds it."""
    with ExitStack() as stack:
        numbers = [_held(stack, home / _FILE, "another gate runs in this repository", home)]
        if devices:
            place = _own_folder() / _DEVICES
            numbers.append(_held(stack, place, "another gate uses this host's devices", home))
        yield GateLock(holder, tuple(numbers))


def holder_of(home: Path) -> Holder | None:
    """Return the gate that runs in this repository now, None when none does or nothing can be known."""
    found = _read(home / _FILE)
    return found if found is not None and found.lives else None


def this_process() -> tuple[int, float]:
    """Return our pid and when we started."""
    import psutil

    return os.getpid(), psutil.Process().create_time()


def _held(stack: ExitStack, path: Path, what: str, home: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise EnvironmentFault(f"the lock {path} cannot be opened: {error.strerror}", "mend its rights") from error
    stack.callback(os.close, number)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _taken(path, what, home) from None
    return number


def _taken(path: Path, what: str, home: Path) -> Conflict:
    holder = _read(path)
    if holder is None:
        return Conflict(what, "wait for it, then run it again", code="gate-running")
    if not holder.lives:
        text = f"{what}: {holder.told()}, has died, and what it started is being ended"
        return Conflict(text, "run it again in a moment", code="gate-running")
    elsewhere = holder.repository != str(home)
    where = f" in {holder.repository}" if elsewhere else ""
    fix = "wait for it" if elsewhere or not holder.run else f"wait for it: git afd log --run {holder.run} --follow"
    return Conflict(f"{what}: {holder.told()}{where}", fix, code="gate-running")


def _read(path: Path) -> Holder | None:
    """Read who holds a lock; whatever else stands in the file, or nothing yet, is nobody."""
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(_LIMIT))
        holder = Holder(**said)
        return Holder(**{**asdict(holder), "pid": int(holder.pid), "started": float(holder.started)})
    except (OSError, ValueError, TypeError):
        return None


def _own_folder() -> Path:
    """Return a folder on this host that is this user's alone: where the session keeps such things, else below /tmp."""
    import tempfile

    session = os.environ.get("XDG_RUNTIME_DIR", "")
    if session and Path(session).is_dir():
        return Path(session) / "git-afd"
    folder = Path(tempfile.gettempdir()) / f"git-afd-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        seen = folder.lstat()
    except OSError as error:
        raise EnvironmentFault(f"{folder} cannot be made: {error.strerror}", "set XDG_RUNTIME_DIR") from error
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid():
        raise EnvironmentFault(f"{folder} is not a folder of this user", "set XDG_RUNTIME_DIR to one")
    return folder
