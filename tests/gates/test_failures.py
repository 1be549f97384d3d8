"""A failed gate opens a failure: kept with its root, classified before the gate counts again, closed by a pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import UNIT, command, gate, policy, shown, upgrade
from kit import Done, Kit, call
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
FIX = ["root-cause", "add", "--title", "mend", "--kind", "failure-fix", "--invariant", "i", "--file", PRODUCTION]
MEND = "def test_step():\n    assert True\n"


def afd(up: FrozenUpgrade, *words: str) -> Done:
    return call([*words], up.plugin.path)


def following(up: FrozenUpgrade) -> str:
    """What `git afd next` says."""
    said: str = afd(up, "next", "--json").ok().json["next"]
    return said


def failed(kit: Kit, files: dict[str, str | bytes] | None = None) -> FrozenUpgrade:
    """An upgrade whose static gate has failed once."""
    up = upgrade(kit, SUITE, files=files or {TEST: BROKEN})
    done = gate(up, "static", "--json")
    assert done.code == 1
    assert done.json["next"] == "git afd failure classify F-1 CLASS --why WHY"
    return up


def classified(up: FrozenUpgrade, class_: str, *more: str) -> Done:
    return afd(up, "failure", "classify", "F-1", class_, "--why", "seen in the log", *more).ok()


def test_a_failure_is_classified_before_its_gate_counts_again_and_closed_by_a_pass(kit: Kit) -> None:
    up = failed(kit)
    one = afd(up, "failure", "list", "--json").ok().json["data"]["failures"][0]
    assert (one["failure"], one["run"], one["gate"], one["class"]) == ("F-1", "R-1", "static", "")
    assert (one["commands"], one["failing"]) == (["unit"], [f"{TEST}::test_step"])
    assert "pytest -q tests" in one["command"]
    assert "KeyError" in one["traceback"]
    assert "the engine died" not in one["traceback"]  # what came after it
    assert one["cleanup"] == "nothing was left behind"
    assert set(one["runtime"]) == {"plugin", "vllm", "vllm-ascend", "python"}
    assert one["resources"]["memory_available_mb"] > 0
    whole = afd(up, "failure", "show", "F-1").ok().out
    assert f"-p no:cacheprovider {TEST}::test_step" in whole  # by hand, ready to copy
    assert "--junitxml" not in whole.partition("by hand:")[2].partition("\n")[0]
    assert "again: git afd gate static --failure F-1" in whole
    assert (afd(up, "failure", "show", "F-2").code, "| " in whole) == (3, True)
    assert "F-1 open: gate static failed in run R-1, not classified" in afd(up, "status").ok().out
    refused = gate(up, "static")
    assert (refused.code, "F-1 of gate static (run R-1) is not classified" in refused.err) == (3, True)
    assert gate(up, "static", "--diagnostic").code == 1  # looking is free, and opens nothing
    unnamed = afd(up, *FIX, "--test", TEST)
    assert (unnamed.code, "names the failure it fixes" in unnamed.err) == (3, True)
    early = afd(up, *FIX, "--test", TEST, "--failure", "F-1")
    assert (early.code, "F-1 is not classified" in early.err) == (3, True)
    classified(up, "afd")
    assert afd(up, *FIX, "--test", TEST, "--failure", "F-2").code == 3  # there is none
    bare = afd(up, *FIX, "--untested", "w", "--failure", "F-1")
    assert (bare.code, "plans no regression test" in bare.err) == (3, True)
    planned = afd(up, *FIX, "--test", TEST, "--failure", "F-1", "--json").ok()
    withdrawn = ("failure", "classify", "F-1", "environment", "--why", "w")
    assert afd(up, *withdrawn).code == 3  # a root cause claims it
    name = planned.json["data"]["root_cause"]
    afd(up, "root-cause", "withdraw", name, "--why", "the test is wrong").ok()
    repeated = gate(up, "static")
    assert (repeated.code, "failed on exactly this content" in repeated.err) == (3, True)
    up.plugin.commit("mend", {TEST: MEND})
    gate(up, "static").ok()
    assert up.upgrade.failures["F-1"].closed_by == "R-3"
    assert not up.upgrade.open_failures
    assert not up.session.ledger.read().state.findings


def test_a_failure_of_the_environment_is_nobodys_to_fix_and_closed_by_a_pass_on_the_same_content(
    kit: Kit, tmp_path: Path
) -> None:
    part = tmp_path / "libhccl.so"
    up = failed(kit, {TEST: f"import pathlib\ndef test_step():\n    assert pathlib.Path('{part}').exists()\n"})
    classified(up, "environment")
    claimed = afd(up, *FIX, "--test", TEST, "--failure", "F-1")
    assert (claimed.code, "no change of the plugin may claim it" in claimed.err) == (3, True)
    plan = [
        "root-cause",
        "add",
        "--title",
        "docs of F-1",
        "--kind",
        "adaptation",
        "--invariant",
        "i",
        "--untested",
        "w",
    ]
    plan += ["--upstream", "vllm: vllm/engine.py::Engine.step: new", "--removal", "never", "--file", PRODUCTION]
    name = afd(up, *plan, "--json").ok().json["data"]["root_cause"]
    before = up.plugin.path.joinpath(PRODUCTION).read_text()
    up.plugin.write(PRODUCTION, "def step(self, batch, *, dbo=False):\n    return batch\n")
    named = afd(up, "commit", "--root-cause", name)
    assert (named.code, "F-1 was classified as environment" in named.err) == (3, True)  # by its message
    afd(up, "root-cause", "withdraw", name, "--why", "nothing to do").ok()
    up.plugin.write(PRODUCTION, before)
    part.touch()  # somebody mends the host
    gate(up, "static").ok()
    assert up.upgrade.failures["F-1"].closed_by == "R-2"
    assert following(up) == "git afd gate native"


E2E = "tests/e2e/test_serve.py"
OTHER = "tests/e2e/test_other.py"
SERVES = "from afd_plugin.patch import step\ndef test_serve():\n    assert step(None, 3) == 3\n"
WRONG, RIGHT = "def step(self, batch):\n    return 0\n", "def step(self, batch):\n    return batch\n"
BASIC = policy(
    command(
        *("basic", "models", "{python}", "-m", "pytest", "-q", "tests/e2e"),
        *("--junitxml={out}/e2e.xml", "-p", "no:cacheprovider"),
        junit="'e2e.xml'",
    )
)


def test_a_fix_goes_from_its_regression_test_through_the_narrow_runs_to_the_complete_gate(kit: Kit) -> None:
    files: dict[str, str | bytes] = {PRODUCTION: WRONG, E2E: SERVES, OTHER: "def test_other():\n    assert True\n"}
    up = upgrade(kit, BASIC, up_to="TARGET_NATIVE_NPU_CONTROL", files=files)
    assert gate(up, "basic").code == 1
    assert up.upgrade.failures["F-1"].failing == (f"{E2E}::test_serve",)
    add = "git afd root-cause add --kind failure-fix --failure F-1"
    assert classified(up, "afd", "--json").json["next"] == add
    narrow = gate(up, "basic", "--failure", "F-1", "--json")  # it can be seen again before anything is mended
    assert (narrow.code, narrow.json["data"]["counts"]["expected"]) == (1, 1)
    name = afd(up, *FIX, "--test", TEST, "--failure", "F-1", "--json").ok().json["data"]["root_cause"]
    assert following(up) == f"git afd commit --root-cause {name}"
    up.plugin.write(PRODUCTION, RIGHT)
    bare = afd(up, "commit", "--root-cause", name)
    assert (bare.code, "its regression test has not changed" in bare.err) == (3, True)
    up.plugin.write(TEST, "from afd_plugin.patch import step\ndef test_step():\n    assert step(None, 1) == 1\n")
    done = afd(up, "commit", "--root-cause", name, "--json").ok()
    assert done.json["next"] == "git afd gate basic --failure F-1"
    assert [shown(up, phase)["status"] for phase in ("STATIC_AND_UNIT_GATE", "NPU_BASIC_E2E_GATE")] == ["stale", "FAIL"]
    carried = str(up.plugin.path.parent / "narrow.afd")  # the devices may be elsewhere
    gate(up, "basic", "--failure", "F-1", "--bundle", carried).ok()
    other = gate(up, "basic", "--only", "models", "--from", carried)
    assert (other.code, "another run than of models alone" in other.err) == (3, True)
    again = gate(up, "basic", "--failure", "F-1", "--from", carried, "--json").ok()
    assert (again.json["data"]["diagnostic"], again.json["next"]) == (True, "git afd gate basic --only models")
    whole = gate(up, "basic", "--only", "models", "--json").ok()
    assert whole.json["next"] == "git afd gate static"
    up.pass_up_to("TARGET_NATIVE_NPU_CONTROL")
    assert following(up) == "git afd gate basic"
    assert gate(up, "basic", "--json").ok().json["next"] == "git afd gate accuracy"
    assert up.upgrade.failures["F-1"].closed_by
    assert not up.session.ledger.read().state.findings


@pytest.mark.parametrize(
    "words",
    [
        ["failure", "classify", "F-9", "afd", "--why", "w"],  # no such failure
        ["failure", "classify", "F-1", "bad-luck", "--why", "w"],  # no such class
        ["failure", "classify", "F-1", "afd", "--why", " "],  # no reason
        ["gate", "static", "--failure", "F-1"],  # nothing to reproduce
        ["gate", "static", "--failure", "F-1", "--only", "unit"],  # one or the other
    ],
)
def test_a_command_about_a_failure_names_an_open_one_and_says_what(kit: Kit, words: list[str]) -> None:
    up = upgrade(kit, SUITE)
    assert afd(up, *words, "-q").code in (2, 3)
    assert not up.upgrade.failures
