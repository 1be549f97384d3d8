"""The four laws of the fold, over ledgers that were written well, badly, by two clones, or by nobody sane."""

from __future__ import annotations

import json
import random
from typing import Any

from chronicle import ADA, BOB, FREEZE, Chronicle, cause, commit, passed, phase, run
from hypothesis import given, settings
from hypothesis import strategies as st

from git_afd.core.fold import KINDS, extend, fold
from git_afd.core.lineage import continues, gaps
from git_afd.core.outcome import Json
from git_afd.core.phases import GATES, PHASES, STATUSES
from git_afd.core.records import Damage, Record, line_of, parse_line, parse_note
from git_afd.core.state import EMPTY

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["RC-1", "RC-2", "RC-x"])
BODIES: st.SearchStrategy[tuple[str, dict[str, Json]]] = st.one_of(
    st.tuples(st.just("freeze"), st.just(FREEZE)),
    st.builds(
        lambda p, s: ("phase", phase(p, s)), st.sampled_from([p.name for p in PHASES]), st.sampled_from(STATUSES)
    ),
    st.builds(lambda n, op: ("root-cause", cause(n, op=op)), NAMES, st.sampled_from(["add", "amend", "withdraw"])),
    st.builds(lambda n: ("commit", commit(n)), NAMES),
    st.builds(
        lambda n, g, s: ("run", run(n, g, s)),
        st.sampled_from(["r1", "r2"]),
        st.sampled_from(list(GATES)),
        st.sampled_from(["PASS", "FAIL", "sure"]),
    ),
    st.tuples(st.sampled_from([*KINDS, "celebration"]), st.dictionaries(st.text(max_size=8), JSON, max_size=4)),
)
STEPS = st.lists(st.tuples(BODIES, st.sampled_from([ADA, BOB]), st.booleans()), max_size=14)


def told(steps: list[tuple[tuple[str, dict[str, Json]], str, bool]], until: int) -> tuple[Record, ...]:
    """Two clones that part after `until` phases and write in turn as `steps` say; merged at the end."""
    ada = passed(until) if until else Chronicle()
    bob = ada.fork()
    for (kind, body), by, mine in steps:
        (ada if mine else bob).add(kind, body, by=by)
    return tuple(ada.merged(bob).records)


LEDGERS = st.builds(told, STEPS, st.sampled_from([0, 0, 1, 4, 12]))
FEW = settings(max_examples=60, deadline=None)


@FEW
@given(LEDGERS, st.randoms(use_true_random=False))
def test_any_order_of_the_lines_gives_the_same_state(records: tuple[Record, ...], chance: random.Random) -> None:
    shuffled = list(records)
    chance.shuffle(shuffled)
    assert fold(shuffled) == fold(records)


@FEW
@given(LEDGERS, st.data())
def test_any_repetition_of_the_lines_gives_the_same_state(records: tuple[Record, ...], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(records), max_size=6)) if records else []
    assert fold([*records, *again]) == fold(records)


@FEW
@given(LEDGERS, st.integers(0, 40))
def test_the_state_at_any_seq_is_the_fold_of_the_records_up_to_it(records: tuple[Record, ...], seq: int) -> None:
    early = [record for record in records if record.seq <= seq]
    late = [record for record in records if record.seq > seq]
    assert extend(fold(early), late) == fold(records)


@FEW
@given(LEDGERS)
def test_extending_never_touches_the_state_that_it_starts_from(records: tuple[Record, ...]) -> None:
    half = sorted(records, key=lambda record: record.key)[: len(records) // 2]
    before, same = fold(half), fold(half)
    extend(before, records[len(half) :])
    assert before == same


@settings(max_examples=200, deadline=None)
@given(st.text() | JSON.map(json.dumps) | st.binary().map(lambda b: b.decode("utf-8", "surrogateescape")))
def test_any_line_whatever_gives_a_record_or_says_why_it_is_none(line: str) -> None:
    found = parse_line(line, "place")
    assert isinstance(found, Damage)
    assert found.reason
    assert len(found.id) == 64


@FEW
@given(st.fixed_dictionaries(dict.fromkeys(("at", "body", "by", "id", "kind", "prev", "seq", "tool", "v"), JSON)))
def test_a_line_with_the_envelope_s_names_and_any_values_never_crashes(value: dict[str, Json]) -> None:
    line = json.dumps({**value, "upgrade": "U"}, sort_keys=True, separators=(",", ":"))
    items = parse_note(line, "place")
    assert fold(item for item in items if isinstance(item, Record)) == EMPTY
    assert len(items) == 1


@FEW
@given(LEDGERS)
def test_every_record_survives_its_line_and_a_line_has_one_form(records: tuple[Record, ...]) -> None:
    for record in records:
        line = line_of(record)
        assert parse_line(line) == record
        assert line == json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"))
        assert "\n" not in line
        assert line.isascii()
    assert parse_note("\n\n".join(line_of(record) for record in records) + "\n") == records


@FEW
@given(LEDGERS)
def test_what_two_clones_wrote_has_no_gap_and_any_lost_record_that_was_seen_is_one(records: tuple[Record, ...]) -> None:
    assert gaps(records) == ()
    seen = {name for record in records for name in record.prev}
    for record in records:
        rest = [item for item in records if item is not record]
        assert [item.place for item in gaps(rest)] == ([record.id] if record.id in seen else [])


@FEW
@given(LEDGERS, st.integers(0, 20))
def test_what_only_goes_on_can_be_folded_on_without_reading_the_rest(records: tuple[Record, ...], cut: int) -> None:
    ordered = sorted(records, key=lambda record: record.key)
    early, late = ordered[:cut], ordered[cut:]
    state = fold(early)
    if continues(state.heads, state.seq, late):
        assert extend(state, late) == fold(records)
        assert gaps(records) == gaps(early)
