"""Who belongs to a run, and how they are told to end.

A gate command starts servers, servers start workers, and some leave the process group on purpose. A run's
family is known by three marks: the process group, the line of parents (up to its warden, which on Linux is also given
the orphans), and a token in the environment that every descendant inherits.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from psutil import Process

RUN_VARIABLE: Final = "GIT_AFD_RUN"
"""Every process of a run inherits this; nested runs append to it, so the outer one still knows its own."""


class Family:
    """The command (`leader`, its pid and process group) and all that came from it, marked by `token`.

    `root` is the process that all of it stands below: the warden, which is no member itself.
    """

    def __init__(self, leader: int, token: str, *, root: int) -> None:
        """Start with nobody told anything."""
        self.leader = leader
        self._root = root
        self._token = token
        self._told: set[tuple[Process, int]] = set()

    def living(self) -> list[Process]:
        """Return all that live now, by pid; a zombie holds no device, no port and no memory, and is left out."""
        import psutil

        members: set[Process] = set()
        with contextlib.suppress(psutil.Error):  # it was killed; its charges are found by their other marks
            members.update(psutil.Process(self._root).children(recursive=True))
        members.update(process for process in psutil.process_iter() if self._is_marked(process))
        return sorted(filter(lives, members), key=lambda member: member.pid)

    def tell_all(self, number: int, *, group_knows: bool) -> None:
        """Send signal `number` to the group (unless it had it already) and to those who left it."""
        members = self.living()
        if not group_knows:
            send_group(self.leader, number)
        self._told.update((member, number) for member in members if self._in_group(member))
        self.tell(members, number)

    def tell(self, members: Iterable[Process], number: int) -> None:
        """Send signal `number` to each member that has not had it: a second one would cut its cleaning up short."""
        import psutil

        for member in members:
            if (member, number) not in self._told:
                self._told.add((member, number))
                with contextlib.suppress(psutil.Error, OSError):  # it ended meanwhile
                    member.send_signal(number)

    def end_rest(self, number: int, until: float, wait: Callable[[float, Callable[[], bool]], None]) -> list[Process]:
        """Send `number`, once each, to whoever lives, newcomers too, until none does or `until` (monotonic) passes.

        `wait` waits until a moment or a condition. Returns who lives still.
        """
        while (members := self.living()) and time.monotonic() < until:
            self.tell(members, number)
            wait(until, partial(_none_lives, members))
        return members

    def _is_marked(self, process: Process) -> bool:
        import psutil

        try:
            return self._in_group(process) or self._token in process.environ().get(RUN_VARIABLE, "")
        except (psutil.Error, OSError):  # it ended, or belongs to somebody else
            return False

    def _in_group(self, process: Process) -> bool:
        try:
            return os.getpgid(process.pid) == self.leader
        except OSError:  # it ended, or belongs to another session
            return False


def lives(process: Process) -> bool:
    """Say whether `process` still runs and is no zombie."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _none_lives(members: Iterable[Process]) -> bool:
    return not any(map(lives, members))


def named(processes: Iterable[Process]) -> tuple[str, ...]:
    """Say of each process who it is: pid, age and command."""
    from git_afd.adapters.host_snapshot import seen  # every command that calls git would pay for it

    now = time.time()
    return tuple(seen(process).told(now) for process in processes)


def send_group(group: int, number: int) -> None:
    """Send signal `number` to a process group of ours; nobody left in it is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
