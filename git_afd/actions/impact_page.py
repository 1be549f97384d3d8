"""The sources behind a comparison, for the page where one looks at the impact of a whole upgrade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import unified_diff
from typing import Any, Final

from git_afd.actions.analysis import recorded_inventory
from git_afd.actions.diff import listed_contracts
from git_afd.actions.diff_at import Look, question_at
from git_afd.actions.inventory_at import current_upgrade
from git_afd.actions.show_impact import texts_of
from git_afd.actions.take_impacts import sides_of, take_impacts
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import few_collections
from git_afd.core.outcome import Json, Outcome
from git_afd.core.workbook.inventory import Inventory

_CONTEXT: Final = 8
"""Lines around a change: a class of two thousand lines is looked at in its changed places, not whole."""


def with_sources(session: Session, look: Look, outcome: Outcome) -> Outcome:
    """Return a comparison's outcome with the differences of what its contracts name, for the page.

    ``data.differences`` maps a key to a unified diff; an impact row that has one gets ``difference``, its key. Two
    contracts that name the same thing share one.
    """
    if "impacts" not in outcome.data:
        return outcome
    question = question_at(session, look)
    up = current_upgrade(session)
    given = listed_contracts(up, recorded_inventory(session, up) or Inventory()) if up and not look.ref else ()
    taken = take_impacts(session, question, given)
    pairs = {
        contract.id: (contract, impact)
        for contract, impact in zip(taken.contracts, taken.comparison.impacts, strict=True)
    }
    with few_collections():
        sides = sides_of(session, question)
        differences: dict[str, Json] = {}
        rows: list[Json] = []
        for row in _rows(outcome):
            known = pairs.get(str(row["contract"]))
            key = ""
            if known and row["state"] != "unchanged":
                old, new, _ = texts_of(*known, sides)
                key = f"{old['path']}::{old['symbol']} {new['path']}::{new['symbol']}"
                if key not in differences:
                    differences[key] = _difference(old, new)
            rows.append({**row, "difference": key if differences.get(key) else ""})
    used = {key: text for key, text in differences.items() if text}
    return replace(outcome, verb="diff.page", data={**outcome.data, "impacts": rows, "differences": used})


def _rows(outcome: Outcome) -> list[Mapping[str, Any]]:
    rows = outcome.data["impacts"]
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _difference(old: Mapping[str, Json], new: Mapping[str, Json]) -> str:
    before, after = (str(side["text"]).splitlines() for side in (old, new))
    was, now = (f"{side['path']}::{side['symbol']}" if side["path"] else "(not there)" for side in (old, new))
    return "\n".join(unified_diff(before, after, was, now, n=_CONTEXT, lineterm=""))
