"""One record is one line of canonical JSON; anything else in the ledger is damage that is kept and reported.

Canonical means: sorted keys, no spaces, ASCII only, no NaN, no line break. Git's ``cat_sort_uniq`` merge
sorts and dedupes lines of a note, so a record that is exactly one line survives it (git-notes(1)).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from git_afd.core.outcome import Json

VERSION: Final = 1
_ENVELOPE: Final = ("at", "body", "by", "id", "kind", "prev", "seq", "tool", "upgrade", "v")
_NAMES: Final = frozenset(_ENVELOPE)
_TEXTS: Final = ("at", "by", "id", "kind", "tool", "upgrade")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


# Made once: the functions of the json module make a new one at each call with options.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


@dataclass(frozen=True, slots=True)
class Draft:
    """A record before the ledger gives it its place: what is said, of which commit (full id)."""

    kind: str
    upgrade: str
    body: Mapping[str, Json]
    commit: str


def drafted(place: int) -> str:
    """Return what stands for the id of the draft at `place` (from 0) of the same transaction.

    Allowed in a later draft's ``evidence`` list and as its ``plan``: a phase record can thus name the record it
    rests on although neither has an id yet, and both are written at once or not at all.
    """
    return f"draft:{place}"


@dataclass(frozen=True, slots=True)
class Record:
    """One immutable line of the ledger.

    `id` is the SHA-256 (64 hex) of the rest; `seq` is one more than the largest the writer saw; `prev` are
    the ids of the heads it saw; `at` (ISO 8601, UTC) is shown and never orders anything; `by` is a claim.
    """

    v: int
    id: str
    seq: int
    prev: tuple[str, ...]
    upgrade: str
    kind: str
    at: str
    by: str
    tool: str
    body: Mapping[str, Json]

    @property
    def key(self) -> tuple[int, str]:
        """The place of the record in the one order that everybody computes alike."""
        return (self.seq, self.id)


@dataclass(frozen=True, slots=True)
class Damage:
    """What cannot be read: a line that is no record, a note or a record that is gone.

    `place` is the object that the note is on (full id), the id of the record, or the ledger's ref; `reason` is
    the end of a sentence about it; `line` is what stands there, empty when nothing does.
    """

    place: str
    reason: str
    line: str

    @property
    def id(self) -> str:
        """What an approval names to set this damage aside (64 hex): the same as long as it stays as it is."""
        return digest([self.place, self.line])


def canonical(value: Json) -> str:
    """Return `value` as canonical JSON; raises ValueError on NaN and TypeError on what JSON cannot hold."""
    return _ENCODER.encode(value)


def digest(value: Json) -> str:
    """Return the SHA-256 (64 hex) of the canonical form of `value`."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def seal(draft: Draft, *, seq: int, prev: Iterable[str], at: str, by: str, tool: str) -> Record:
    """Give `draft` its place in the chain and its id."""
    rest: dict[str, Json] = {
        "v": VERSION,
        "seq": seq,
        "prev": sorted(prev),
        "upgrade": draft.upgrade,
        "kind": draft.kind,
        "at": at,
        "by": by,
        "tool": tool,
        "body": dict(draft.body),
    }
    return _record({**rest, "id": digest(rest)})


def chain(
    drafts: Sequence[Draft], state_seq: int, heads: Iterable[str], *, at: str, by: str, tool: str
) -> list[Record]:
    """Seal `drafts` one after the other onto a state with clock `state_seq` and these `heads`."""
    sealed: list[Record] = []
    prev: Iterable[str] = heads
    for seq, draft in enumerate(drafts, start=state_seq + 1):
        named = replace(draft, body=_named(draft.body, sealed))
        sealed.append(seal(named, seq=seq, prev=prev, at=at, by=by, tool=tool))
        prev = (sealed[-1].id,)
    return sealed


def _named(body: Mapping[str, Json], sealed: Sequence[Record]) -> Mapping[str, Json]:
    ids = {drafted(place): record.id for place, record in enumerate(sealed)}
    filled = dict(body)
    evidence, plan = body.get("evidence"), body.get("plan")
    if isinstance(evidence, list | tuple):
        filled["evidence"] = [ids.get(item, item) if isinstance(item, str) else item for item in evidence]
    if isinstance(plan, str):
        filled["plan"] = ids.get(plan, plan)
    return filled


def line_of(record: Record) -> str:
    """Return the record as its one line, without the line break."""
    return canonical({name: _plain(getattr(record, name)) for name in _ENVELOPE})


def parse_line(line: str, place: str = "") -> Record | Damage:
    """Read one line of a note. Total: any text gives a record or says why it is none.

    A number that canonical JSON cannot hold (1e999) raises ValueError inside and is damage like the rest.
    """
    try:
        value = _DECODER.decode(line)
        fault = _fault(value, line)
    except (ValueError, RecursionError) as error:
        return Damage(place, f"is not JSON: {error}", line)
    return Damage(place, fault, line) if fault else _record(value)


def parse_note(text: str, place: str = "") -> tuple[Record | Damage, ...]:
    """Read a whole note. Blank lines are git's (``notes append`` leaves one between paragraphs) and skipped."""
    return tuple(parse_line(line, place) for line in text.split("\n") if line.strip())


def _record(value: Mapping[str, Any]) -> Record:
    """Build a record of what _fault has checked, or of what seal has made."""
    return Record(
        value["v"],
        value["id"],
        value["seq"],
        tuple(value["prev"]),
        value["upgrade"],
        value["kind"],
        value["at"],
        value["by"],
        value["tool"],
        value["body"],
    )


def _plain(value: object) -> Json:
    return list(value) if isinstance(value, tuple) else value


def _fault(value: Json, line: str) -> str:
    if not isinstance(value, dict) or value.keys() != _NAMES:
        return "does not have exactly the envelope's fields"
    if not _typed(value):
        return "has a field of the wrong type"
    if canonical(value) != line:
        return "is not in canonical form"
    # The last member of that name is the record's own: what follows it holds texts only, where quotes are escaped.
    before, _, after = line.rpartition(f'"id":"{value["id"]}",')
    if hashlib.sha256((before + after).encode("ascii")).hexdigest() != value["id"]:
        return "does not match its id: it was changed after it was written"
    return ""


def _typed(value: Mapping[str, Any]) -> bool:
    prev, v, seq = value["prev"], value["v"], value["seq"]
    return (
        type(v) is int
        and type(seq) is int
        and v >= 0
        and seq >= 0
        and type(prev) is list
        and type(value["body"]) is dict
        and {type(value[name]) for name in _TEXTS} == {str}
        and {type(item) for item in prev} <= {str}
    )
