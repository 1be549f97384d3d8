"""What was seen of a server and of the one request to it: raw facts of one cell of the native control, no verdict.

Kept as one JSON artifact beside the request, the response and the log; together they are all that is needed to judge
the cell again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core import shape
from git_afd.core.evidence.kept_facts import kept_facts
from git_afd.core.outcome import Json
from git_afd.core.records import canonical

SCHEMA: Final = "git-afd/served/1"


def facts_name(cell: str) -> str:
    """Return the name of the artifact that holds a cell's facts."""
    return f"native/{cell}.json"


def request_name(cell: str) -> str:
    """Return the name of the artifact that holds the request's body."""
    return f"native/{cell}.request.json"


def response_name(cell: str) -> str:
    """Return the name of the artifact that holds the response's body, byte for byte."""
    return f"native/{cell}.response"


def identity_name(cell: str) -> str:
    """Return the name of the artifact that says what the cell's interpreter would import in the cell's environment."""
    return f"native/{cell}.identity.json"


def names_of(cell: str) -> tuple[str, ...]:
    """Return the names of all artifacts of a cell besides its log."""
    return facts_name(cell), request_name(cell), response_name(cell), identity_name(cell)


@dataclass(frozen=True, slots=True)
class Seen:
    """One process of the server's family as it was seen once.

    `folder` is where its interpreter or program stands, symbolic links of folders resolved, empty when unknown.
    `environment` holds the variables that decide what is loaded; None when the process's environment cannot be read or
    has been written over (a process that sets its title does).
    """

    pid: int
    argv: tuple[str, ...]
    folder: str = ""
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Listener:
    """Who listens at the port; `ours` says that it belongs to the server's family."""

    name: str
    ours: bool


@dataclass(frozen=True, slots=True)
class Served:
    """The facts of one cell.

    `port` is where it had to listen. `folder` is where the target interpreter stands by its own word, `path` the
    PYTHONPATH that its identity was asked with. `occupied` names who listened at the port before the start: then
    nothing was started. `ready_s` is the time from the start until the server was ready, None when it never was;
    `waiting` says what was in the way then. `listeners` were seen when it was ready and after the answer. `status`
    is the HTTP status of the answer, None when there was none, and `fault` says why. `stopped` says that the server
    still ran when it was told to end. `killed` had to be killed for it, `left` still listens at the port
    afterwards. `more` counts processes beyond those that are listed.
    """

    port: int = 0
    folder: str = ""
    path: str = ""
    occupied: tuple[str, ...] = ()
    ready_s: float | None = None
    waiting: str = ""
    listeners: tuple[Listener, ...] = ()
    processes: tuple[Seen, ...] = ()
    more: int = 0
    status: int | None = None
    fault: str = ""
    reply_s: float | None = None
    stopped: bool = False
    killed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def as_bytes(self) -> bytes:
        """Return the bytes of the artifact."""
        body: dict[str, Json] = {name: getattr(self, name) for name in self.__slots__}
        body |= {"occupied": list(self.occupied), "killed": list(self.killed), "left": list(self.left)}
        body["listeners"] = [{"name": one.name, "ours": one.ours} for one in self.listeners]
        body["processes"] = [
            {"pid": one.pid, "argv": list(one.argv), "folder": one.folder, "environment": one.environment}
            for one in self.processes
        ]
        return canonical({"schema": SCHEMA, **body}).encode()


def parse_served(data: bytes, file: str) -> Served:
    """Read the facts. Raises EvidenceFault naming what is wrong."""
    return kept_facts(data, file, SCHEMA, _served, "the facts of one server as git afd writes them")


def _served(body: Mapping[str, Json]) -> Served:
    return Served(
        port=shape.number(body, "port"),
        folder=shape.text(body, "folder"),
        path=shape.text(body, "path"),
        occupied=shape.texts(body, "occupied"),
        ready_s=_seconds(body, "ready_s"),
        waiting=shape.text(body, "waiting"),
        listeners=tuple(
            Listener(shape.text(one, "name"), shape.flag(one, "ours")) for one in shape.tables(body, "listeners")
        ),
        processes=tuple(_seen(one) for one in shape.tables(body, "processes")),
        more=shape.number(body, "more"),
        status=None if body.get("status") is None else shape.number(body, "status"),
        fault=shape.text(body, "fault"),
        reply_s=_seconds(body, "reply_s"),
        stopped=shape.flag(body, "stopped"),
        killed=shape.texts(body, "killed"),
        left=shape.texts(body, "left"),
        environment=shape.text_table(body, "environment"),
    )


def _seen(body: Mapping[str, Json]) -> Seen:
    known = body.get("environment") is not None
    return Seen(
        shape.number(body, "pid"),
        shape.texts(body, "argv"),
        shape.text(body, "folder"),
        shape.text_table(body, "environment") if known else None,
    )


def _seconds(body: Mapping[str, Json], name: str) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 32:
        raise shape.ShapeFault(f"{name}: seconds were expected")
    return float(value)
