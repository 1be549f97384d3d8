"""The files of a run, wherever they are: in the store once they are recorded, in the run's own folder before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd.adapters.kept_log import log_text
from git_afd.adapters.session import Session
from git_afd.core.evidence.packed import is_packed
from git_afd.core.outcome import Json
from git_afd.core.state import Run, Upgrade
from git_afd.errors import Blocked, UsageFault

_LOGS: Final = ("log/", "collect/")


@dataclass(frozen=True, slots=True)
class Kept:
    """One file: its name, its SHA-256 (empty: not recorded), where to read it, its size in bytes as it is kept.

    `state` is ``present``, ``absent`` or ``damaged``; ``unrecorded`` in an unfinished run.
    """

    name: str
    digest: str
    source: Path | bytes | None
    size: int
    state: str

    @property
    def is_log(self) -> bool:
        """Whether it is what a command printed."""
        return self.name.startswith(_LOGS)

    @property
    def short(self) -> str:
        """The name as one would type it: without ``.gz``, and of a log just the command's."""
        name = self.name.removesuffix(".gz")
        return name.removeprefix("log/").removesuffix(".log") if name.startswith("log/") else name

    def as_json(self) -> dict[str, Json]:
        """Return it for ``--json``."""
        return {"name": self.name, "digest": self.digest, "bytes": self.size, "state": self.state}


def folder_of(session: Session, upgrade: str, name: str) -> Path:
    """Return the folder that the run's commands write into."""
    return session.ledger.home / "runs" / upgrade / name


def kept_files(session: Session, up: Upgrade, run: Run) -> tuple[Kept, ...]:
    """Return the recorded files of a run by name; of one that has not been recorded, what is in its folder."""
    if run.status == "started":
        return tuple(_unrecorded(folder_of(session, up.id, run.name)))
    return tuple(_recorded(session, name, digest) for name, digest in sorted(run.artifacts.items()))


def text_of(session: Session, up: Upgrade, run: Run, wanted: str) -> tuple[Kept, Iterator[bytes]]:
    """Return a file of a run by its name or the command's, and its text in pieces of bounded size.

    Raises UsageFault: there is none of that name; Blocked: it is gone, or is not what the run left. Only a file that
    is recorded can be checked.
    """
    files = kept_files(session, up, run)
    found = next((one for one in files if wanted in (one.name, one.name.removesuffix(".gz"), one.short)), None)
    if found is None:
        known = ", ".join(one.short for one in files) or "none"
        raise UsageFault(f"run {run.name} left no {wanted!r}; it left {known}", f"git afd log --run {run.name}")
    state = session.artifacts.state(found.digest) if found.digest else "present"
    if found.source is None or state == "damaged":
        how = "is not there any more" if found.source is None else "is not what the run left"
        raise Blocked(f"{found.name} of run {run.name} {how}", "git afd status", code="artifact-lost")
    return found, log_text(found.name if is_packed(found.name) else "", found.source)


def drop_copies(session: Session, up: Upgrade, run: Run) -> None:
    """Remove the logs of a recorded run from its folder: they are kept, and a large one twice is one too many."""
    folder = folder_of(session, up.id, run.name)
    for name in (name for name in run.artifacts if name.startswith(_LOGS)):
        if session.artifacts.path(run.artifacts[name]).is_file():
            with suppress(OSError):
                (folder / name).unlink()


def _recorded(session: Session, name: str, digest: str) -> Kept:
    source = session.artifacts.source(digest)
    size = 0 if source is None else len(source) if isinstance(source, bytes) else source.stat().st_size
    state = session.artifacts.state(digest, deep=False)
    return Kept(name, digest, source, size, "present" if isinstance(source, bytes) else state)


def _unrecorded(folder: Path) -> Iterator[Kept]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield Kept(path.relative_to(folder).as_posix(), "", path, path.stat().st_size, "unrecorded")
