"""The ledger: records as notes in ``refs/notes/afd/ledger``, read whole and appended under compare-and-swap.

Parallel ``git notes append`` loses records and says so to nobody; so does ``git notes merge``. Hence one way
to write: take the lock in the common git dir, build the new notes commit on a scratch ref, move the live ref
with ``update-ref`` and the old value, and start from a fresh read when it moved meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd import __version__
from git_afd.adapters.git import Git, decode
from git_afd.adapters.state_cache import StateCache
from git_afd.core.fold import extend, fold
from git_afd.core.names import LEDGER_REF
from git_afd.core.records import Damage, Draft, Record, chain, line_of, parse_note
from git_afd.core.state import EMPTY, State
from git_afd.errors import Conflict, EnvironmentFault

ATTEMPTS: Final = 20
LOCK_WAIT_S: Final = 30.0

Decide = Callable[[State], Sequence[Draft]]
"""Runs on exactly the state that its drafts extend; an empty sequence means that it already holds."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The ledger at one tip. `tip` is None when there is no ledger; `damage` is what could not be read."""

    tip: str | None
    state: State
    damage: tuple[Damage, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether gates, commit and push may rely on it."""
        return not self.damage


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger of one repository. `common_dir` is its common git dir; `actor` writes; `now` tells the time."""

    git: Git
    common_dir: Path
    actor: str
    now: Callable[[], str]

    @property
    def home(self) -> Path:
        """The folder of everything of ours below the common git dir."""
        return self.common_dir / "afd"

    def tip(self) -> str | None:
        """Return the full id of the ledger's newest commit, None when there is no ledger."""
        result = self.git.run("rev-parse", "--verify", "--quiet", LEDGER_REF)
        return result.text if result.ok and result.text else None

    def read(self) -> Reading:
        """Fold every record into a state. Never raises for what the ledger holds: damage is part of the answer."""
        tip = self.tip()
        if tip is None:
            return Reading(None, EMPTY)
        cache = StateCache(self.home / "cache")
        cached = cache.load(tip)
        if cached is not None:
            return Reading(tip, *cached)
        records, damage = self._records_at(tip)
        state = fold(records)
        cache.store(tip, state, damage)
        return Reading(tip, state, damage)

    def records(self) -> tuple[Record, ...]:
        """Return every readable record in the ledger's order."""
        tip = self.tip()
        found, _ = self._records_at(tip) if tip else ((), ())
        return tuple(sorted({record.id: record for record in found}.values(), key=lambda record: record.key))

    def transact(self, decide: Decide) -> tuple[State, tuple[Record, ...]]:
        """Append what `decide` says, or nothing; return the state afterwards and the records written.

        Raises Conflict when the ledger keeps moving or its lock cannot be had, EnvironmentFault when git
        cannot write. Whatever `decide` raises passes through and nothing is written.
        """
        self.home.mkdir(exist_ok=True)
        with self._locked():
            for _ in range(ATTEMPTS):
                reading = self.read()
                drafts = decide(reading.state)
                if not drafts:
                    return reading.state, ()
                records = self._seal(reading.state, drafts)
                new_tip = self._append(reading.tip, drafts, records)
                if new_tip is None:
                    continue  # somebody wrote past our lock (another clone's fetch, a plain git): read again
                state = extend(reading.state, records)
                StateCache(self.home / "cache").store(new_tip, state, reading.damage)
                return state, records
        raise Conflict("the ledger moved at every attempt to write", "run the same command again")

    def _seal(self, state: State, drafts: Sequence[Draft]) -> tuple[Record, ...]:
        tool = f"git-afd {__version__}"
        return tuple(chain(drafts, state.seq, state.heads, at=self.now(), by=self.actor, tool=tool))

    def _append(self, tip: str | None, drafts: Sequence[Draft], records: Sequence[Record]) -> str | None:
        """Move the ledger from `tip` to one with `records`; None when it was no longer at `tip`."""
        scratch = f"refs/notes/afd-scratch/{os.getpid()}-{time.monotonic_ns()}"
        writes = {"GIT_NOTES_REF": scratch}
        zero = "0" * len(tip or self._zero())
        try:
            if tip:
                self.git("update-ref", scratch, tip, zero, locks=True)
            for draft, record in zip(drafts, records, strict=True):
                line = line_of(record).encode() + b"\n"
                self.git("notes", "append", "-F", "-", draft.commit, input=line, env=writes, locks=True)
            new = self.git("rev-parse", "--verify", scratch)
            steps = f"start\nupdate {LEDGER_REF} {new} {tip or zero}\ndelete {scratch} {new}\nprepare\ncommit\n"
            if self.git.run("update-ref", "-m", "afd: record", "--stdin", input=steps.encode(), locks=True).ok:
                return new
            if self.tip() == tip:
                raise EnvironmentFault(f"{LEDGER_REF} cannot be written", "check the repository's permissions")
            return None
        finally:
            if self.git.run("rev-parse", "--verify", "--quiet", scratch).ok:
                self.git.run("update-ref", "-d", scratch, locks=True)

    def _zero(self) -> str:
        return self.git("hash-object", "-t", "tree", "--stdin", input=b"")

    def _records_at(self, tip: str) -> tuple[tuple[Record, ...], tuple[Damage, ...]]:
        listing = self.git.run("ls-tree", "-r", "-z", tip)
        if not listing.ok:
            return (), (Damage(LEDGER_REF, f"cannot be listed: {listing.reason}", ""),)
        blobs = dict(_note_of(entry) for entry in listing.fields())
        items: list[Record | Damage] = []
        for blob, text in self._blobs(list(blobs)):
            place = blobs[blob]
            items += (
                [Damage(place, "its note is missing from the object store", "")]
                if text is None
                else parse_note(text, place)
            )
        return (
            tuple(item for item in items if isinstance(item, Record)),
            tuple(item for item in items if isinstance(item, Damage)),
        )

    def _blobs(self, ids: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        """Read many blobs in one git process: (id, text or None when it is missing or no blob)."""
        result = self.git.run("cat-file", "--batch", input="".join(f"{item}\n" for item in ids).encode())
        data, at = result.stdout, 0
        for item in ids:
            end = data.find(b"\n", at)
            words = data[at:end].split() if end >= 0 else []
            if len(words) != 3 or words[1] != b"blob":  # noqa: PLR2004 - "<id> <type> <size>"
                yield item, None
                at = end + 1 if end >= 0 else len(data)
                continue
            size = int(words[2])
            yield item, decode(data[end + 1 : end + 1 + size])
            at = end + 1 + size + 1

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the ledger's lock. The kernel frees it when the process dies: nothing to repair after a kill."""
        with (self.home / "ledger.lock").open("w") as handle:
            deadline = time.monotonic() + LOCK_WAIT_S
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise Conflict(
                            "another git-afd holds the ledger's lock", "run the same command again"
                        ) from None
                    time.sleep(0.01)
            yield


def _note_of(entry: str) -> tuple[str, str]:
    """Turn an ``ls-tree`` entry into (blob id, annotated object): the fan-out's slashes say nothing."""
    meta, path = entry.split("\t", 1)
    return meta.split(" ")[2], path.replace("/", "")
