"""A record is one canonical line, and nothing else is a record."""

from __future__ import annotations

import json

import pytest
from chronicle import ADA, BASE

from git_afd.core.outcome import Json
from git_afd.core.records import Damage, Draft, Record, chain, drafted, line_of, parse_line, parse_note, seal


def sealed(body: dict[str, Json] | None = None) -> Record:
    return seal(Draft("remark", "U", {"said": "x", **(body or {})}, BASE), seq=1, prev=(), at="t", by=ADA, tool="t")


GOOD = line_of(sealed())


def changed(**fields: Json) -> str:
    return json.dumps({**json.loads(GOOD), **fields}, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("not JSON", "is not JSON"),
        ("", "is not JSON"),
        ("[]", "does not have exactly the envelope's fields"),
        ("{}", "does not have exactly the envelope's fields"),
        (changed(extra=1), "does not have exactly the envelope's fields"),  # a field more
        (changed(seq="1"), "has a field of the wrong type"),  # a text for a number
        (changed(seq=True), "has a field of the wrong type"),  # which JSON readers take for 1
        (changed(seq=-1), "has a field of the wrong type"),
        (changed(prev="x"), "has a field of the wrong type"),
        (changed(prev=[1]), "has a field of the wrong type"),
        (changed(body=[]), "has a field of the wrong type"),
        (changed(body={"said": "y"}), "does not match its id"),  # tampered with
        (changed(by="Eve <eve@example.org>"), "does not match its id"),
        (changed(id="0" * 64), "does not match its id"),
        (GOOD.replace('":', '": '), "is not in canonical form"),  # spaces
        (json.dumps(dict(reversed(json.loads(GOOD).items())), separators=(",", ":")), "is not in canonical form"),
        (GOOD.replace('"at":"t"', '"at":"\\u0074"'), "is not in canonical form"),  # an escape too many
        (GOOD.replace('"at":"t"', '"at":"s","at":"t"'), "is not in canonical form"),  # a name twice
        (GOOD + " ", "is not in canonical form"),
        (GOOD + "\r", "is not in canonical form"),  # Windows line ends
        (GOOD + GOOD, "is not JSON"),  # two records on one line
        (GOOD.replace('"seq":1', '"seq":NaN'), "is not JSON: NaN"),
        (GOOD.replace('"seq":1', '"seq":1e999'), "has a field of the wrong type"),
        (GOOD.replace('{"said":"x"}', '{"said":1e999}'), "is not JSON"),  # infinity by another door
        (GOOD.replace('{"said":"x"}', '{"said":' + "9" * 5000 + "}"), "is not JSON"),  # longer than int reads
        ("[" * 100_000, "is not JSON"),  # deeper than any stack
        (GOOD.replace('"x"', '"\udcff"'), "is not in canonical form"),  # bytes that are no UTF-8
        ("#" + GOOD, "is not JSON"),  # what git takes for a comment
    ],
)
def test_a_line_that_is_no_record_says_why(line: str, why: str) -> None:
    found = parse_line(line, "place")
    assert isinstance(found, Damage)
    assert why in found.reason
    assert (found.place, found.line) == ("place", line)


def test_a_body_may_hold_what_looks_like_the_record_s_own_id() -> None:
    record = sealed({"id": "i", "quoted": '"id":"' + "0" * 64 + '",'})
    again = sealed({"id": record.id, "quoted": f'"id":"{record.id}",'})
    assert parse_line(line_of(again)) == again


def test_blank_lines_are_git_s_and_skipped() -> None:
    assert parse_note(f"\n{GOOD}\n\n  \n{GOOD}\n") == (sealed(), sealed())


def test_drafts_of_one_transaction_can_name_each_other() -> None:
    body: dict[str, Json] = {"evidence": [drafted(0), "else", drafted(7)], "plan": drafted(0)}
    first, second = chain(
        [Draft("run", "U", {}, BASE), Draft("phase", "U", body, BASE)], 4, ("h",), at="t", by=ADA, tool="t"
    )
    assert second.body == {"evidence": [first.id, "else", "draft:7"], "plan": first.id}
    assert (first.seq, first.prev, second.seq, second.prev) == (5, ("h",), 6, (first.id,))
    assert parse_line(line_of(second)) == second
