"""Gates that need NPUs: on a host without one they are BLOCKED, and what they need is read from npu-smi itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from bench import command, gate, npu_host, policy, python, shown, upgrade
from kit import Kit
from kit_upgrade import SMI

from git_afd.actions.gate import host
from git_afd.actions.gate.host import texts_after
from git_afd.adapters.configuration import read_policy
from git_afd.adapters.host import host_facts
from git_afd.core.evidence.host_snapshot import AFTER_FACTS, BEFORE_FACTS
from git_afd.core.evidence.host_verdict import AFTER, BEFORE, judge_before, judge_cleanup
from git_afd.core.policy import Gate

BEFORE_BASIC = "TARGET_NATIVE_NPU_CONTROL"
PHASE = "NPU_BASIC_E2E_GATE"
BASIC = "[gates.basic]\nnpu = true\n" + command("basic", "e2e", *python("print('served')"))


def test_a_host_without_an_npu_is_blocked_with_what_is_missing(kit: Kit) -> None:
    up = upgrade(kit, policy(BASIC), up_to=BEFORE_BASIC)
    done = gate(up, "basic")
    assert done.code == 6
    assert "npu-smi is not on PATH" in done.out
    assert "--bundle FILE" in done.out
    row = shown(up, PHASE)
    assert (row["status"], "npu-smi is not on PATH" in row["blocker"]) == ("BLOCKED", True)
    tip = up.session.ledger.tip()
    assert gate(up, "basic").code == 6
    assert up.session.ledger.tip() == tip  # it holds already


def test_a_phase_that_passed_is_not_taken_back_by_a_host_that_cannot_repeat_it(kit: Kit, tmp_path: Path) -> None:
    up = upgrade(kit, policy(BASIC), up_to=BEFORE_BASIC)
    gate(up, "basic", env=npu_host(tmp_path)).ok()
    done = gate(up, "basic")
    assert (done.code, "nothing was recorded" in done.out) == (6, True)
    assert shown(up, PHASE)["status"] == "PASS"


HOSTS = [
    ("exit 3", "npu-smi ended with exit code 3"),  # a broken tool
    ("kill -9 $$", "npu-smi ended with signal 9"),  # one that somebody killed
    ("echo no table", "no table was printed"),  # an unknown answer is not an idle host
    ("cat <<'E'\n" + SMI[:-40] + "\nE", "the table is cut off"),
]


@pytest.mark.parametrize(("script", "text"), HOSTS)
def test_an_answer_that_is_not_understood_is_unknown_and_blocks(
    kit: Kit, tmp_path: Path, script: str, text: str
) -> None:
    up = upgrade(kit, policy(BASIC), up_to=BEFORE_BASIC)
    env = npu_host(tmp_path)
    (tmp_path / "npu-smi").write_text(f"#!/bin/sh\n{script}\n")
    done = gate(up, "basic", "--dry-run", env=env)
    assert done.code == 6
    assert text in done.out


def test_a_host_with_too_few_devices_is_blocked(kit: Kit, tmp_path: Path) -> None:
    up = upgrade(kit, policy(BASIC.replace("npu = true", "npu = true\ndevices = 4")), up_to=BEFORE_BASIC)
    done = gate(up, "basic", env=npu_host(tmp_path))
    assert (done.code, "needs 4 devices and this host has 1" in done.out) == (6, True)


@pytest.mark.parametrize("accepted", [False, True])
def test_a_simulated_host_counts_only_under_a_policy_that_accepts_it(kit: Kit, tmp_path: Path, accepted: bool) -> None:
    up = upgrade(kit, policy(BASIC, simulated=accepted), up_to=BEFORE_BASIC)
    done = gate(up, "basic", "--json", env=npu_host(tmp_path, simulated=True))
    if accepted:
        assert (done.code, done.json["data"]["simulated"]) == (0, True)
        assert up.upgrade.runs[done.json["data"]["run"]].simulated
    else:
        assert done.code == 6
        assert "simulated" in done.json["data"]["blocker"]


SEEN = """import json, os, sys
seen = {k: v for k, v in os.environ.items() if 'AFD' in k or k == 'VLLM_PLUGINS'}
json.dump(seen, open(sys.argv[1], 'w'))
"""


def seen_by(kit: Kit, name: str, up_to: str, **more: str) -> dict[str, str]:
    up = upgrade(kit, policy(command(name, "look", *python(SEEN), "{out}/seen.json", **more)), up_to=up_to)
    gate(up, name, env={"AFD_MODEL": "/m", "VLLM_PLUGINS": "afd"}).ok()
    seen: dict[str, str] = json.loads(next((up.plugin.path / ".git/afd/runs").rglob("seen.json")).read_text())
    return {key: value for key, value in seen.items() if not key.startswith(("GIT_AFD", "_"))}


def test_the_plugins_own_cells_load_both_plugins_unless_the_policy_says_otherwise(kit: Kit) -> None:
    assert seen_by(kit, "basic", BEFORE_BASIC) == {"VLLM_PLUGINS": "ascend,afd", "AFD_MODEL": "/m"}


def test_the_policys_own_environment_comes_last(kit: Kit) -> None:
    own = '{VLLM_PLUGINS = "ascend,afd,more"}'
    assert seen_by(kit, "basic", BEFORE_BASIC, env=own)["VLLM_PLUGINS"] == "ascend,afd,more"


HELD = SMI.replace("3397 / 65536", "60000 / 65536")
BUSY = SMI.replace("| No running processes found in NPU 0 |", "| 0 0 | 77 | python | 60000 |")

DEVICES = [
    (SMI, SMI, 1, []),
    (SMI, HELD, 1, ["devices-held"]),  # memory above the baseline
    (SMI, BUSY, 1, ["devices-held"]),  # a process that was not there
    (HELD, HELD, 1, []),  # idle memory is not zero: the baseline counts
    (SMI, "", 1, ["host-unknown"]),  # unknown is not released
    (SMI, SMI, 2, ["host-small"]),
]


@pytest.mark.parametrize(("before", "after", "devices", "codes"), DEVICES)
def test_devices_are_judged_against_the_baseline(before: str, after: str, devices: int, codes: list[str]) -> None:
    files = {BEFORE: before.encode(), AFTER: after.encode()}
    rule = Gate(npu=True, devices=devices)
    found = (*judge_before(rule, (), files), *judge_cleanup(rule, (), (), files))
    assert [finding.code for finding in found] == codes


def test_what_the_devices_hold_after_a_run_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", npu_host(tmp_path)["PATH"])
    facts = host_facts("python", cwd=tmp_path, env=dict(os.environ))
    (tmp_path / "table").write_text(HELD)
    monkeypatch.setattr(host, "_POLL_S", 0.01)
    rules = read_policy(policy(BASIC), "test").policy
    kept = texts_after(Gate(npu=True), rules, facts, tmp_path, budget_s=0)
    assert (kept[BEFORE], kept[AFTER]) == (SMI.encode(), HELD.encode())
    assert {BEFORE_FACTS, AFTER_FACTS} <= kept.keys()
    (tmp_path / "n").write_text("0")
    slow = "n=$(($(cat n) + 1)); echo $n >n; [ $n -gt 3 ] || exec cat table"
    (tmp_path / "npu-smi").write_text(f"#!/bin/sh\ncd {tmp_path}\n{slow}\ncat <<'E'\n{SMI}E\n")
    told: list[str] = []
    kept = texts_after(Gate(npu=True), rules, facts, tmp_path, budget_s=30, tell=told.append)
    assert [("waiting up to" in line, "NPU 0 chip 0: 60000 MB in use" in line) for line in told] == [(True, True)]
    assert (kept[AFTER], (tmp_path / "n").read_text()) == (SMI.encode(), "4\n")  # it waited for a slow teardown
