"""`git afd gate native` from the order to the recorded verdict, with a server that stands in for vLLM."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bench import gate, judge_run, npu_host, policy, shown, upgrade
from kit import Kit
from kit_native import ASKED
from kit_upgrade import ASCEND, VLLM, FrozenUpgrade
from native_bench import alive, cell_table, native_policy

from git_afd.core.evidence.served import names_of
from git_afd.core.native_cell import EXAMPLE, CellFault, read_cells

PHASE = "TARGET_NATIVE_NPU_CONTROL"
BEFORE_NATIVE = "STATIC_AND_UNIT_GATE"


def importable(tags: Mapping[str, Mapping[str, str]], module: str) -> Mapping[str, Mapping[str, str]]:
    """Return an upstream whose package is a package: the stand-in's interpreter finds it by PYTHONPATH."""
    return {tag: {**files, f"{module}/__init__.py": ""} for tag, files in tags.items()}


UPSTREAMS = (importable(VLLM, "vllm"), importable(ASCEND, "vllm_ascend"))


def cell(name: str, *tricks: str, **changed: Any) -> dict[str, Any]:
    env = {"VLLM_LOGGING_LEVEL": "DEBUG", "PYTHONPATH": "{vllm}:{vllm-ascend}"}
    table = cell_table(name, *tricks, env=env, **changed)
    return {**table, "run": [word for word in table["run"] if word != "-E"]}  # it must see PYTHONPATH


GRAPH = {**ASKED, "mode": "enforce_eager=False cudagraph=FULL_DECODE_ONLY"}
LONG = {"stop-timeout-s": 91}
HOST = "[gates.native]\nnpu = true\n"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[FrozenUpgrade, dict[str, Any], str, dict[str, str]]:
    """One run of two cells: the asked one, and one that asks for graph mode, falls back, and is not required."""
    kit, tools = Kit(tmp_path_factory.mktemp("native")), tmp_path_factory.mktemp("tools")
    asked, other = cell("eager", **LONG), cell("graph", required=False, asked=GRAPH, **LONG)
    text = native_policy(asked, other, simulated=True, npu=True)
    up, host = upgrade(kit, text, up_to=BEFORE_NATIVE, upstreams=UPSTREAMS), npu_host(tools, simulated=True)
    done = gate(
        up, "native", env={**host, "AFD_MODEL": "/m", "VLLM_PLUGINS": "afd", "http_proxy": "http://127.0.0.1:9"}
    )
    done.ok()
    shim = tools / "python-shim"  # a script in front of the interpreter, as pyenv and conda put on PATH
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    shim.chmod(0o755)
    again = gate(up, "native", "--json", "--diagnostic", "--only", "eager", "--python", str(shim), env=host).ok()
    return up, again.json["data"], done.out, host


def test_one_real_request_is_served_recorded_and_shown(ran: tuple[FrozenUpgrade, Any, str, Any]) -> None:
    up, _, out, _ = ran
    row = shown(up, PHASE)
    run = up.upgrade.runs["R-1"]
    assert (row["status"], run.status, run.simulated) == ("PASS", "PASS", True)
    assert {*names_of("eager"), *names_of("graph"), "log/eager.log.gz"} <= set(run.artifacts)
    request = json.loads(up.session.artifacts.get(run.artifacts["native/eager.request.json"]) or b"")
    assert (request["model"], request["max_tokens"], request["stream"]) == ("native", 16, False)
    assert json.loads(up.session.artifacts.get(run.artifacts["native/eager.response"]) or b"")["model"] == "native"
    for text in ("mode: enforce_eager=True cudagraph=NONE asked, the same shown", "ready after", "'three two one'"):
        assert text in out
    assert "runtime" in out
    assert "vllm proven, vllm-ascend proven" in out


def test_a_fallback_is_another_cell_and_decides_nothing_for_the_asked_one(
    ran: tuple[FrozenUpgrade, Any, str, Any],
) -> None:
    up, _, out, _ = ran
    verdict = judge_run(up.session, up.upgrade, up.upgrade.runs["R-1"])
    assert [(one.name, one.status) for one in verdict.commands] == [("eager", "PASS"), ("graph", "FAIL")]
    assert {(one.code, one.severity) for one in verdict.findings if one.place == "graph"} == {
        ("silent-fallback", "note")
    }
    assert "graph (not required)" in out
    told = up.plugin.afd("log --run R-1").ok().out
    assert "cell graph" in told
    assert "enforce_eager=False cudagraph=FULL_DECODE_ONLY" in told


