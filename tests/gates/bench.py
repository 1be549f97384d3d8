"""A small plugin with a tiny policy whose commands are real: pytest, and one-liners of Python."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit import Done, Kit
from kit_native import ASKED
from kit_upgrade import ASCEND, SMI, TEST, VLLM, FrozenUpgrade, Upstreams, frozen

from git_afd.actions.gate.judge import judge_raw, raw_of
from git_afd.adapters.session import Session
from git_afd.core.evidence.gate_verdict import GateVerdict
from git_afd.core.phases import BY_NAME, GATES
from git_afd.core.state import Run, Upgrade

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


PASSING_CELL = f"""[[gates.native.cell]]
name = "pass"
run = ["{{python}}", "serve", "{{port}}"]
request = {{model = "native"}}
asked = {{{", ".join(f"{name} = {json.dumps(value)}" for name, value in ASKED.items())}}}
"""
"""A cell of the native control whose run is written straight into the ledger."""


def upgrade(
    kit: Kit,
    text: str,
    *,
    up_to: str = BEFORE,
    files: Mapping[str, str | bytes] | None = None,
    upstreams: Upstreams = (VLLM, ASCEND),
) -> FrozenUpgrade:
    """Return a frozen upgrade with this policy, passed up to a phase; gates that come before get a command."""
    own = (phase.number for name, phase in GATES.items() if f"[gates.{name}" in text)
    last = max((BY_NAME[up_to].number, *(number - 1 for number in own)))
    for name, phase in GATES.items():
        if phase.binding == "content" and phase.number <= last and f"[gates.{name}" not in text:
            text += PASSING_CELL if name == "native" else command(name, "pass", *python("pass"))
    return frozen(kit, up_to=up_to, files={**PASSING, **(files or {})}, policy=text, upstreams=upstreams)


def gate(up: FrozenUpgrade, name: str, *options: str, env: Mapping[str, str] | None = None) -> Done:
    """Run ``git afd gate NAME`` in the plugin with this interpreter."""
    return up.plugin.afd(["gate", name, "--python", sys.executable, *options], env=env)


def judge_run(session: Session, up: Upgrade, run: Run) -> GateVerdict:
    """Judge a recorded run again from its artifacts."""
    return judge_raw(session, up, raw_of(session, run), but=run.name)


def shown(up: FrozenUpgrade, phase: str) -> dict[str, Any]:
    """Return the row of a phase as `status` shows it."""
    rows = up.plugin.afd("status --json").ok().json["data"]["phases"]
    row: dict[str, Any] = next(row for row in rows if row["phase"] == phase)
    return row


def npu_host(folder: Path, *, simulated: bool = False, text: str = SMI) -> dict[str, str]:
    """Return an environment with an ``npu-smi`` that prints `text`; a simulated one says that it is."""
    (folder / "table").write_text(text)
    tool = folder / "npu-smi"
    said = "echo simulated NPU host\n" if simulated else ""
    tool.write_text(f"#!/bin/sh\n{said}cat {folder / 'table'}\n")
    tool.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


MEASURE = """import json, os, sys, time
out, value, size, original = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
os.makedirs(out)
body = {'results': {'gsm8k': {'exact_match,strict-match': value}}, 'n-samples': {'gsm8k':
        {'original': original, 'effective': size}}, 'config': {'limit': None}, 'date': time.time(),
        'task_hashes': {'gsm8k': 'f' * 64}}
json.dump(body, open(out + '/results_1.json', 'w'))
"""


def measuring(mode: str, value: float = 0.5, size: int = 1319, original: int = 1319) -> str:
    """Return the command that measures one mode, as lm-eval would leave it."""
    words = (*python(MEASURE), f"{{out}}/{mode}", str(value), str(size), str(original))
    return command("accuracy", mode, *words, mode=f"'{mode}'", results=f"'{mode}/results*.json'")


def accuracy_policy(*tables: str, simulated: bool = False) -> str:
    """Return a policy whose accuracy gate needs an NPU and has these commands."""
    return policy(
        "[gates.accuracy]\nnpu = true\n", *(tables or (measuring("eager"), measuring("graph"))), simulated=simulated
    )
