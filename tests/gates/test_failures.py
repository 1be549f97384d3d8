"""A failed gate opens a failure: kept with its root, classified before the gate counts again, closed by a pass."""

from __future__ import annotations

import pytest
from bench import UNIT, command, gate, policy, upgrade
from kit import Kit
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade

SUITE = policy(command("static", "unit", *UNIT, junit="'unit.xml'"))
BROKEN = """def read():
    raise KeyError("dbo")
def test_step():
    try:
        read()
    except KeyError as cause:
        raise RuntimeError("the engine died") from cause
"""
FIX = ["root-cause", "add", "--title", "mend", "--kind", "failure-fix", "--invariant", "i", "--untested", "w"]


def failed(kit: Kit) -> FrozenUpgrade:
    """An upgrade whose static gate has failed once."""
    up = upgrade(kit, SUITE, files={TEST: BROKEN})
    done = gate(up, "static", "--json")
    assert done.code == 1
    assert done.json["next"] == "git afd failure classify F-1 CLASS --why WHY"
    return up


def classified(up: FrozenUpgrade, class_: str) -> None:
    up.plugin.afd(["failure", "classify", "F-1", class_, "--why", "seen in the log"]).ok()


def test_a_failure_is_classified_before_its_gate_counts_again_and_closed_by_a_pass(kit: Kit) -> None:
    up = failed(kit)
    one = up.plugin.afd("failure list --json").ok().json["data"]["failures"][0]
    assert (one["failure"], one["run"], one["gate"], one["class"]) == ("F-1", "R-1", "static", "")
    assert one["failing"] == [f"{TEST}::test_step"]
    assert "pytest -q tests" in one["command"]
    assert "KeyError" in one["traceback"]
    assert "the engine died" not in one["traceback"]  # what came after it
    assert one["cleanup"] == "nothing was left behind"
    assert "F-1 open: gate static failed in run R-1, not classified" in up.plugin.afd("status").ok().out
    refused = gate(up, "static")
    assert refused.code == 3
    assert "F-1 of gate static (run R-1) is not classified" in refused.err
    assert gate(up, "static", "--diagnostic").code == 1  # looking is free, and opens nothing
    unnamed = up.plugin.afd([*FIX, "--file", PRODUCTION])
    assert (unnamed.code, "names the failure it fixes" in unnamed.err) == (3, True)
    early = up.plugin.afd([*FIX, "--file", PRODUCTION, "--failure", "F-1"])
    assert (early.code, "F-1 is not classified" in early.err) == (3, True)
    classified(up, "afd")
    assert up.plugin.afd([*FIX, "--file", PRODUCTION, "--failure", "F-2"]).code == 3  # there is none
    planned = up.plugin.afd([*FIX, "--file", PRODUCTION, "--failure", "F-1", "--json"]).ok()
    withdrawn = ["failure", "classify", "F-1", "environment", "--why", "w"]
    assert up.plugin.afd(withdrawn).code == 3  # a root cause claims it
    name = planned.json["data"]["root_cause"]
    up.plugin.afd(["root-cause", "withdraw", name, "--why", "the test is wrong"]).ok()
    up.plugin.commit("mend", {TEST: "def test_step():\n    assert True\n"})
    gate(up, "static").ok()
    assert up.upgrade.failures["F-1"].closed_by == "R-3"
    assert not up.upgrade.open_failures
    assert not up.session.ledger.read().state.findings


def test_a_failure_of_the_environment_is_nobodys_to_fix_and_closed_only_by_the_same_content(kit: Kit) -> None:
    up = failed(kit)
    classified(up, "environment")
    claimed = up.plugin.afd([*FIX, "--file", PRODUCTION, "--failure", "F-1"])
    assert claimed.code == 3
    assert "no change of the plugin may claim it" in claimed.err
    up.plugin.commit("mend", {TEST: "def test_step():\n    assert True\n"})
    gate(up, "static").ok()
    assert [one.name for one in up.upgrade.open_failures] == ["F-1"]  # other content passed


@pytest.mark.parametrize(
    "words",
    [
        ["failure", "classify", "F-9", "afd", "--why", "w"],  # no such failure
        ["failure", "classify", "F-1", "bad-luck", "--why", "w"],  # no such class
        ["failure", "classify", "F-1", "afd", "--why", " "],  # no reason
    ],
)
def test_a_classification_names_an_open_failure_a_class_and_a_reason(kit: Kit, words: list[str]) -> None:
    up = upgrade(kit, SUITE)
    assert up.plugin.afd(words).code in (2, 3)
    assert not up.upgrade.failures
