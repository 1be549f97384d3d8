"""What `git afd freeze` answers: one shape of data for a new freeze, a dry run, an existing one and a blocked one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from git_afd.actions.freeze.decide import Blocked
from git_afd.core import shape
from git_afd.core.finding import Finding
from git_afd.core.freezing import PHASE, Request, judged
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import PHASES
from git_afd.core.state import Upgrade
from git_afd.errors import Exit


def frozen(up: Upgrade, request: Request) -> Outcome:
    """Answer a freeze that was just recorded."""
    return _answer("frozen", up, request)


def again(up: Upgrade, request: Request, back: tuple[str, ...]) -> Outcome:
    """Answer a freeze that was there already; `back` are worktrees that were put back."""
    outcome = _answer("restored" if back else "already", up, request)
    return replace(outcome, data={**outcome.data, "restored": list(back)})


def would(upgrade: str, body: Mapping[str, Json], request: Request) -> Outcome:
    """Answer a dry run that would freeze."""
    phase = judged(body, ())
    data = _data("dry-run", upgrade, body, request) | {"status": phase["status"], "blocker": phase["blocker"]}
    code = Exit.DONE if phase["status"] == "PASS" else Exit.BLOCKED
    return Outcome("freeze", data, _findings(body), "git afd freeze, without --dry-run", code)


def blocked(reasons: Blocked, request: Request) -> Outcome:
    """Answer a freeze that nothing was recorded of, since no identity could be decided."""
    data: dict[str, Json] = {"result": "blocked", "explain": request.explain, "candidates": reasons.rows}
    data["blocker"] = "; ".join(reason.message for reason in reasons.reasons)
    data["status"] = "BLOCKED"
    fix = reasons.reasons[0].remedy
    return Outcome("freeze", data, (*reasons.reasons, *reasons.findings), fix, Exit.BLOCKED)


def _answer(result: str, up: Upgrade, request: Request) -> Outcome:
    record = up.phases.get(PHASE.name)
    status, blocker = (record.status, record.blocker) if record else ("not run", "no phase record is there")
    action = record.next_allowed_action if record else PHASE.command
    if status == "PASS":
        action = next((phase.command for phase in PHASES if up.recorded.get(phase.name) != "PASS"), "git afd report")
    data = _data(result, up.id, up.freeze.body, request) | {"status": status, "blocker": blocker}
    data["primary"] = up.freeze.primary
    findings = _findings(up.freeze.body) if result == "frozen" else ()
    code = Exit.DONE if status == "PASS" else Exit.BLOCKED
    return Outcome("freeze", data, findings, action, code)


def _data(result: str, upgrade: str, body: Mapping[str, Json], request: Request) -> dict[str, Json]:
    shown = ("branch", "base", "primary", "revisions", "pair", "worktrees", "sources", "stack", "untouched")
    data = {name: body.get(name) for name in shown}
    plugin = shape.table(body, "plugin")
    return {
        "result": result,
        "upgrade": upgrade,
        **data,
        "dirty": sorted(shape.table(plugin, "dirty")),
        "documents": body.get("documents"),
        "guards": len(shape.tables(body, "guards")),
        "explain": request.explain,
        "candidates": body.get("candidates"),
    }


def _findings(body: Mapping[str, Json]) -> tuple[Finding, ...]:
    rows = shape.tables(body, "findings")
    names = ("code", "place", "message", "remedy", "severity")
    return tuple(Finding(*(str(row.get(name, "")) for name in names)) for row in rows)
