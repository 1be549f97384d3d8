"""docs/reference/records.md says which kinds there are and which fields the state is computed from; nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chronicle import ADA, FREEZE, Chronicle, cause, commit, passed, phase, run
from kit import ROOT

from git_afd.core.case import Case, frozen
from git_afd.core.fold import KINDS
from git_afd.core.records import _ENVELOPE, Record
from git_afd.core.rules import RULES
from git_afd.core.shape import ShapeFault

PAGE = (ROOT / "docs/reference/records.md").read_text(encoding="utf-8")
ROWS = {
    row[0].strip("`"): re.findall(r"`([^`]+)`", row[2])
    for row in (re.split(r" \| ", line.strip("| ")) for line in PAGE.splitlines() if line.startswith("| `"))
    if len(row) == 3
}


class Watched(dict[str, Any]):
    """A body that remembers which of its fields somebody asked for."""

    asked: set[str]

    def get(self, key: str, default: Any = None) -> Any:
        """Remember and answer."""
        self.asked.add(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        """Whoever walks over all fields has asked for all."""
        self.asked.update(super().__iter__())
        return super().__iter__()


def asked_of(record: Record, told: Chronicle) -> set[str]:
    """The fields of `record` that the rules read when it comes on top of `told`."""
    body = Watched(record.body)
    body.asked = set()
    if record.kind == "freeze":
        frozen(replace(record, body=body))
    else:
        RULES[record.kind](Case.of(told.up), replace(record, body=body))
    return body.asked


def legal() -> Iterator[tuple[Chronicle, str, dict[str, Any]]]:
    """At least one legal record of every kind, and one of every op that reads other fields."""
    yield passed(1), "freeze", FREEZE
    yield passed(1), "phase", phase("INVENTORY_AFD_CONTRACTS", "FAIL")
    yield passed(1), "inventory", {"how": "by hand", "items": {"C-1": "patch"}}
    listed = passed(1)
    listed.add("inventory", {"how": "by hand", "items": {"C-1": "patch"}})
    yield listed, "annotation", {"contract": "C-1", "owner": "us", "invariant": "i", "lifetime": "l"}
    yield passed(2), "diff", {"how": "tool", "items": {}, "proposed": True, "open": []}
    compared = passed(2)
    record = compared.add("diff", {"how": "tool", "items": {"I-1": "MECHANICAL"}, "proposed": True, "open": []})
    yield compared, "classification", {"diff": record.id, "items": {"I-1": "MECHANICAL"}, "why": "w", "bulk": False}
    yield passed(3), "decision", {"decide": "continue", "why": "w", "conditions": [], "report": {}}
    yield passed(4), "root-cause", cause()
    planned = passed(4)
    planned.add("root-cause", cause())
    yield planned.fork(ADA), "root-cause", {"root_cause": "RC-1", "op": "withdraw", "why": "w"}
    yield planned, "commit", commit()
    yield passed(5), "run", run("r", "static")
    failing = passed(5)
    failing.add("run", run("r", "static", "FAIL", bound={"content": "c"}))
    yield failing.fork(), "failure", {"op": "open", "failure": "F-1", "run": "r"}
    failing.add("failure", {"op": "open", "failure": "F-1", "run": "r"})
    yield failing, "failure", {"op": "classify", "failure": "F-1", "class": "environment", "why": "w"}
    failing.add("run", run("s", "static", bound={"content": "c"}))
    yield failing, "failure", {"op": "close", "failure": "F-1", "run": "s"}
    yield passed(1), "approval", {"what": "pair", "subject": "s", "name": "n", "reason": "r"}
    yield passed(1), "close", {"why": "w"}


def test_the_page_lists_exactly_the_kinds_that_are_known() -> None:
    assert tuple(ROWS) == KINDS


def test_the_page_lists_exactly_the_fields_that_the_state_is_computed_from() -> None:
    asked: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for told, kind, body in legal():
        before = Chronicle(list(told.records))
        record = told.add(kind, body)
        asked[kind] |= asked_of(record, before)
    assert {kind: sorted(names) for kind, names in asked.items()} == ROWS


def test_the_page_lists_exactly_the_fields_of_every_record() -> None:
    names = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", PAGE, flags=re.MULTILINE)
    assert sorted(names) == sorted(_ENVELOPE)


def test_a_record_that_lacks_a_needed_field_is_no_legal_one() -> None:
    told = passed(1)
    told.add("approval", {"what": "pair"})
    assert told.complaints() == ["name: a text was expected"]
    assert issubclass(ShapeFault, ValueError)
