"""Looks at this host at one moment of a run: listeners on ports, processes by pid, memory, disk and load."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from git_afd.core.evidence.host_snapshot import Port, Seen, Snapshot
from git_afd.core.evidence.secrets import shown_command

if TYPE_CHECKING:
    from psutil import Process

_SHARED: Final = "/dev/shm"  # noqa: S108 - nothing is written there


def snapshot(ports: Iterable[int], pids: Iterable[int], folder: Path) -> Snapshot:
    """Return what this host looks like now; `folder` is on the disk whose room counts. Nothing in it is guessed."""
    looked_up = (_looked_up(pid) for pid in dict.fromkeys(pids))
    return Snapshot(
        at=time.time(),
        ports=tuple(listening(ports)),
        processes=tuple(one for one in looked_up if one is not None),
        resources=_resources(folder),
    )


def listening(ports: Iterable[int]) -> Iterator[Port]:
    """Yield for each TCP port every listener there, ``free``, or ``unknown``."""
    wanted = tuple(dict.fromkeys(ports))
    if not wanted:
        return
    found = listeners_here()
    if found is None:
        yield from (Port(port, "unknown") for port in wanted)
        return
    owners: dict[int, dict[int | None, None]] = {}
    for number, pid in found:
        owners.setdefault(number, {})[pid] = None
    for port in wanted:
        if port not in owners:
            yield Port(port, "free")
        for pid in owners.get(port, ()):
            yield Port(port, "listening", None if pid is None else _looked_up(pid) or Seen(pid))


def listeners_here() -> tuple[tuple[int, int | None], ...] | None:
    """Return port and pid (None: hidden from us) of all that listen on TCP here; None when this host does not say."""
    import psutil

    try:
        found = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return None
    return tuple((one.laddr.port, one.pid) for one in found if one.status == psutil.CONN_LISTEN and one.laddr)


def seen(process: Process) -> Seen:
    """Return who a process is, as far as it can be read: one of another user hides its command, a zombie has none."""
    import psutil

    started, command = 0.0, ""
    with suppress(psutil.Error, OSError):
        started = process.create_time()
        command = process.name()
        zombie = process.status() == psutil.STATUS_ZOMBIE
        command = f"{command} (zombie)" if zombie else shown_command(process.cmdline()) or command
    return Seen(process.pid, started, command)


def _looked_up(pid: int) -> Seen | None:
    import psutil

    try:
        return seen(psutil.Process(pid))
    except psutil.Error:
        return None


def _resources(folder: Path) -> dict[str, int]:
    """Return memory and disk in MB and the load of one minute in hundredths; what cannot be read is left out."""
    import psutil

    found: dict[str, int] = {}
    with suppress(psutil.Error, OSError):
        memory = psutil.virtual_memory()
        found |= {"memory_total_mb": memory.total >> 20, "memory_available_mb": memory.available >> 20}
    with suppress(psutil.Error, OSError):
        found |= {"disk_free_mb": psutil.disk_usage(str(folder)).free >> 20}
    with suppress(psutil.Error, OSError):  # the shared memory that worker processes talk through
        found |= {"shm_free_mb": psutil.disk_usage(_SHARED).free >> 20}
    with suppress(OSError):
        found |= {"load_1m_percent": round(os.getloadavg()[0] * 100), "cpus": os.cpu_count() or 0}
    return found
