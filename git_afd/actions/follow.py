"""``git afd log --follow``: what a running gate's commands print, as it comes, until the run has ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from git_afd.actions.kept import Kept, folder_of, kept_files
from git_afd.actions.log import Wanted, the_run
from git_afd.adapters.gate_lock import holder_of
from git_afd.adapters.kept_log import LogText, log_text
from git_afd.adapters.session import Session
from git_afd.core.state import Run, Upgrade
from git_afd.errors import Refused

POLL_S: Final = 0.2
_LOGS: Final = ("collect/*", "log/*")


def follow(
    session: Session, wanted: Wanted, emit: Callable[[bytes], None], *, poll_s: float = POLL_S
) -> tuple[str, Wanted]:
    """Hand on what the commands of a run print, each with a heading; return how it ended, in a few words, and its name.

    Without a run in `wanted` it is the one that runs here. Raises Refused when none does, UsageFault when there is no
    such run.
    """
    if not wanted.run:
        holder = holder_of(session.ledger.home)
        if holder is None or not holder.run:
            raise Refused("no gate runs in this repository", "git afd log --kind run")
        wanted = Wanted(upgrade=holder.upgrade, run=holder.run)
        if holder.run.startswith("bundle-"):  # no record speaks of it
            _tail(session, holder.upgrade, holder.run, emit, poll_s)
            return f"run {holder.run} has ended", wanted
    up, run = the_run(session, wanted)
    seen = _tail(session, up.id, run.name, emit, poll_s) if run.status == "started" else frozenset()
    up, run = the_run(session, wanted)
    _rest(session, up, run, emit, seen)
    how = "has not ended, and its process is gone" if run.status == "started" else f"has ended: {run.status}"
    return f"run {run.name} {how}", Wanted(upgrade=up.id, run=run.name)


def _tail(session: Session, upgrade: str, name: str, emit: Callable[[bytes], None], poll_s: float) -> frozenset[str]:
    """Hand on what comes while the run's process lives; return the names of the logs that were shown."""
    folder = folder_of(session, upgrade, name)
    readers: dict[str, LogText] = {}
    begun: set[str] = set()
    with ExitStack() as files:
        while True:
            holder = holder_of(session.ledger.home)
            lives = holder is not None and holder.upgrade == upgrade and holder.run in ("", name)
            for log, path in _new(folder, readers):
                with suppress(FileNotFoundError):  # kept and removed meanwhile: it comes at the end
                    readers[log] = LogText(path.name, files.enter_context(path.open("rb")))
            for log, reader in readers.items():
                for place, piece in enumerate(reader.more()):
                    emit(piece if place or log in begun else _heading(log) + piece)
                    begun.add(log)
            if not lives:
                return frozenset(readers)
            time.sleep(poll_s)


def _new(folder: Path, known: Collection[str]) -> list[tuple[str, Path]]:
    """Return the logs that have come since, in the order of the commands."""
    found = [(path.relative_to(folder).as_posix(), path) for glob in _LOGS for path in folder.glob(glob)]
    return [(log, path) for log, path in sorted(found, key=_moment) if log not in known]


def _moment(found: tuple[str, Path]) -> tuple[bool, int]:
    try:
        return found[0].startswith("log/"), found[1].stat().st_ctime_ns
    except FileNotFoundError:
        return True, 0


def _rest(session: Session, up: Upgrade, run: Run, emit: Callable[[bytes], None], seen: frozenset[str]) -> None:
    """Hand on the logs that came and went between two looks, and all of a run that had ended before."""
    for file in _in_order(kept_files(session, up, run)):
        if file.is_log and file.name not in seen and file.source is not None:
            emit(_heading(file.name))
            for piece in log_text(file.name, file.source):
                emit(piece)


def _in_order(files: tuple[Kept, ...]) -> tuple[Kept, ...]:
    return tuple(sorted(files, key=lambda file: not file.name.startswith("collect/")))


def _heading(name: str) -> bytes:
    return f"==> {name.removesuffix('.gz')} <==\n".encode()
