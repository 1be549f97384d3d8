"""The answers to the architecture gate: ``[[condition]]``, ``[[question]]`` and, for a stop, ``[stop]``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from git_afd.core.outcome import Json
from git_afd.core.stop_conditions import STOP_CONDITIONS, Answer, StackAnswer
from git_afd.core.workbook.frozen import PLUGIN, Frozen, Place
from git_afd.core.workbook.row import Row, RowFault, only_tables, rows_of

STOP_TEXTS: Final[Mapping[str, str]] = {
    "old_architecture": "the architecture at the current commits",
    "new_architecture": "the architecture at the target commits",
    "why_no_local_patch": "why the target plus small marked differences is impossible",
    "why_unsafe": "why deleting, bypassing, reflection or broad copying is unsafe",
    "decision_needed": "the smallest decision needed from maintainers",
    "directions": "candidate directions",
}
"""What the workflow wants in a stop report and no record can say (Phase 3, last paragraph)."""

_PLACE: Final = re.compile(r"(?P<path>.+?)(?:::(?P<symbol>[^@]+))?@(?P<at>[\w.-]+)\Z")
_SHORT: Final = 7


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered. `stop` has the keys of STOP_TEXTS that were filled in."""

    conditions: tuple[Answer, ...] = ()
    questions: tuple[StackAnswer, ...] = ()
    stop: Mapping[str, str] = field(default_factory=dict)

    @property
    def evidence(self) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
        """Every evidence list with its table and row."""
        conditions = (("condition", place, item.evidence) for place, item in enumerate(self.conditions, start=1))
        questions = (("question", place, item.evidence) for place, item in enumerate(self.questions, start=1))
        return (*conditions, *questions)


@dataclass(frozen=True, slots=True)
class Known:
    """What evidence may name: ids of impacts and contracts, digests of artifacts that are there."""

    ids: Collection[str]
    artifacts: Collection[str]


def parse_answers(document: Mapping[str, Json]) -> tuple[Answers, list[RowFault]]:
    """Read an answers file. Total: faults name table, row and field."""
    faults: list[RowFault] = []
    only_tables(document, ("condition", "question", "stop"), faults)
    conditions = rows_of(document, "condition", faults)
    answers = tuple(_condition(row) for row in conditions)
    seen: dict[int, int] = {}
    for row, answer in zip(conditions, answers, strict=True):
        if answer.number in seen:
            row.fault("number", f"{answer.number} is answered in row {seen[answer.number]} too", "answer it once")
        seen.setdefault(answer.number, row.number)
    questions = tuple(_question(row) for row in rows_of(document, "question", faults))
    return Answers(answers, questions, _stop(document, faults)), faults


def with_fitting(answers: Answers, architectural: Collection[str]) -> Answers:
    """Return the answers with every pattern (with ``*``) among their evidence replaced by what must be cited and fits.

    A pattern that fits nothing stays as it is, and is then no evidence.
    """

    def named(evidence: tuple[str, ...]) -> tuple[str, ...]:
        found: list[str] = []
        for item in evidence:
            fitting = [one for one in architectural if fnmatchcase(one, item)] if "*" in item else []
            found += fitting or [item]
        return tuple(dict.fromkeys(found))

    conditions = tuple(replace(item, evidence=named(item.evidence)) for item in answers.conditions)
    questions = tuple(replace(item, evidence=named(item.evidence)) for item in answers.questions)
    return replace(answers, conditions=conditions, questions=questions)


def evidence_places(evidence: Collection[str], commits: Mapping[str, str]) -> frozenset[Place]:
    """Return the places (``path@commit``) among pieces of evidence; `commits` maps a side to its full id."""
    return frozenset(place for item in evidence if (place := _place(item, commits)))


def why_no_evidence(item: str, known: Known, frozen: Frozen) -> str:
    """Say why a piece of evidence proves nothing, as the end of a sentence; empty when it names something real."""
    if item in known.ids or item in known.artifacts:
        return ""
    place = _place(item, frozen.commits)
    if place is None:
        return f"{item!r} names no impact, contract, artifact or path@commit"
    return frozen.why_absent(place)


def evidence_faults(answers: Answers, known: Known, frozen: Frozen) -> list[RowFault]:
    """Return a fault for every piece of evidence that names nothing."""
    fix = f"name an impact or contract id, an artifact, or path@base, {', path@'.join(_sides(frozen))}"
    return [
        RowFault(table, row, "evidence", why, fix)
        for table, row, evidence in answers.evidence
        for item in evidence
        if (why := why_no_evidence(item, known, frozen))
    ]


def _sides(frozen: Frozen) -> list[str]:
    return [side for side in frozen.commits if side != PLUGIN]


def _place(item: str, commits: Mapping[str, str]) -> Place | None:
    match = _PLACE.match(item)
    if match is None:
        return None
    at = PLUGIN if match["at"] == "base" else match["at"]
    fits = [side for side, commit in commits.items() if side == at or (len(at) >= _SHORT and commit.startswith(at))]
    return Place(fits[0], match["path"], match["symbol"] or "") if fits else None


def _condition(row: Row) -> Answer:
    row.known(("number", "holds", "evidence", "why"))
    number = row.number_of("number")
    if not 1 <= number <= len(STOP_CONDITIONS):
        row.fault("number", "is no stop condition", f"use 1 to {len(STOP_CONDITIONS)}")
    if "holds" not in row.body:
        row.fault("holds", "is missing", "say holds = true or holds = false")
    return Answer(number, row.flag("holds"), _evidence(row), row.text("why", required=True))


def _question(row: Row) -> StackAnswer:
    row.known(("question", "answer", "evidence"))
    return StackAnswer(row.text("question", required=True), row.text("answer", required=True), _evidence(row))


def _evidence(row: Row) -> tuple[str, ...]:
    found = row.many("evidence")
    if not found:
        row.fault("evidence", "is missing", "name an impact, a contract, an artifact or path@commit")
    return found


def _stop(document: Mapping[str, Json], faults: list[RowFault]) -> dict[str, str]:
    body = document.get("stop", {})
    if not isinstance(body, dict):
        faults.append(RowFault("stop", 0, "", "is no table", "write [stop] and its texts below it"))
        return {}
    row = Row("stop", 1, body, faults)
    row.known(STOP_TEXTS)
    return {name: text for name in STOP_TEXTS if (text := "\n".join(row.many(name)))}
