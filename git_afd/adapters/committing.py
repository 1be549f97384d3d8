"""One attempt at a commit in either way: announce it, let git make it, read it again, take it back when it is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from git_afd.adapters.commit_object import read_commit
from git_afd.adapters.git import Git, encode
from git_afd.core.commit_rules import MadeCommit
from git_afd.core.finding import Finding
from git_afd.core.intent import Intent, write_intent
from git_afd.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from git_afd.adapters.signal_forwarding import Forwarding

Judge = Callable[[MadeCommit], Sequence[Finding]]


class Way(Protocol):
    """One of the two ways to commit exact paths: in place, or in a scratch worktree."""

    @property
    def git(self) -> Git:
        """The door to where the commit is made."""

    @property
    def intent_file(self) -> Path:
        """Where the hooks that run there look for the announcement."""

    def commit(self, message: Path, signals: Forwarding) -> str | None:
        """Make the commit; return its full id, None when git or a hook refused."""

    def changed_by_hooks(self) -> bytes:
        """Return the patch from the planned content to what hooks made of it on disk."""

    def publish(self, commit: str, summary: str) -> tuple[str, ...]:
        """Let the branch and the index show it; return the paths whose index entries stay behind."""

    def retract(self, commit: str | None) -> bool:
        """Undo what :meth:`commit` did to branch and index; return whether that could be done."""

    def close(self) -> None:
        """Remove the places it made."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of it: the commit when one was made, what is wrong with it, the patch of what hooks changed."""

    made: MadeCommit | None
    faults: tuple[Finding, ...] = ()
    patch: bytes = b""

    @property
    def right(self) -> bool:
        """Whether there is a commit, and it is as planned."""
        return self.made is not None and not self.faults


@contextmanager
def announced(way: Way, intent: Intent) -> Iterator[Way]:
    """Leave the announcement for the hooks while a commit is made; afterwards nothing of it and of the way is left.

    Unless a published commit could not be recorded: then both stay, and the next run takes the commit up by them
    (the block raises :class:`NotRecorded`).
    """
    try:
        way.intent_file.write_bytes(encode(write_intent(intent)))
        yield way
    except NotRecorded:
        raise
    except BaseException:
        _end(way)
        raise
    else:
        _end(way)


class NotRecorded(Conflict):
    """The commit stands on the branch, and the ledger could not be told."""


def attempt(way: Way, message: Path, judge: Judge, signals: Forwarding) -> Attempt:
    """Make the commit and compare it; one that is not as planned is taken back before this returns."""
    name: str | None = None
    try:
        name = way.commit(message, signals)
        made = read_commit(way.git, name) if name else None
        faults = tuple(judge(made)) if made else ()
    except BaseException:
        way.retract(name)
        raise
    if made is not None and not faults:
        return Attempt(made)
    patch = way.changed_by_hooks()
    if not way.retract(name):
        place = name or ""
        faults += (
            Finding("commit-stands", place, "it could not be taken back: the branch moved on", f"git show {place}"),
        )
    return Attempt(made, faults, patch)


def _end(way: Way) -> None:
    way.intent_file.unlink(missing_ok=True)
    way.close()
