"""``git afd gate accuracy --cell native``: the same questions without the plugin; and what a cancelled gate leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import MEASURE, accuracy_policy, command, gate, measuring, npu_host, python, shown, upgrade
from kit import Kit
from kit_upgrade import FrozenUpgrade

BEFORE = "NPU_BASIC_E2E_GATE"
PHASE = "NPU_ACCURACY_GATE"

WITHOUT_PLUGIN = """import os
assert os.environ['VLLM_PLUGINS'] == 'ascend'
assert not [name for name in os.environ if name.startswith('AFD_')]
"""


def control(mode: str, value: float = 0.6) -> str:
    """Return the command that measures one mode of the native control, and insists on running without the plugin."""
    words = (*python(WITHOUT_PLUGIN + MEASURE), f"{{out}}/n-{mode}", str(value), "1319", "1319")
    results = f"'n-{mode}/results*.json'"
    return command("accuracy", f"native-{mode}", *words, mode=f"'{mode}'", cell="'native'", results=results)


def prepared(kit: Kit, value: float = 0.5) -> FrozenUpgrade:
    tables = (measuring("eager"), measuring("graph", value), control("eager"), control("graph"))
    return upgrade(kit, accuracy_policy(*tables), up_to=BEFORE)


def test_a_native_control_decides_nothing_and_is_what_accuracy_is_compared_with(kit: Kit, tmp_path: Path) -> None:
    up = prepared(kit)
    env = npu_host(tmp_path)
    done = gate(up, "accuracy", "--cell", "native", "--json", env={**env, "AFD_ROLE": "ffn"}).ok()
    data = done.json["data"]
    assert (data["status"], data["cell"], data["diagnostic"]) == ("PASS", "native", True)
    assert [one["name"] for one in data["commands"]] == ["native-eager", "native-graph"]
    assert "VLLM_PLUGINS alone says that it is native" in done.out  # its log is silent
    assert up.upgrade.runs[data["run"]].cell == "native"
    assert shown(up, PHASE)["status"] == "not run"
    said = gate(up, "accuracy", "--json", env=env).ok().json["data"]
    assert [one["name"] for one in said["commands"]] == ["eager", "graph"]
    native = said["metrics"]["graph"]["native"]
    assert (native["run"], native["same_questions"]) == (data["run"], "task hash")
    assert round(native["difference_points"], 6) == -0.1  # a fraction; the text says points and percent
    text = gate(up, "accuracy", env=env).ok().out
    assert "graph: 50.00 % on 1319 of 1319 samples (95 % interval 47.31 % to 52.69 %)" in text
    assert "difference: -10.00 points (95 % interval -13.75 points to -6.21 points), -16.67 % relative to it" in text


def test_after_a_failure_accuracy_waits_for_its_native_control(kit: Kit, tmp_path: Path) -> None:
    up = prepared(kit, 0.1)
    env = npu_host(tmp_path)
    first = gate(up, "accuracy", env=env)
    assert (first.code, "no native control was measured in mode eager and graph" in first.out) == (1, True)
    up.plugin.afd(["failure", "classify", "F-1", "environment", "--why", "a busy host"]).ok()
    count = len(up.upgrade.runs)
    done = gate(up, "accuracy", env=env)
    assert (done.code, len(up.upgrade.runs)) == (6, count)  # before hours are spent
    assert "fix: git afd gate accuracy --cell native" in done.err
    gate(up, "accuracy", "--cell", "native", env=env).ok()
    again = gate(up, "accuracy", env=env)
    assert (again.code, "difference: -50.00 points" in again.out) == (1, True)


def test_a_cancelled_gate_is_blocked_with_who_and_why_until_it_passes(kit: Kit, tmp_path: Path) -> None:
    up = prepared(kit)
    words = ("--cancelled", "--why", "the devices are needed elsewhere")
    tip = up.session.ledger.tip()
    assert gate(up, "accuracy", *words, "--dry-run").code == 6
    assert up.session.ledger.tip() == tip
    done = gate(up, "accuracy", *words)
    assert done.code == 6
    row = shown(up, PHASE)
    said = f"cancelled by {up.session.actor}: the devices are needed elsewhere"
    assert (row["status"], row["blocker"]) == ("BLOCKED", said)
    assert said in done.out
    tip = up.session.ledger.tip()
    gate(up, "accuracy", *words)
    assert up.session.ledger.tip() == tip  # it holds already
    gate(up, "accuracy", env=npu_host(tmp_path)).ok()
    assert shown(up, PHASE)["status"] == "PASS"
    late = gate(up, "accuracy", *words)
    assert (late.code, "has passed" in late.err) == (3, True)


USAGE = [
    (("--cancelled",), "--cancelled and --why go together"),
    (("--why", "late"), "--cancelled and --why go together"),
    (("--cancelled", "--why", "  "), "go together"),  # a reason that says nothing
    (("--cancelled", "--why", "late", "--diagnostic"), "leave the other options out"),
    (("--cell", "gpu"), "there is no cell gpu"),
    (("--cell", "native", "--only", "native-eager"), "leave --only and --failure out"),
]


@pytest.mark.parametrize(("options", "text"), USAGE)
def test_options_that_say_nothing_together_are_a_fault(kit: Kit, options: tuple[str, ...], text: str) -> None:
    done = kit.repo("empty").afd(["gate", "accuracy", *options])
    assert (done.code, text in done.err) == (2, True), done.err
