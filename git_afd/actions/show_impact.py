"""``git afd diff --show CONTRACT``: one contract's two ends in full, and what the plugin has there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from textwrap import dedent
from typing import Final

from git_afd.actions.take_impacts import Question, sides_of, take_impacts
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_history import first_parent_log
from git_afd.adapters.upstream_sources import few_collections
from git_afd.core.contracts.model import Contract
from git_afd.core.impacts.places import old_place, own_place
from git_afd.core.impacts.shown import Filters, impact_rows
from git_afd.core.impacts.sides import Side
from git_afd.core.outcome import Json, Outcome
from git_afd.core.source.world import PLUGIN, Located
from git_afd.core.state import Analysis
from git_afd.core.workbook.impacts import Impact
from git_afd.errors import Refused

_WHOLE: Final = 100_000
"""More lines of context than any function has: a diff then shows the whole function, as ``git diff -W`` does."""


def show_impact(
    session: Session, question: Question, asked: str, given: tuple[Contract, ...], analysis: Analysis | None
) -> Outcome:
    """Show a contract's impact with the texts of both sides and of the plugin; `asked` is an id or a part of one.

    Raises Refused when it names no contract, or several.
    """
    taken = take_impacts(session, question, given)
    contract, impact = _chosen(taken.contracts, taken.comparison.impacts, asked)
    with few_collections():
        sides = sides_of(session, question)
        old, new, mine = texts_of(contract, impact, sides)
    rows = impact_rows((impact,), {contract.id: contract}, analysis, Filters())
    data: dict[str, Json] = {
        "impact": rows[0],
        "old": old,
        "new": new,
        "plugin": mine,
        "diff": _diff(old, new),
        "drift": _diff(new, mine) if contract.kind in ("monkeypatch", "copied-body", "shadow-copy", "override") else "",
        "log": _log(question, contract),
    }
    return Outcome("diff.show", data)


def _chosen(contracts: Sequence[Contract], impacts: Sequence[Impact], asked: str) -> tuple[Contract, Impact]:
    pairs = list(zip(contracts, impacts, strict=True))
    fitting = [pair for pair in pairs if pair[0].id == asked] or [pair for pair in pairs if asked in pair[0].id]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise Refused(f"{asked} names no contract", "git afd diff", code="no-contract")
    some = ", ".join(pair[0].id for pair in fitting[:3])
    raise Refused(f"{asked} names {len(fitting)} contracts: {some}", "give more of the id", code="no-contract")


Shown = dict[str, Json]


def texts_of(contract: Contract, impact: Impact, sides: tuple[Side, Side]) -> tuple[Shown, Shown, Shown]:
    """Return what a contract names at the current and at the target side, and the plugin's own place: path, text."""
    before = old_place(contract, sides[0])
    after: Located | None = None
    if impact.target is not None:
        module = sides[1].module_at(contract.upstream.name, impact.target.path)
        named = module.name if module else ""
        after = own_place(sides[1], contract.upstream.name, named, impact.target.symbol) if named else None
    tree = sides[0].tree(PLUGIN)
    name = tree.name_of(contract.plugin.path) if tree else ""
    mine = own_place(sides[0], PLUGIN, name, contract.plugin.symbol) if name else None
    return _shown(before, sides[0]), _shown(after, sides[1]), _shown(mine, sides[0])


def _shown(place: Located | None, side: Side) -> Shown:
    if place is None:
        return {"path": "", "symbol": "", "line": 0, "text": ""}
    return {"path": place.path, "symbol": place.symbol, "line": place.line, "text": side.source(place) or ""}


def _diff(first: Mapping[str, Json], second: Mapping[str, Json]) -> str:
    """Return the whole function as a unified diff, empty when either side is missing or nothing differs."""
    if not first["text"] or not second["text"]:
        return ""
    before, after = (dedent(str(side["text"])).splitlines() for side in (first, second))
    old, new = (f"{side['path']}::{side['symbol']}" for side in (first, second))
    return "\n".join(unified_diff(before, after, old, new, n=_WHOLE, lineterm=""))


def _log(question: Question, contract: Contract) -> list[Json]:
    """Return the first-parent log of the contract's file between the two commits."""
    name, path = contract.upstream.name, contract.upstream.path
    if name not in question.current or not path:
        return []
    old, new = question.current[name], question.target[name]
    log = first_parent_log(old.git, old.commit, new.commit, path)
    return [{"commit": commit, "subject": subject} for commit, subject in log]
