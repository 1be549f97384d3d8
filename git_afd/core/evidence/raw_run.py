"""A run as its raw facts: what was started, how it ended, which files it left, on exactly which code.

It is kept as one JSON artifact (``run.json``) beside the raw files, holds no verdict, and is all that is
needed, together with those files, to judge the run again: after it, at the import of a bundle, in the audit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core import shape
from git_afd.core.evidence.kept_facts import kept_facts
from git_afd.core.outcome import Json
from git_afd.core.records import canonical

FILE: Final = "run.json"
SCHEMA: Final = "git-afd/run/1"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a run vouches for: upgrade, commit and tree (full ids), the digests of content, commits and policy."""

    upgrade: str
    commit: str
    tree: str
    content: str
    whole: str
    commits: str
    policy: str

    def bound(self) -> dict[str, str]:
        """Return what a run record keeps as its binding."""
        return {"content": self.content, "whole": self.whole, "commits": self.commits, "policy": self.policy}


@dataclass(frozen=True, slots=True)
class Ended:
    """How one command ended.

    `exit_code` is None when a signal or the clock ended it; `missing` says why it could not be started.
    `began` and `ended` are seconds since the epoch on the host that ran it. `log`, `junit`, `results` and
    `samples` are names of artifacts. `left_behind` and `survivors` are processes: pid, age and command of each.
    `log_bytes` and `log_digest` (SHA-256) are those of the log's text, however it is kept; runs of older versions
    have neither.
    """

    name: str
    argv: tuple[str, ...]
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    interrupted: bool = False
    missing: str = ""
    began: float = 0.0
    ended: float = 0.0
    log: str = ""
    junit: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    log_bytes: int = 0
    log_digest: str = ""

    @property
    def how(self) -> str:
        """How it ended, as the end of a sentence."""
        if self.exit_code is not None:
            return f"with exit code {self.exit_code}"
        return f"by signal {self.signal}" if self.signal is not None else "without an exit code"


@dataclass(frozen=True, slots=True)
class RawRun:
    """One execution of a gate's commands.

    `listings` are the collections that froze the expected tests before the commands ran: each has its command's name.
    `artifacts` maps names to SHA-256 digests; `disturbed` says what was not the same after the run as before;
    `checks` are the checks besides commands that were made.
    `only` is the one command that was asked for, `failure` the one that is reproduced by `narrowed` (test ids).
    `cell` is ``native`` when it measured without the plugin.
    `host`, `environment` and `trees` are facts for readers.
    """

    gate: str
    identity: Identity
    python: str
    root: str
    commands: tuple[Ended, ...]
    artifacts: Mapping[str, str] = field(default_factory=dict)
    disturbed: tuple[str, ...] = ()
    simulated: bool = False
    diagnostic: bool = False
    interrupted: bool = False
    host: Mapping[str, Json] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    trees: Mapping[str, str] = field(default_factory=dict)
    listings: tuple[Ended, ...] = ()
    checks: tuple[str, ...] = ()
    only: str = ""
    failure: str = ""
    narrowed: tuple[str, ...] = ()
    cell: str = ""

    def as_bytes(self) -> bytes:
        """Return the bytes of ``run.json``."""
        body = {name: getattr(self, name) for name in self.__slots__}
        body |= {
            "schema": SCHEMA,
            "identity": _plain(self.identity),
            "commands": [_plain(one) for one in self.commands],
            "listings": [_plain(one) for one in self.listings],
        }
        return canonical({name: _listed(value) for name, value in body.items()}).encode()


def parse_raw_run(data: bytes, file: str = FILE) -> RawRun:
    """Read ``run.json``. Raises EvidenceFault naming what is wrong."""
    return kept_facts(data, file, SCHEMA, _raw_run, "the facts of one run as git afd gate writes them")


def _raw_run(body: Mapping[str, Json]) -> RawRun:
    identity = shape.table(body, "identity")
    return RawRun(
        gate=shape.text(body, "gate"),
        identity=Identity(*(shape.text(identity, name) for name in Identity.__slots__)),
        python=shape.text(body, "python"),
        root=shape.text(body, "root"),
        commands=tuple(_ended(one) for one in shape.tables(body, "commands")),
        artifacts=shape.text_table(body, "artifacts"),
        disturbed=shape.texts(body, "disturbed"),
        simulated=shape.flag(body, "simulated"),
        diagnostic=shape.flag(body, "diagnostic"),
        interrupted=shape.flag(body, "interrupted"),
        host=shape.table(body, "host"),
        environment=shape.text_table(body, "environment"),
        trees=shape.text_table(body, "trees"),
        listings=tuple(_ended(one) for one in shape.tables(body, "listings")),
        checks=shape.texts(body, "checks"),
        only=shape.text(body, "only", ""),
        failure=shape.text(body, "failure", ""),
        narrowed=shape.texts(body, "narrowed"),
        cell=shape.text(body, "cell", ""),
    )


def _ended(body: Mapping[str, Json]) -> Ended:
    return Ended(
        name=shape.text(body, "name"),
        argv=shape.texts(body, "argv"),
        exit_code=_code(body, "exit_code"),
        signal=_code(body, "signal"),
        timed_out=shape.flag(body, "timed_out"),
        interrupted=shape.flag(body, "interrupted"),
        missing=shape.text(body, "missing", ""),
        began=shape.seconds(body, "began", 0.0),
        ended=shape.seconds(body, "ended", 0.0),
        log=shape.text(body, "log", ""),
        junit=shape.texts(body, "junit"),
        results=shape.texts(body, "results"),
        samples=shape.texts(body, "samples"),
        left_behind=shape.texts(body, "left_behind"),
        survivors=shape.texts(body, "survivors"),
        log_bytes=shape.number(body, "log_bytes", 0),
        log_digest=shape.text(body, "log_digest", ""),
    )


def _code(body: Mapping[str, Json], name: str) -> int | None:
    return None if body.get(name) is None else shape.number(body, name)


def _plain(value: Identity | Ended) -> dict[str, Json]:
    return {name: _listed(getattr(value, name)) for name in value.__slots__}


def _listed(value: Json) -> Json:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
