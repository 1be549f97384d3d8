"""What a freeze is about to make, written down before it makes it: so that a killed one can be taken back.

The marker stands in the plugin's common git dir until the freeze's record is in the ledger. Only what it names
is ever taken back, and of that only what git put there (scenario E18). One freeze at a time, by a lock that the
kernel frees when the process dies.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from git_afd.adapters.pins import unpin
from git_afd.adapters.signal_forwarding import STOPS
from git_afd.adapters.sources import open_source
from git_afd.adapters.worktrees import take_back
from git_afd.errors import AfdError, Conflict, EnvironmentFault

_MARKER: Final = "freeze-begun.json"


@dataclass(frozen=True, slots=True)
class Target:
    """A worktree to be made: of which source directory, at which commit (full id), where, with which lock reason."""

    upstream: str
    source: str
    commit: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Making:
    """Everything that a freeze adds before its record exists.

    `upgrade` is the upgrade whose record makes it all final; empty when that is recorded already and only a lost
    worktree is put back: then what was begun and not finished is always taken back.
    `pins` maps upstreams to refs (full names) and commits, `sources` upstreams to source directories;
    `folders` are directories that did not exist before, outermost first.
    """

    upgrade: str
    sources: Mapping[str, str]
    targets: tuple[Target, ...]
    pins: Mapping[str, Mapping[str, str]]
    folders: tuple[str, ...]


@contextmanager
def one_freeze_at_a_time(home: Path) -> Iterator[None]:
    """Hold the lock of freezing. Raises Conflict when another freeze of this repository holds it."""
    home.mkdir(exist_ok=True)
    with (home / "freeze.lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("another git afd freeze is at work here", "wait for it, then run it again") from None
        yield


@contextmanager
def one_interrupt() -> Iterator[None]:
    """While open, the first signal that stops raises KeyboardInterrupt, and later ones do not disturb the undoing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        for other in STOPS:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt(number)

    before = {number: signal.getsignal(number) for number in STOPS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def begin(home: Path, making: Making) -> None:
    """Write the marker, durably, before anything that it names is made; then make the folders."""
    text = json.dumps(asdict(making), sort_keys=True)
    part = home / f"{_MARKER}.part"
    with part.open("w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(home / _MARKER)
    for folder in making.folders:
        try:
            Path(folder).mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise EnvironmentFault(
                f"{folder} cannot be made: {error.strerror}", "name another with --worktrees"
            ) from error


def begun(home: Path) -> Making | None:
    """Return what an unfinished freeze has written down, None when there is none."""
    try:
        data = json.loads((home / _MARKER).read_text(encoding="utf-8", errors="surrogateescape"))
        targets = tuple(Target(**item) for item in data["targets"])
        return Making(data["upgrade"], data["sources"], targets, data["pins"], tuple(data["folders"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise EnvironmentFault(f"{home / _MARKER} cannot be read: {error}", "look at it, then move it away") from error


def insist_idle(making: Making) -> None:
    """Raise Conflict while a git process that a killed freeze started still works in one of its worktrees."""
    import psutil

    for process in psutil.process_iter(["cmdline", "cwd"]):
        words = [*(process.info["cmdline"] or []), process.info["cwd"] or ""]
        for target in making.targets:
            if target.path in words and process.pid != os.getpid():
                message = f"process {process.pid} of a freeze that was killed is still at work in {target.path}"
                raise Conflict(message, "wait for it to end, then run the same command again")


def finish(home: Path) -> None:
    """Forget the marker: what it names is in the ledger, or is gone."""
    (home / _MARKER).unlink(missing_ok=True)


def undo(home: Path, making: Making) -> tuple[str, ...]:
    """Take back what the marker names. Return what stays because it is not ours to remove.

    The marker is forgotten when nothing stays: else the next freeze comes back to it.
    """
    left: list[str] = []
    for upstream, directory in making.sources.items():
        targets = [target for target in making.targets if target.upstream == upstream]
        try:
            source = open_source(upstream, Path(directory))
            for target in targets:
                left += take_back(source, target.commit, Path(target.path), target.reason)
            unpin(source.git, source.common_dir, making.pins.get(upstream, {}))
        except AfdError:
            # the source itself is gone or broken: nothing in it can be taken back
            left += [target.path for target in targets if Path(target.path).exists()]
    for folder in reversed(making.folders):
        with suppress(OSError):
            Path(folder).rmdir()
    if not left:
        finish(home)
    return tuple(left)
