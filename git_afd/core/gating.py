"""The rules around a gate: may it be entered, is the tree what will be vouched for, what goes into the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from git_afd.core.evidence.gate_verdict import CommandVerdict, GateVerdict
from git_afd.core.evidence.raw_run import FILE, RawRun
from git_afd.core.evidence.status import worst
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.phases import GATES, PHASES
from git_afd.core.policy import Policy
from git_afd.core.state import Upgrade

How = Literal["changed", "untracked", "ignored", "hidden", "linked"]

_CONFIGURES: Final = frozenset(
    {
        "afd.toml",
        "conftest.py",
        "pyproject.toml",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "tox.ini",
        "setup.cfg",
        "ruff.toml",
        ".ruff.toml",
        "sitecustomize.py",
        "usercustomize.py",
    }
)
_IMPORTABLE: Final = (".py", ".pth", ".pyc", ".pyd", ".so")
_FINDINGS_KEPT: Final = 40


@dataclass(frozen=True, slots=True)
class Untidy:
    """A path where the work tree is not the commit: changed or untracked, or git was told not to look at it.

    `how` is ``hidden`` for a tracked path with the assume-unchanged or skip-worktree bit, ``ignored`` for an
    untracked one that is ignored; an ignored folder ends in a slash and stands for all that is in it; ``linked`` for a
    tracked link out of the tree.
    """

    path: str
    how: How


def disturbing(untidy: Iterable[Untidy], policy: Policy) -> tuple[Untidy, ...]:
    """Return the paths that would make a run vouch for something else than the commit (design.md §4).

    That is every path the gates vouch for, and whatever the commands may import or are configured by. What git
    ignores is build output: of that only importable files and configuration count. Python's bytecode caches, which
    it checks against their sources, do not.
    """
    return tuple(item for item in untidy if _disturbs(item, policy))


def _disturbs(item: Untidy, policy: Policy) -> bool:
    if "__pycache__" in item.path.split("/"):
        return False
    if item.how == "ignored":
        return _imported(item.path) and not item.path.endswith((".so", ".pyd"))
    return policy.vouched(item.path) or _imported(item.path)


def _imported(path: str) -> bool:
    return path.endswith(_IMPORTABLE) or path.rsplit("/", 1)[-1] in _CONFIGURES


def next_run(up: Upgrade) -> str:
    """Return the name of the next run: R-1, R-2 and so on."""
    numbers = [int(name[2:]) for name in up.runs if name.startswith("R-") and name[2:].isdecimal()]
    return f"R-{max(numbers, default=0) + 1}"


def started_body(name: str, raw: RawRun) -> dict[str, Json]:
    """Return the run record that is written before anything starts."""
    return {
        "op": "started",
        "run": name,
        "gate": raw.gate,
        "commit": raw.identity.commit,
        "tree": raw.identity.tree,
        "bound": raw.identity.bound(),
        "root": raw.root,
        "python": raw.python,
        "diagnostic": raw.diagnostic,
        "simulated": raw.simulated,
        "only": raw.only,
        "failure": raw.failure,
        **({"cell": raw.cell} if raw.cell else {}),
    }


def finished_body(name: str, raw: RawRun, verdict: GateVerdict, kept: str, *, origin: str = "here") -> dict[str, Json]:
    """Return the run record that is written afterwards; `kept` is the digest of the run's raw facts.

    An interrupted run has no verdict. Fewer questions than the full set make it a diagnostic (scenario U1).
    """
    exits = {one.name: one.exit_code for one in raw.commands}
    return {
        **started_body(name, raw),
        "op": "finished",
        "status": "INTERRUPTED" if raw.interrupted else verdict.status,
        "reason": verdict.blocker,
        "tests": verdict.tests,
        "cleanup": verdict.cleanup,
        "origin": origin,
        "diagnostic": raw.diagnostic or verdict.partial,
        "artifacts": {**raw.artifacts, FILE: kept},
        "commands": [
            {
                "name": one.name,
                "status": one.status,
                "exit_code": exits.get(one.name),
                "counts": dict(one.counts),
                **({"cell": dict(one.facts)} if one.facts else {}),
            }
            for one in verdict.commands
        ],
        **({"categories": categories_of(verdict)} if categories_of(verdict) else {}),
        "metrics": dict(verdict.metrics),
        **({"cells": verdict.cells.as_json()} if verdict.cells else {}),
        "findings": [finding.as_json() for finding in verdict.findings[:_FINDINGS_KEPT]],
    }


def phase_body(gate: str, status: str, evidence: Iterable[str], blocker: str) -> dict[str, Json]:
    """Return the phase record of a gate: exactly the workflow's five fields."""
    phase = GATES[gate]
    following = PHASES[phase.number + 1] if status == "PASS" else phase
    return {
        "phase": phase.name,
        "status": status,
        "evidence": list(evidence),
        "blocker": blocker,
        "next_allowed_action": following.command,
    }


def categories_of(verdict: GateVerdict) -> list[Json]:
    """Return what each category of the gate amounts to, in the policy's order; empty when it names none."""
    names = dict.fromkeys(one.category for one in verdict.commands if one.category)
    return [_category(name, [one for one in verdict.commands if one.category == name]) for name in names]


def _category(name: str, commands: Sequence[CommandVerdict]) -> Json:
    status = worst(one.status for one in commands)
    return {"name": name, "status": status, "commands": [one.name for one in commands], "counts": _sum(commands)}


def counts_of(verdict: GateVerdict) -> dict[str, int]:
    """Return the tests of all commands by outcome."""
    return _sum(verdict.commands)


def _sum(commands: Iterable[CommandVerdict]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in commands:
        for name, count in one.counts.items():
            total[name] = total.get(name, 0) + max(count, 0)
    return total


def output_notes(untidy: Iterable[Untidy], policy: Policy) -> Iterator[Finding]:
    """Yield a note for ignored build output below the plugin's packages: a run uses it and no commit holds it."""
    for item in untidy:
        if (
            item.how == "ignored"
            and policy.kind_of(item.path.rstrip("/")) == "production"
            and "__pycache__" not in item.path
        ):
            yield Finding(
                "build-output",
                item.path,
                f"{item.path} is ignored by git and used by the run; no commit holds it",
                "",
                "note",
            )
