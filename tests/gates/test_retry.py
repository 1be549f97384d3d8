"""A retry after a failure changes one knob, or the code: else nobody knows what answered it (workflow, Phase 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench import command, gate, policy, python, shown, upgrade
from kit import Kit
from kit_upgrade import PRODUCTION

from git_afd.core.earlier import last_failed
from git_afd.core.evidence.raw_run import Identity, RawRun
from git_afd.core.evidence.retry import judge_retry
from git_afd.core.outcome import Json
from git_afd.core.state import Run, Upgrade

WHO = Identity("U-1", "a" * 40, "b" * 40, "then", "w", "four", "p")
OTHER = replace(WHO, content="now")


def host(torch: str = "2.10.0", plugin: str = "aaa", cann: str = "9.0.1") -> dict[str, Json]:
    own = {"version": "0.1", "source_commit": plugin, "location": "/plugin/afd_plugin/__init__.py"}
    packages = {"torch": {"version": torch, "location": "/env/torch/__init__.py"}, "vllm": "absent", "afd-plugin": own}
    return {"python": {"packages": packages}, "cann": {"version": cann}, "npu": {"driver": "25.5.2"}}


FAILED = RawRun("basic", WHO, "/env/bin/python", "/plugin", (), host=host(), environment={"AFD_A": "1"})

# the retry, and the things it changes when they are too many
RETRIES = [
    (FAILED, ""),  # the same again
    (replace(FAILED, identity=OTHER), ""),  # a fix of the code
    (replace(FAILED, identity=OTHER, host=host(plugin="bbb")), ""),  # which an editable install shows, too
    (replace(FAILED, environment={"AFD_A": "2"}), ""),  # one knob
    (replace(FAILED, environment={}), ""),
    (replace(FAILED, environment={"AFD_A": "2", "AFD_B": "1"}), "variable AFD_A, variable AFD_B:"),
    (replace(FAILED, environment={"AFD_B": "1"}), "variable AFD_A, variable AFD_B:"),  # one taken, one given
    (replace(FAILED, environment={"AFD_A": "2"}, identity=OTHER), "variable AFD_A and the code:"),
    (replace(FAILED, python="/other/bin/python"), ""),
    (replace(FAILED, python="/other/bin/python", host=host(torch="2.11.0")), ""),  # whose packages are its own
    (replace(FAILED, python="/o/python", environment={"AFD_A": "1", "VIRTUAL_ENV": "/o"}), ""),  # says the same twice
    (replace(FAILED, host=host(torch="2.11.0")), ""),
    (replace(FAILED, host=host(torch="2.11.0"), identity=OTHER), "the runtime's packages and the code:"),
    (replace(FAILED, host=host(torch="2.11.0", cann="9.1.0")), "CANN, the runtime's packages:"),
    (replace(FAILED, root="/elsewhere", trees={"vllm": "/v"}), ""),  # another place of the same code
]


@pytest.mark.parametrize(("retry", "says"), RETRIES)
def test_a_retry_changes_one_thing(retry: RawRun, says: str) -> None:
    found = list(judge_retry("R-1", FAILED, retry))
    assert len(found) == bool(says)
    assert all(f"against the failed run R-1 this one changes {says}" in one.message for one in found)


def ran(name: str, status: str, **more: object) -> Run:
    return Run(f"r-{name}", name, "basic", status, "c", **more)  # type: ignore[arg-type]  # the table's own columns


FAIL, PASS, AGAIN = ran("R-1", "FAIL"), ran("R-2", "PASS"), ran("R-3", "FAIL")
ELSEWHERE = ran("R-4", "FAIL", diagnostic=True)

# the runs before, and which of them a retry is compared with
BEFORE = [
    ([], None),
    ([FAIL], "R-1"),
    ([FAIL, PASS], None),  # it was answered
    ([FAIL, PASS, AGAIN], "R-3"),
    ([FAIL, ran("R-2", "BLOCKED"), ran("R-3", "INTERRUPTED")], "R-1"),  # they decided nothing
    ([FAIL, ELSEWHERE], "R-4"),  # reproduced in another environment
    ([FAIL, ran("R-2", "PASS", diagnostic=True)], "R-1"),  # a diagnostic answers nothing
    ([ELSEWHERE], None),  # nor does it begin anything
    ([FAIL, ran("R-2", "FAIL", diagnostic=True, only="models")], "R-1"),  # one command is not the gate
    ([FAIL, ran("R-2", "FAIL", diagnostic=True, cell="native")], "R-1"),
]


@pytest.mark.parametrize(("runs", "name"), BEFORE)
def test_a_retry_is_compared_with_the_last_run_that_failed_whole(runs: list[Run], name: str | None) -> None:
    up = Upgrade("U-1", freeze=None, runs={run.name: run for run in runs})  # type: ignore[arg-type]  # not looked at
    found = last_failed(up, "basic", "R-9")
    assert (found.name if found else None) == name


CODE = "import os, sys; sys.exit(os.environ.get('AFD_ROLE') != 'attention')"


def test_two_knobs_at_once_are_refused_and_one_may_pass(kit: Kit) -> None:
    up = upgrade(kit, policy(command("static", "check", *python(CODE))))
    assert gate(up, "static").code == 1
    up.plugin.afd(["failure", "classify", "F-1", "environment", "--why", "the role was not set"]).ok()
    both = {"AFD_ROLE": "attention", "AFD_RANK": "0"}
    done = gate(up, "static", env=both)
    assert done.code == 3
    assert "against the failed run R-1 this one changes variable AFD_RANK, variable AFD_ROLE" in done.err
    assert gate(up, "static", "--diagnostic", env=both).code == 0  # kept, and decides nothing
    assert shown(up, "STATIC_AND_UNIT_GATE")["status"] == "FAIL"
    up.plugin.commit("and the code", {PRODUCTION: "def step(self, batch):\n    return [batch]\n"})
    done = gate(up, "static", env={"AFD_ROLE": "attention"})
    assert (done.code, "variable AFD_ROLE and the code" in done.err) == (3, True)
    up.plugin("git revert --no-edit HEAD")
    gate(up, "static", env={"AFD_ROLE": "attention"}).ok()
