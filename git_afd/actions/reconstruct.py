"""``git afd reconstruct CONTRACT``: the plugin's function rebuilt on the target's; put in place only when asked.

What is rebuilt is the function as it stood when the upgrade was frozen (or at ``--at``): the old copy is the ledger
of the plugin's own differences (workflow, Phase 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from textwrap import dedent
from typing import Final

from git_afd.actions.diff_at import Look, question_at
from git_afd.actions.reconstruct_write import write
from git_afd.actions.take_impacts import Question, sides_of, take_impacts
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import few_collections
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json, Outcome
from git_afd.core.reconstruction.model import Reconstruction
from git_afd.core.reconstruction.reconstruct import reconstruct as rebuild
from git_afd.core.reconstruction.subject import Pair, Subject, chosen, subject_of
from git_afd.core.source.world import PLUGIN
from git_afd.errors import Blocked, Exit, Refused, UsageFault

_WHOLE: Final = 100_000


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: a contract (id, part of one, ``path::symbol``), where to look, and what to do with the result.

    `dropped` are deviations (``D1``) for which the target's form is taken.
    """

    contract: str
    look: Look = field(default_factory=lambda: Look(""))
    dropped: tuple[str, ...] = ()
    three_way: bool = False
    write: bool = False
    dry_run: bool = False


def reconstruct(session: Session, request: Request) -> Outcome:
    """Return the rebuilt function; exit 1 with a finding for each open question when it is not complete.

    With `write` it takes the old function's place in the work tree. Raises Refused when the contract names nothing
    or several functions, or when writing is not allowed.
    """
    question = question_at(session, request.look)
    if request.write and (request.look.ref or request.look.sources):
        raise UsageFault("--write puts an upgrade's function in place, and --at only looks", "leave one out")
    taken = take_impacts(session, question)
    every = list(zip(taken.contracts, taken.comparison.impacts, strict=True))
    pairs = _one(every, request.contract)
    subject = _subject(session, question, pairs, every)
    found = rebuild(subject.copy, subject.parts, subject.names, frozenset(request.dropped))
    data = _data(pairs, subject, found)
    if request.three_way:
        data["three_way"] = _three_way(subject, found)
    written = ""
    if request.write:
        written = write(session, pairs[0][0], subject.copy, found, dry_run=request.dry_run)
        data |= {"written": not request.dry_run, "root_cause": written}
    return _outcome(pairs, found, data, written)


def _one(pairs: Sequence[Pair], asked: str) -> list[Pair]:
    found = chosen(pairs, asked)
    if len(found) == 1:
        return found[0]
    if not found:
        message = f"{asked} names no function of the plugin that stands in for an upstream one"
        raise Refused(message, "git afd inventory --kind copied-body", code="no-contract")
    some = ", ".join(f"{items[0][0].plugin.path}::{items[0][0].plugin.symbol}" for items in found[:3])
    raise Refused(f"{asked} names {len(found)} functions: {some}", "give path::symbol", code="no-contract")


def _subject(session: Session, question: Question, pairs: list[Pair], every: Sequence[Pair]) -> Subject:
    place = pairs[0][0].plugin
    refs = {name: (revision.ref, question.current[name].names()) for name, revision in question.target.items()}
    with few_collections():
        sides = sides_of(session, question)
        text = sides[0].texts(PLUGIN, place.path)
        found = subject_of(pairs, sides, text.replace("\r\n", "\n"), refs, every) if text is not None else None
    if found is None:
        raise Blocked(f"{place.path}::{place.symbol} cannot be read at {question.commit[:12]}", "git afd inventory")
    return found


def _data(pairs: Sequence[Pair], subject: Subject, found: Reconstruction) -> dict[str, Json]:
    contract = pairs[0][0]
    return {
        "contracts": [pair[0].id for pair in pairs],
        "plugin": {
            "path": contract.plugin.path,
            "symbol": contract.plugin.symbol,
            "line": found.first,
            "end_line": found.last,
        },
        "target": [{"path": part.path, "symbol": part.symbol, "found": bool(part.new)} for part in subject.parts],
        "text": found.text,
        "complete": found.complete,
        "blocks": [item.as_json() for item in found.blocks],
        "deviations": [item.as_json() for item in found.deviations],
        "questions": [item.as_json() for item in found.questions],
        "imports": list(found.imports),
        "typing": list(found.typing),
        "replaced": [{"old": old, "new": new} for old, new in found.replaced],
        "unused": list(found.unused),
        "notes": [*subject.moved, *found.notes],
    }


def _three_way(subject: Subject, found: Reconstruction) -> dict[str, Json]:
    """Return the plugin's differences then and now, and what changes in its file; whole functions as unified diffs."""
    lines = subject.copy.text.split("\n")
    copy = dedent("\n".join(lines[found.first - 1 : found.last]))
    old = "\n".join(dedent(part.old) for part in subject.parts)
    new = dedent(found.text)
    return {
        "then": _diff(old, copy, "upstream, current", "plugin, current"),
        "now": _diff(dedent(found.target), new, "upstream, target", "plugin, target"),
        "change": _diff(copy, new, "plugin, current", "plugin, target"),
    }


def _diff(first: str, second: str, old: str, new: str) -> str:
    rows = unified_diff(first.splitlines(), second.splitlines(), old, new, n=_WHOLE, lineterm="")
    return "\n".join(rows)


def _outcome(pairs: Sequence[Pair], found: Reconstruction, data: dict[str, Json], written: str) -> Outcome:
    place = pairs[0][0].plugin
    asked = f"{place.path}::{place.symbol}"
    findings = tuple(
        Finding(f"reconstruct-{item.code}", f"{place.path}:{item.line or found.first}", item.text, _REMEDY)
        for item in found.questions
    )
    if findings:
        return Outcome("reconstruct", data, findings, f"git afd reconstruct {asked} --three-way", Exit.FAIL)
    after = f"git afd commit --root-cause {written}" if written else f"git afd reconstruct {asked} --write"
    return Outcome("reconstruct", data, (), after)


_REMEDY: Final = "answer it in the plugin's function (mark, move or drop the block), or write the new one by hand"