def test_a_server_sees_neither_the_plugins_variables_nor_our_own_choice_of_plugins(
    ran: tuple[FrozenUpgrade, Any, str, Any],
) -> None:
    served = ran[1]["commands"][0]["cell"]
    assert served["environment"]["VLLM_PLUGINS"] == "ascend"
    assert not [name for name in served["environment"] if name.startswith("AFD_")]
    assert served["plugins"] == ["ascend"]


def test_an_interpreter_behind_a_shim_is_the_one_that_the_shim_starts(ran: tuple[FrozenUpgrade, Any, str, Any]) -> None:
    assert [(one["name"], one["status"]) for one in ran[1]["commands"]] == [("eager", "PASS")]


def test_raw_files_that_are_gone_or_changed_are_not_passed_by(ran: tuple[FrozenUpgrade, Any, str, Any]) -> None:
    up = ran[0]
    run = up.upgrade.runs["R-1"]
    path = up.session.artifacts.path(run.artifacts["native/eager.response"])
    data = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(data.replace(b"three", b"seven"))
    try:
        up.plugin(["git", "update-ref", "refs/test/kept", "refs/afd/artifacts"])
        up.plugin(["git", "update-ref", "-d", "refs/afd/artifacts"])
        assert judge_run(up.session, up.upgrade, run).status == "BLOCKED"
        assert shown(up, PHASE)["status"] != "PASS"
    finally:
        up.plugin(["git", "update-ref", "refs/afd/artifacts", "refs/test/kept"])
        path.write_bytes(data)
    assert judge_run(up.session, up.upgrade, run).status == "PASS"


def test_a_bundle_is_judged_again_from_its_raw_files(
    ran: tuple[FrozenUpgrade, Any, str, dict[str, str]], tmp_path: Path
) -> None:
    up, _, _, host = ran
    file = tmp_path / "native.bundle"
    gate(up, "native", "--bundle", str(file), env=host).ok()
    done = gate(up, "native", "--from", str(file), "--json").ok()
    assert (done.json["data"]["status"], done.json["data"]["origin"]) == ("PASS", "imported")
    assert done.json["data"]["commands"][0]["cell"]["text"] == "three two one"


def test_without_a_server_in_the_policy_it_is_blocked_and_an_example_is_shown(kit: Kit) -> None:
    up = upgrade(kit, policy(HOST), up_to=BEFORE_NATIVE)
    done = gate(up, "native")
    assert done.code == 6
    assert "the policy names no server for gate native" in done.out
    assert EXAMPLE in done.out
    assert "[[gates.native.cell]] to afd.toml before the next freeze" in done.out


def test_a_failed_control_opens_a_failure_with_its_root_and_is_run_again_alone(kit: Kit) -> None:
    text = native_policy(cell("eager", "die-early"), cell("other", required=False))
    up = upgrade(kit, text, up_to=BEFORE_NATIVE, upstreams=UPSTREAMS)
    done = gate(up, "native", "--json")
    assert (done.code, done.json["data"]["status"]) == (1, "FAIL")
    assert "eager: it ended with exit code 1 before it was ready" in done.json["data"]["blocker"]
    failure = up.upgrade.failures["F-1"]
    assert failure.commands == ("eager",)
    assert "RuntimeError: no device" in up.plugin.afd("failure show F-1").ok().out
    again = gate(up, "native", "--only", "other", "--dry-run", "--json").json["data"]["would_run"]
    assert [one["name"] for one in again] == ["other"]


