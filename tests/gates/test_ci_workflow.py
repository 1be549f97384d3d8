"""The ready workflow file: it parses, and every command and option in it exists."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]  # its types are not installed; what it returns is checked here
from kit import ROOT

from git_afd.cli.entry import afd
from git_afd.core.policy_gates import RUNNING_GATES

FILE = ROOT / "docs/how-to/npu-gate-workflow.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(FILE.read_text())
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["gate"]["steps"]
# YAML 1.1 reads a bare "on" as true.
INPUTS: dict[str, Any] = WORKFLOW[True]["workflow_dispatch"]["inputs"]


def commands() -> list[str]:
    """Every ``git afd`` command, one line each."""
    scripts = "\n".join(step.get("run", "") for step in STEPS).replace("\\\n", " ")
    return [line.strip() for line in scripts.splitlines() if line.strip().startswith("git afd ")]


def known(words: list[str]) -> click.Command:
    command: click.Command = afd
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, word
        command = found
    return command


def test_it_runs_a_gate_and_carries_its_bundle_away() -> None:
    assert [line.split()[2] for line in commands()] == ["doctor", "gate"]
    assert '--bundle "$RUNNER_TEMP/$GATE.afd"' in commands()[1]
    upload = STEPS[-1]
    assert (upload["if"], upload["with"]["path"]) == ("always()", "${{ runner.temp }}/${{ inputs.gate }}.afd")
    assert set(INPUTS["gate"]["options"]) < set(RUNNING_GATES)


@pytest.mark.parametrize("gate", INPUTS["gate"]["options"])
@pytest.mark.parametrize("line", commands())
def test_every_command_and_option_in_it_exists(line: str, gate: str) -> None:
    words = re.sub(r"\$\{CELL:\+([^}]*)\}", r"\1" if gate == "accuracy" else "", line.replace('"$GATE"', gate)).split()[
        2:
    ]
    path = words[: next((place for place, word in enumerate(words) if word.startswith("-")), len(words))]
    options = {name for parameter in known(path).params for name in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options


def test_nothing_that_a_person_typed_becomes_part_of_a_script() -> None:
    assert not [step["run"] for step in STEPS if "${{" in step.get("run", "")]
    assert WORKFLOW["permissions"] == {"contents": "read"}
