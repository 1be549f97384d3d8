"""The ledger: records as notes in ``refs/notes/afd/ledger``, read whole and appended under compare-and-swap.

Parallel ``git notes append`` loses records and says so to nobody; so does ``git notes merge``. Hence one way
to write: take the lock in the common git dir, build the new notes commit beside the ref, move the ref with
``update-ref`` and the old value, and start from a fresh read when it moved meanwhile.
"""

from __future__ import annotations

import fcntl
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from git_afd import __version__
from git_afd.adapters.git import Git, GitResult, decode
from git_afd.adapters.hook_file import write_hook_file
from git_afd.adapters.notes import Note, Notes
from git_afd.adapters.state_cache import Kept, StateCache
from git_afd.core.fold import fold
from git_afd.core.lineage import continues, gaps
from git_afd.core.names import LEDGER_REF
from git_afd.core.primary import insist_known
from git_afd.core.records import Damage, Draft, Record, chain, line_of, parse_note
from git_afd.core.state import DAMAGE_APPROVAL, EMPTY, State
from git_afd.errors import Blocked, Conflict, EnvironmentFault

ATTEMPTS: Final = 100
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
    def open_damage(self) -> tuple[Damage, ...]:
        """What could not be read and nobody has set aside by an approval."""
        return tuple(item for item in self.damage if item.id not in self.state.set_aside)

    @property
    def readable(self) -> bool:
        """Whether gates, commit and push may rely on it."""
        return not self.open_damage

    def insist(self) -> None:
        """Raise Blocked when anything is unreadable that nobody has set aside."""
        left = self.open_damage
        if left:
            more = f", and {len(left) - 1} more" if len(left) > 1 else ""
            raise Blocked(
                f"the ledger is damaged: what stands at {left[0].place[:12]} {left[0].reason}{more}",
                "git afd log --damage",
                code="ledger-unreadable",
            )


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger of one repository. `common_dir` is its common git dir; `actor` writes; `now` tells the time.

    Without `keeps`, a state that had to be folded is not kept for the next reader: a hook writes nothing at all.
    """

    git: Git
    common_dir: Path
    actor: str
    now: Callable[[], str]
    keeps: bool = True

    @property
    def home(self) -> Path:
        """The folder of everything of ours below the common git dir."""
        return self.common_dir / "afd"

    def tip(self) -> str | None:
        """Return the full id of the ledger's newest commit, None when there is none. Raises Blocked: a broken ref."""
        found = self._tip()
        if isinstance(found, Damage):
            raise Blocked(f"the ledger's ref {found.place} {found.reason}", "git fsck", code="ledger-unreadable")
        return found

    def read(self, *, fresh: bool = False) -> Reading:
        """Fold every record into a state. Never raises for what the ledger holds: damage is part of the answer.

        A cached state was read from the same tip, so it is what the records say. Only with `fresh` is every note
        read again, which finds the objects that were lost since.
        """
        tip = self._tip()
        if isinstance(tip, Damage):
            return Reading(None, EMPTY, (tip,))
        return self._read_at(tip, fresh=fresh)[0] if tip else Reading(None, EMPTY)

    def contents(self) -> tuple[tuple[tuple[str, Record], ...], tuple[Damage, ...]]:
        """Return every readable record with the object it is on, in the ledger's order, and what is damaged."""
        tip = self._tip()
        if isinstance(tip, Damage):
            return (), (tip,)
        placed, damage = self._parsed(tip) if tip else ((), ())
        unique = {record.id: (place, record) for place, record in placed}
        return tuple(sorted(unique.values(), key=lambda item: item[1].key)), damage

    def records(self) -> tuple[Record, ...]:
        """Return every readable record in the ledger's order."""
        return tuple(record for _, record in self.contents()[0])

    def transact(self, decide: Decide) -> tuple[State, tuple[Record, ...]]:
        """Append what `decide` says, or nothing; return the state afterwards and the records written.

        Raises Blocked when the ledger is damaged (only an approval that sets damage aside may be written then),
        Conflict when the ledger keeps moving or its lock cannot be had, EnvironmentFault when git or the file
        system cannot write, or when nobody acts. Whatever `decide` raises passes through and nothing is written.
        """
        with self._locked():
            for _ in range(ATTEMPTS):
                tip = self.tip()
                reading, kept = self._read_at(tip) if tip else (Reading(None, EMPTY), None)
                drafts = decide(reading.state)
                if not drafts:
                    return reading.state, ()
                insist_known(self.actor)
                if not all(_sets_aside(draft) for draft in drafts):
                    reading.insist()
                records = self._seal(reading.state, drafts)
                new_tip = self._append(tip, drafts, records)
                if new_tip is None:
                    continue  # somebody wrote past our lock (another clone's fetch, a plain git): read again
                if kept is None:
                    kept = self._cache.store(new_tip, fold(records), ())
                else:
                    kept = self._cache.store_after(kept, new_tip, records)
                self._tell_hooks(kept)
                return kept.state, records
        raise Conflict("the ledger moved at every attempt to write", "run the same command again")

    def _tell_hooks(self, kept: Kept) -> None:
        damage = Reading(kept.tip, kept.state, kept.damage).open_damage
        write_hook_file(self.common_dir, kept.tip, kept.state, len(damage))

    @property
    def _cache(self) -> StateCache:
        return StateCache(self.home / "cache", self.keeps)

    def _tip(self) -> str | Damage | None:
        """Tell an absent ledger from one that cannot be read: both make ``rev-parse`` fail alike."""
        result = self.git.run("for-each-ref", "--format=%(objectname)", LEDGER_REF)
        if result.ok and not result.stderr:
            return result.text or None
        return Damage(LEDGER_REF, f"cannot be read: {result.reason}", "")

    def _read_at(self, tip: str, *, fresh: bool = False) -> tuple[Reading, Kept | None]:
        kept = None if fresh else self._cache.load(tip) or self._caught_up(tip)
        if kept is None:
            placed, damage = self._parsed(tip)
            kept = self._cache.store(tip, fold(record for _, record in placed), damage)
        return Reading(tip, kept.state, kept.damage), kept

    def _caught_up(self, tip: str) -> Kept | None:
        """Go on from the newest cached state when `tip` only adds to it; None when all must be read."""
        old = self._cache.newest()
        changed = Notes(self.git).changed(old.tip, tip) if old and not old.damage else None
        if old is None or changed is None:
            return None
        before, after = (_lines(notes) for notes in changed)
        items = [parsed for line, place in after.items() if line not in before for parsed in parse_note(line, place)]
        records = tuple(item for item in items if isinstance(item, Record))
        if len(records) != len(items) or before.keys() - after.keys():
            return None
        if not continues(old.state.heads, old.state.seq, records):
            return None
        return self._cache.store_after(old, tip, records)

    def _seal(self, state: State, drafts: Sequence[Draft]) -> tuple[Record, ...]:
        tool = f"git-afd {__version__}"
        return tuple(chain(drafts, state.seq, state.heads, at=self.now(), by=self.actor, tool=tool))

    def _append(self, tip: str | None, drafts: Sequence[Draft], records: Sequence[Record]) -> str | None:
        """Move the ledger from `tip` to one with `records`; None when it was no longer at `tip`."""
        lines: dict[str, str] = {}
        for draft, record in zip(drafts, records, strict=True):
            lines[draft.commit] = lines.get(draft.commit, "") + line_of(record) + "\n"
        said = ", ".join(f"{record.kind} {record.id[:12]}" for record in records)
        new = Notes(self.git).extended(tip, lines, f"afd: record {said}", self.actor, _seconds(records[0].at))
        old = tip or "0" * len(new)
        settings = ("core.filesRefLockTimeout=2000",)
        step = ("update-ref", "-m", f"afd: record {said}", LEDGER_REF, new, old)
        moved = self.git.run(*step, locks=True, config=settings)
        if moved.ok:
            return new
        if self.tip() == tip:
            raise _unmoved(moved)
        return None

    def _parsed(self, tip: str) -> tuple[tuple[tuple[str, Record], ...], tuple[Damage, ...]]:
        notes = Notes(self.git).all(tip)
        if notes is None:
            return (), (Damage(LEDGER_REF, f"cannot be listed at {tip[:12]}: its commit or tree is missing", ""),)
        placed: list[tuple[str, Record]] = []
        damage: list[Damage] = []
        for place, text in notes:
            if text is None:
                damage.append(Damage(place, "has a note that is missing from the object store", ""))
                continue
            for item in parse_note(text, place):
                if isinstance(item, Record):
                    placed.append((place, item))
                else:
                    damage.append(item)
        return tuple(placed), (*damage, *gaps([record for _, record in placed], damage))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the ledger's lock. The kernel frees it when the process dies: nothing to repair after a kill."""
        path = self.home / "ledger.lock"
        try:
            self.home.mkdir(exist_ok=True)
            handle = path.open("w")
        except OSError as error:
            raise EnvironmentFault(f"{path} cannot be written: {error.strerror}", "check what stands there") from error
        with handle:
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


def _lines(notes: Iterable[Note]) -> dict[str, str]:
    """Return the lines of all notes, each with the object it is on; an unreadable note is a line that no record is."""
    return {line: place for place, text in notes for line in (["\0"] if text is None else text.split("\n"))}


def _unmoved(result: GitResult) -> EnvironmentFault:
    """Say why the ledger's ref stands where it stood although nobody else moved it."""
    lock = re.search(r"'([^']+\.lock)': File exists", decode(result.stderr))
    if lock:
        return EnvironmentFault(f"{lock[1]} is in the way", f"when no git is running here, remove {lock[1]}")
    return EnvironmentFault(f"{LEDGER_REF} cannot be moved: {result.reason}", "check the permissions of the git dir")


def _seconds(at: str) -> int:
    """Return a record's time in seconds since 1970; what is no ISO time counts as 1970."""
    try:
        return int(datetime.fromisoformat(at).timestamp())
    except ValueError:
        return 0


def _sets_aside(draft: Draft) -> bool:
    return draft.kind == "approval" and draft.body.get("what") == DAMAGE_APPROVAL