def started(up: FrozenUpgrade, mark: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start the gate and wait until its server runs; return both pids' owners."""
    argv = ["git-afd", "gate", "native", "--python", sys.executable]
    process = subprocess.Popen(argv, cwd=up.plugin.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: mark.exists() and bool(mark.read_text()))
    return process, int(mark.read_text())


def until(done: Any) -> None:
    end = time.monotonic() + 30
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_the_gate_the_server_does_not_outlive_it(kit: Kit, tmp_path: Path, number: int) -> None:
    mark = tmp_path / "mark"
    up = upgrade(kit, native_policy(cell("eager", "never-ready", f"mark={mark}")), up_to=BEFORE_NATIVE)
    process, server = started(up, mark)
    process.send_signal(number)
    process.communicate(timeout=30)
    until(lambda: not alive(server))
    run = up.upgrade.runs["R-1"]
    if number == signal.SIGINT:
        assert (process.returncode, run.status) == (130, "INTERRUPTED")
        assert "native/eager.json" in run.artifacts
    else:
        assert run.status == "started"
    assert shown(up, PHASE)["status"] == "not run"


def table(**changed: Any) -> dict[str, Any]:
    usual = {"name": "a", "run": ["{python}", "{port}"], "request": {"model": "m"}, "asked": ASKED}
    return {key: value for key, value in {**usual, **changed}.items() if value is not None}


# the gate's table, the key that is named, what is said of it
FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"cell": [table(nam="b")]}, "cell[0].nam", "is not known here"),
    ({"cell": [table(name="a b")]}, "cell[0].name", "letters"),
    ({"cell": [table(), table()]}, "cell[1].name", "twice"),
    ({"cell": [table(run=[])]}, "cell[0].run", "list of arguments"),
    ({"cell": [table(run=["{prot}"])]}, "cell[0].run", "no placeholder"),
    ({"cell": [table(run=["x", "--afd-config={}"])]}, "cell[0].run", "without it"),
    ({"cell": [table(run=["x", "--additional-config", '{"afd": {"role": "ffn"}}'])]}, "cell[0].run", "configures AFD"),
    ({"cell": [table(env={"VLLM_PLUGINS": "ascend,afd"})]}, "cell[0].env", "loads afd"),
    ({"cell": [table(env={"AFD_X": "1"})]}, "cell[0].env", "configures AFD"),
    ({"cell": [table(request=None)]}, "cell[0].request.model", "a text was expected"),
    ({"cell": [table(request={"model": "m", "endpoint": "/v2"})]}, "cell[0].request.endpoint", "one of"),
    ({"cell": [table(request={"model": "m", "expect": "("})]}, "cell[0].request.expect", "no regular expression"),
    ({"cell": [table(ready={"path": "health"})]}, "cell[0].ready.path", "starts with /"),
    ({"cell": [table(ready={"timeout-s": "9"})]}, "cell[0].ready.timeout-s", "whole number"),
    ({"cell": [table(port=70000)]}, "cell[0].port", "up to 65535"),
    ({"cell": [table(host="a b")]}, "cell[0].host", "host name"),
    ({"cell": [table(asked={**ASKED, "mode": ""})]}, "cell[0].asked.mode", "what is asked"),  # none can be left open
    ({"cell": [table(asked={**ASKED, "speed": "1"})]}, "cell[0].asked.speed", "is not known here"),
    ({"npu": True, "cell": [table(**{"stop-timeout-s": 90})]}, "cell[0].stop-timeout-s", "over 90"),
    ({"cell": [table(required=False)]}, "cell[0].required", "at least one cell"),
    ({"log": {"loaded": "Loading"}}, "log.loaded", "a group was expected"),
    ({"log": {"fallbacks": ["("]}}, "log.fallbacks[0]", "no regular expression"),
    ({"log": {"shows": {"model": "x"}}}, "log.shows.model", "a group was expected"),
    ({"log": {"shows": {"weather": "(x)"}}}, "log.shows.weather", "is not known here"),
]


@pytest.mark.parametrize(("body", "key", "text"), FAULTS)
def test_a_cell_that_asks_for_nothing_or_for_the_plugin_is_refused_by_key(
    body: dict[str, Any], key: str, text: str
) -> None:
    with pytest.raises(CellFault) as fault:
        read_cells(body)
    assert fault.value.key == key
    assert text in str(fault.value)


# arguments that look like AFD's and are not
@pytest.mark.parametrize("word", ["/models/afd/m", "/data/x-afd/y", "--served-model-name=native-afd"])
def test_a_name_that_only_sounds_like_it_is_fine(word: str) -> None:
    assert read_cells({"cell": [table(run=["x", word])]})[0][0].command.run == ("x", word)
