"""A small plugin with a tiny policy whose commands are real: pytest, and one-liners of Python."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from kit import Done, Kit
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade, frozen

BEFORE = "IMPLEMENT_ATOMIC_ADAPTATIONS"

POLICY_HEAD = """schema = 1
name = "small"
simulated = {simulated}
[paths]
lessons = "lessons"
documentation = ["docs/**", "**/*.md"]
tests = ["tests/**"]
production = ["afd_plugin/**"]
must-read = []
[accuracy]
task = "gsm8k"
metric = "exact_match,strict-match"
expected-size = 1319
modes = ["eager", "graph"]
threshold = 0.25
threshold-guard = "bar"
[[guard]]
name = "bar"
kind = "threshold"
path = "tests/**/*.py"
pattern = '''GSM8K_THRESHOLD = ([0-9.]+)'''
"""

UNIT = ("{python}", "-m", "pytest", "-q", "tests", "--junitxml={out}/unit.xml", "-p", "no:cacheprovider")
"""pytest as the policy runs it."""

PASSING = {TEST: "def test_step():\n    assert True\n"}


def command(gate: str, name: str, *run: str, **more: str) -> str:
    """Return one command's table; `more` are its other keys."""
    rest = "".join(f"{key} = {value}\n" for key, value in more.items())
    return f"[[gates.{gate}.command]]\nname = {json.dumps(name)}\nrun = {json.dumps(run)}\n{rest}"


def python(code: str) -> tuple[str, ...]:
    """Return a one-liner that the target's interpreter runs; it must not hold braces that look like placeholders."""
    return ("{python}", "-c", code)


def policy(*tables: str, simulated: bool = False) -> str:
    """Return a policy with these tables."""
    return POLICY_HEAD.replace("{simulated}", str(simulated).lower()) + "".join(tables)


def static_policy(*more: str) -> str:
    """Return a policy whose static gate is one check without a report and the unit suite."""
    return policy(
        command("static", "check", *python("print('checked')")),
        command("static", "unit", *UNIT, junit="'unit.xml'"),
        *more,
    )


def upgrade(
    kit: Kit, text: str, *, up_to: str = BEFORE, files: Mapping[str, str | bytes] | None = None
) -> FrozenUpgrade:
    """Return a frozen upgrade with this policy, passed up to a phase."""
    return frozen(kit, up_to=up_to, files={**PASSING, **(files or {})}, policy=text)


def gate(up: FrozenUpgrade, name: str, *options: str, env: Mapping[str, str] | None = None) -> Done:
    """Run ``git afd gate NAME`` in the plugin with this interpreter."""
    return up.plugin.afd(["gate", name, "--python", sys.executable, *options], env=env)


def shown(up: FrozenUpgrade, phase: str) -> dict[str, Any]:
    """Return the row of a phase as `status` shows it."""
    rows = up.plugin.afd("status --json").ok().json["data"]["phases"]
    row: dict[str, Any] = next(row for row in rows if row["phase"] == phase)
    return row


__all__ = ["BEFORE", "PASSING", "PRODUCTION", "TEST", "UNIT", "command", "gate", "policy", "python", "shown"]
