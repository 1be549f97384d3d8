"""What is said of a gate: judged, blocked before it could run, or only looked at."""

from __future__ import annotations

from collections.abc import Mapping

from git_afd.actions.gate.enter import Entry
from git_afd.actions.gate.order import Order
from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.core.command import Command
from git_afd.core.evidence.gate_verdict import GateVerdict
from git_afd.core.evidence.raw_run import FILE, RawRun
from git_afd.core.finding import Finding
from git_afd.core.gating import categories_of, counts_of
from git_afd.core.native_cell import EXAMPLE, NO_CELL, NO_CELL_FIX
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import GATES
from git_afd.core.standing import next_action
from git_afd.core.state import Upgrade
from git_afd.errors import Exit

_EXITS: Mapping[str, int] = {
    "PASS": Exit.DONE,
    "FAIL": Exit.FAIL,
    "BLOCKED": Exit.BLOCKED,
    "INTERRUPTED": Exit.INTERRUPTED,
}


def judged(
    session: Session, up: Upgrade, name: str, raw: RawRun, verdict: GateVerdict, notes: tuple[Finding, ...] = ()
) -> Outcome:
    """Return what is said of a run that was recorded as `name`."""
    run = up.runs[name]
    about: dict[str, Json] = {
        "run": name,
        "origin": run.origin,
        "diagnostic": run.diagnostic,
        "artifacts": {**raw.artifacts, FILE: run.artifacts[FILE]},
        "logs": {one.name: str(session.artifacts.path(raw.artifacts[one.log])) for one in raw.commands if one.log},
    }
    then = next_action(up, rows_of(session, up))
    return Outcome(
        verb=f"gate.{raw.gate}",
        data={**facts_of(up.id, raw, verdict), **about},
        findings=(*verdict.findings, *notes),
        next=then,
        exit=exit_of(raw, verdict),
    )


def exit_of(raw: RawRun, verdict: GateVerdict) -> int:
    """Return the exit code of a judged run."""
    return Exit.INTERRUPTED if raw.interrupted else _EXITS[verdict.status]


def facts_of(upgrade: str, raw: RawRun, verdict: GateVerdict) -> dict[str, Json]:
    """Return the facts of a judged run that do not depend on where it is recorded."""
    return {
        "upgrade": upgrade,
        "gate": raw.gate,
        "phase": GATES[raw.gate].name,
        "run": "",
        "status": "INTERRUPTED" if raw.interrupted else verdict.status,
        "tests": verdict.tests,
        "cleanup": verdict.cleanup,
        "commit": raw.identity.commit,
        "tree": raw.identity.tree,
        "origin": "here",
        "simulated": raw.simulated,
        "failure": raw.failure,
        "diagnostic": raw.diagnostic,
        "cell": raw.cell,
        "commands": _commands(raw, verdict),
        "categories": categories_of(verdict),
        "cells": verdict.cells.as_json() if verdict.cells else {},
        "counts": counts_of(verdict),
        "metrics": dict(verdict.metrics),
        "environment_failure": verdict.environment,
        **verdict.facts,
        "blocker": verdict.blocker,
        "artifacts": dict(raw.artifacts),
    }


def blocked(entry: Entry, order: Order, blocker: str, *, recorded: bool) -> Outcome:
    """Return what is said of a gate that could not run here."""
    data: dict[str, Json] = {
        "upgrade": entry.up.id,
        "gate": order.gate,
        "phase": GATES[order.gate].name,
        "run": "",
        "status": "BLOCKED",
        "blocker": blocker,
        "recorded": recorded,
    }
    fix = f"run {order.words} --bundle FILE on a host that has it, and --from FILE here"
    if blocker == NO_CELL:
        data["example"], fix = EXAMPLE, NO_CELL_FIX
    finding = Finding("gate-blocked", order.gate, blocker, fix if entry.gate.npu else "")
    return Outcome(f"gate.{order.gate}", data, (finding, *entry.notes), order.again, Exit.BLOCKED)


def would_run(entry: Entry, order: Order, python: str, lacking: str) -> Outcome:
    """Return what would be run; exit code BLOCKED when it could not."""
    data: dict[str, Json] = {
        "upgrade": entry.up.id,
        "gate": order.gate,
        "phase": GATES[order.gate].name,
        "dry_run": True,
        "commit": entry.identity.commit,
        "python": python,
        "would_run": [{"name": one.name, "run": list(one.run)} for one in _chosen(entry, order)],
        "checks": list(entry.checks(order)),
        "lacking": lacking,
    }
    return Outcome(f"gate.{order.gate}", data, entry.notes, order.again, Exit.BLOCKED if lacking else Exit.DONE)


def _chosen(entry: Entry, order: Order) -> tuple[Command, ...]:
    commands, cells = entry.chosen(order)
    return (*commands, *(cell.command for cell in cells))


def _commands(raw: RawRun, verdict: GateVerdict) -> list[Json]:
    ended = {one.name: one for one in raw.commands}
    said: list[Json] = []
    for one in verdict.commands:
        ran = ended.get(one.name)
        said.append(
            {
                "name": one.name,
                "status": one.status,
                "counts": dict(one.counts),
                "exit_code": ran.exit_code if ran else None,
                "seconds": round(ran.ended - ran.began, 1) if ran else None,
                "log": raw.artifacts.get(ran.log, "") if ran else "",
                **({"cell": dict(one.facts)} if one.facts else {}),
            }
        )
    return said
