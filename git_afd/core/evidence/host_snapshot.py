"""What a host looks like at one moment of a run: who listens on the policy's ports, which processes, what is free.

Kept before and after each run as one small JSON artifact, so that a later judgement, also on another host, sees
the same. What could not be read is said to be unknown; it never counts as free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core import shape
from git_afd.core.evidence.kept_facts import UNREADABLE, body_of
from git_afd.core.evidence.npu_smi import Unknown
from git_afd.core.outcome import Json
from git_afd.core.records import canonical

BEFORE_FACTS: Final = "host/before.json"
AFTER_FACTS: Final = "host/after.json"
"""Names of the artifacts that hold the snapshots before and after a run."""

SCHEMA: Final = "git-afd/host/1"


@dataclass(frozen=True, slots=True)
class Seen:
    """A process: `started` in seconds since the epoch (0: not readable), `command` shortened and without secrets."""

    pid: int
    started: float = 0.0
    command: str = ""

    def told(self, now: float) -> str:
        """Say who it is: pid, age at `now` and command, as far as they are known."""
        age = f" ({max(now - self.started, 0):.0f} s old)" if self.started else ""
        return f"{self.pid}{age}{f': {self.command}' if self.command else ''}"


@dataclass(frozen=True, slots=True)
class Port:
    """A TCP port. `state` is ``free``, ``unknown`` or ``listening``; then `by` says who, None when it is not known."""

    number: int
    state: str
    by: Seen | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A host at `at` (seconds since the epoch): ports (one may stand there for several listeners), processes.

    `processes` are those that npu-smi named and this host can look up; `resources` are whole numbers for readers:
    memory and disk in MB, load in hundredths.
    """

    at: float
    ports: tuple[Port, ...] = ()
    processes: tuple[Seen, ...] = ()
    resources: Mapping[str, int] = field(default_factory=dict)

    def as_bytes(self) -> bytes:
        """Return the bytes of the artifact."""
        body: dict[str, Json] = {
            "schema": SCHEMA,
            "at": self.at,
            "ports": [{"port": one.number, "state": one.state, **_plain(one.by)} for one in self.ports],
            "processes": [_plain(one) for one in self.processes],
            "resources": dict(self.resources),
        }
        return canonical(body).encode()

    def listeners(self, number: int) -> tuple[Port, ...]:
        """Return what is known of a port; nothing when nobody looked."""
        return tuple(one for one in self.ports if one.number == number)

    def process(self, pid: int, name: str) -> Seen | None:
        """Return the process of this pid when its command fits the `name` that npu-smi printed (it cuts names off).

        In a container pids of the host mean somebody else; without a name nobody can tell.
        """
        known = next((one for one in self.processes if one.pid == pid), None)
        return known if known and name and name.lower() in known.command.lower() else None


def parse_snapshot(data: bytes | None) -> Snapshot | Unknown:
    """Read a snapshot; total: any bytes give a snapshot or Unknown, None (it was not kept) gives Unknown."""
    if data is None:
        return Unknown("it was not kept")
    try:
        body = body_of(data, SCHEMA)
        return Snapshot(
            shape.seconds(body, "at"),
            tuple(map(_port, shape.tables(body, "ports"))),
            tuple(map(_seen, shape.tables(body, "processes"))),
            {name: shape.number(shape.table(body, "resources"), name) for name in shape.table(body, "resources")},
        )
    except UNREADABLE as error:
        return Unknown(str(error)[:200])


def _port(body: Mapping[str, Json]) -> Port:
    state = shape.choice(body, "state", ("free", "unknown", "listening"))
    return Port(shape.number(body, "port"), state, _seen(body) if "pid" in body else None)


def _seen(body: Mapping[str, Json]) -> Seen:
    return Seen(shape.number(body, "pid"), shape.seconds(body, "started"), shape.text(body, "command"))


def _plain(seen: Seen | None) -> dict[str, Json]:
    return {"pid": seen.pid, "started": seen.started, "command": seen.command} if seen else {}
