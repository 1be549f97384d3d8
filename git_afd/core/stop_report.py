"""The architecture stop report (domain facts §3): what the records say, and what only a person can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from git_afd.core.outcome import Json
from git_afd.core.state import Upgrade
from git_afd.core.stop_conditions import Judgement
from git_afd.core.workbook.answers import STOP_TEXTS
from git_afd.core.workbook.impacts import Impact
from git_afd.core.workbook.inventory import Contract, Inventory


@dataclass(frozen=True, slots=True)
class Stop:
    """Everything a stop report is made of."""

    up: Upgrade
    why: str
    by: str
    judgement: Judgement
    inventory: Inventory
    impacts: tuple[Impact, ...]
    texts: Mapping[str, str]


def stop_report(stop: Stop) -> dict[str, Json]:
    """Return the report as one JSON object."""
    affected = _affected(stop)
    contracts = [item for item in stop.inventory.contracts if item.id in {impact.contract for impact in affected}]
    freeze = stop.up.freeze
    return {
        "decision": "stop",
        "why": stop.why,
        "by": stop.by,
        "upgrade": stop.up.id,
        "base": freeze.base,
        "pair": {key: {"ref": side.ref, "commit": side.commit} for key, side in freeze.revisions.items()},
        "conditions": [row.as_json() for row in stop.judgement.rows if row.standing == "holds"],
        **{name: stop.texts.get(name, "") for name in STOP_TEXTS},
        "interfaces": [_interface(impact, contracts) for impact in affected],
        "files": sorted(
            {item.plugin.path for item in contracts} | {one for impact in affected for one in impact.consumers}
        ),
        "features": [
            cell.cell for cell in stop.inventory.features if {item.id for item in contracts} & set(cell.evidence)
        ],
        "invariants": {item.id: item.invariant for item in contracts if item.invariant},
        "production_edits": [commit.commit for commit in stop.up.commits],
        "preserved": sorted(freeze.dirty),
    }


def as_markdown(report: Mapping[str, Json]) -> str:
    """Return the report as Markdown."""
    return "\n".join(_lines(report)) + "\n"


def _affected(stop: Stop) -> list[Impact]:
    """Return the ARCHITECTURAL impacts and those that an answer which holds cites."""
    cited = {item for row in stop.judgement.rows if row.standing == "holds" for item in row.evidence}
    return [
        impact
        for impact in stop.impacts
        if impact.class_ == "ARCHITECTURAL" or impact.id in cited or impact.contract in cited
    ]


def _interface(impact: Impact, contracts: Sequence[Contract]) -> dict[str, Json]:
    upstream = next(item.upstream for item in contracts if item.id == impact.contract)
    return {
        "impact": impact.id,
        "contract": impact.contract,
        "upstream": f"{upstream.name}: {upstream.path}::{upstream.symbol}",
        "state": impact.state,
        "class": impact.class_,
        "target": f"{impact.target.path}::{impact.target.symbol}" if impact.target else "",
        "reason": impact.reason,
    }


def _lines(report: Mapping[str, Json]) -> Iterator[str]:
    yield f"# Architecture stop: upgrade {report['upgrade']}"
    yield ""
    yield f"Decision: **stop**, by {report['by']}: {report['why']}"
    yield from _section("Pair", (f"- {key}: {_said(side)}" for key, side in _items(report["pair"])))
    yield from _section("Conditions that hold", (_condition(row) for row in _rows(report["conditions"])))
    for name, title in STOP_TEXTS.items():
        yield from _section(title[:1].upper() + title[1:], [str(report[name])])
    yield from _section("Removed or replaced interfaces", (_impact(row) for row in _rows(report["interfaces"])))
    yield from _section("Affected files", (f"- {path}" for path in _texts(report["files"])))
    yield from _section("Affected features", (f"- {cell}" for cell in _texts(report["features"])))
    yield from _section(
        "Invariants that no longer map", (f"- {name}: {text}" for name, text in _items(report["invariants"]))
    )
    yield from _section("Production edits", (f"- {commit}" for commit in _texts(report["production_edits"])))
    yield from _section("Unrelated changes preserved", (f"- {path}" for path in _texts(report["preserved"])))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    yield from list(lines) or ["none"]


def _said(side: Json) -> str:
    return f"{side['ref']} ({side['commit']})" if isinstance(side, dict) else ""


def _condition(row: Mapping[str, Json]) -> str:
    return f"- {row['number']}. {row['question']} {row['why']} ({', '.join(_texts(row['evidence']))})"


def _impact(row: Mapping[str, Json]) -> str:
    target = f", now {row['target']}" if row["target"] else ""
    return f"- {row['upstream']} is {row['state']}{target} ({row['impact']}, {row['class']}): {row['reason']}"


def _rows(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _items(value: Json) -> list[tuple[str, Json]]:
    return list(value.items()) if isinstance(value, dict) else []
