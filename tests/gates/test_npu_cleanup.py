"""Cleanup has a verdict of its own: what a run left behind is named, and what was there before it is not its leak."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import command, gate, policy, python, shown, upgrade
from kit import Kit
from kit_upgrade import SMI

from git_afd.core.command import Command
from git_afd.core.evidence.host_snapshot import (
    AFTER_FACTS,
    BEFORE_FACTS,
    Port,
    Seen,
    Snapshot,
    parse_snapshot,
)
from git_afd.core.evidence.host_verdict import AFTER, BEFORE, cleanup_status, judge_before, judge_cleanup
from git_afd.core.evidence.npu_map import MAP
from git_afd.core.evidence.npu_smi import Unknown
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.evidence.secrets import shown_command, without_secrets
from git_afd.core.policy import Gate

NPU, PLAIN = Gate(npu=True), Gate()
OLD, OURS = Seen(7, 100.0, "sshd -D"), Seen(9, 2000.0, "vllm serve /m")
"""The run began at 1000 and is over at 3000."""


def at(time: float, *ports: Port) -> bytes:
    return Snapshot(time, ports).as_bytes()


def one(state: str, by: Seen | None = None) -> Port:
    return Port(8000, state, by)


# gate, port 8000 before, after, verdict, words of the finding
PORTS = [
    (NPU, one("free"), one("free"), "PASS", ""),
    (NPU, one("free"), one("listening", OURS), "FAIL", "port 8000 is held by process 9 (1000 s old): vllm serve /m"),
    (
        NPU,
        one("listening", OLD),
        one("listening", OLD),
        "PASS",
        "before the run port 8000 was held by process 7 (900 s old)",
    ),
    (NPU, one("free"), one("listening", OLD), "PASS", "older than this run"),  # opened late by somebody old
    (NPU, one("listening", OLD), one("listening", OURS), "FAIL", "process 9"),  # taken over
    (NPU, one("free"), one("listening"), "FAIL", "a process that this host does not name"),
    (NPU, one("listening"), one("listening"), "PASS", "a process that this host does not name"),  # another user's
    (NPU, one("listening", OLD), one("free"), "PASS", ""),  # it went away: nobody's leak
    (NPU, one("free"), one("unknown"), "BLOCKED", "nobody could tell who listened on port 8000"),
    (NPU, Port(1, "free"), one("free"), "BLOCKED", "nobody could tell"),  # nobody looked at that port
    (PLAIN, one("free"), one("unknown"), "PASS", "nobody could tell"),  # no device is at stake: said, not decided
    (PLAIN, one("free"), one("listening", OURS), "FAIL", "after the run port 8000"),
]


@pytest.mark.parametrize(("rule", "before", "after", "status", "said"), PORTS)
def test_a_port_must_be_as_the_run_found_it(rule: Gate, before: Port, after: Port, status: str, said: str) -> None:
    smi = {BEFORE: SMI.encode(), AFTER: SMI.encode()}
    files = {**smi, BEFORE_FACTS: at(1000, before), AFTER_FACTS: at(3000, after)}
    found = tuple(judge_cleanup(rule, (8000,), (), files))
    assert cleanup_status(found) == status
    named = (*judge_before(rule, (8000,), files), *found)
    assert said in " ".join(finding.message for finding in named)


# bytes of the snapshot after the run, and why nothing is known
DAMAGED = [
    (None, "it was not kept"),
    (b"", "Expecting value"),
    (b"[]", "git-afd/host/1 was expected"),
    (at(1.0).replace(b'"at":1.0', b'"at":"now"'), "at: seconds"),
    (at(1.0, one("free")).replace(b"free", b"idle"), "state: one of"),
    (at(1.0, one("listening", OLD)).replace(b'"pid":7', b'"pid":"7"'), "pid: a whole number"),
]


@pytest.mark.parametrize(("data", "why"), DAMAGED)
def test_a_snapshot_that_cannot_be_read_whole_is_unknown_and_blocks(data: bytes | None, why: str) -> None:
    answer = parse_snapshot(data)
    assert isinstance(answer, Unknown)
    assert why in answer.reason
    files = {BEFORE: SMI.encode(), AFTER: SMI.encode(), BEFORE_FACTS: at(1.0, one("free"))}
    found = tuple(judge_cleanup(NPU, (8000,), (), files if data is None else {**files, AFTER_FACTS: data}))
    assert cleanup_status(found) == "BLOCKED"


BUSY = SMI.replace("| No running processes found in NPU 0 |", "| 0 0 | 9 | vllm | 60000 |")


def test_who_is_on_a_device_is_told_with_age_and_command_and_blamed_only_when_new() -> None:
    facts = Snapshot(3000.0, (), (OURS,)).as_bytes()
    after = {BEFORE: SMI.encode(), AFTER: BUSY.encode(), AFTER_FACTS: facts}
    (held,) = judge_cleanup(NPU, (), (), after)
    assert held.message == "after the run NPU 0 chip 0: process 9 (1000 s old): vllm serve /m"
    foreign = {BEFORE: BUSY.encode(), AFTER: BUSY.encode(), BEFORE_FACTS: facts}
    assert not tuple(judge_cleanup(NPU, (), (), foreign))
    (note,) = judge_before(NPU, (), foreign)
    assert (note.severity, "process 9 (1000 s old): vllm serve /m was on it already" in note.message) == ("note", True)
    elsewhere = Snapshot(3000.0, (), (Seen(9, 1.0, "bash"),)).as_bytes()  # the pid of another container
    (other,) = judge_cleanup(NPU, (), (), {**after, AFTER_FACTS: elsewhere})
    assert other.message.endswith("process 9 vllm")


SECOND = """\
| 4 910B2 | OK | 91.5 35 0 / 0 |
| 0 | 0000:C2:00.0 | 0 0 / 0 3397 / 65536 |
"""
IDLE = "| No running processes found in NPU 0 |\n"
TWO = SMI.replace("| NPU Chip |", f"{SECOND}| NPU Chip |").replace(IDLE, IDLE + IDLE.replace("0 |", "4 |"))
TAKEN = TWO.replace("C2:00.0 | 0 0 / 0 3397", "C2:00.0 | 0 0 / 0 60000").replace(
    "| No running processes found in NPU 4 |", "| 4 0 | 77 | python | 56000 |"
)
HEADER = "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
MAPPED = f"{HEADER}\t0  0  0  Ascend 910B2\n\t0  1  -  Mcu\n\t4  0  1  Ascend 910B2\n\t4  1  -  Mcu\n"
OWN = Gate((Command("e2e", ("x",), env={"ASCEND_RT_VISIBLE_DEVICES": "1"}),), npu=True)

# gate, ASCEND_RT_VISIBLE_DEVICES, what npu-smi info -m printed, whose leak it is that NPU 4 is taken
SHARED = [
    (NPU, "0", MAPPED, "PASS"),  # somebody else's job on the other chip
    (NPU, "1", MAPPED, "FAIL"),
    (NPU, " 0, 1 ", MAPPED, "FAIL"),
    (NPU, "", MAPPED, "FAIL"),  # nothing is hidden
    (NPU, "0", MAPPED.replace("Chip Name", "Chip Phy-ID Chip Name").replace("Ascend", "0 Ascend"), "PASS"),
    # what is not understood whole hides nothing
    (NPU, "0", "", "FAIL"),
    (NPU, "0-1", MAPPED, "FAIL"),
    (NPU, "0,7", MAPPED, "FAIL"),
    (NPU, "0", MAPPED.replace("4  0  1", "4  ?  1"), "FAIL"),
    (NPU, "0", MAPPED.replace("4  0  1", "0  0  1"), "FAIL"),
    (NPU, "0", MAPPED.removeprefix(HEADER), "FAIL"),
    (OWN, "0", MAPPED, "FAIL"),  # a command chooses for itself
]


@pytest.mark.parametrize(("rule", "visible", "mapped", "status"), SHARED)
def test_what_happens_on_chips_that_a_run_cannot_see_is_noted_and_not_its_leak(
    rule: Gate, visible: str, mapped: str, status: str
) -> None:
    files = {BEFORE: TWO.encode(), AFTER: TAKEN.encode(), MAP: mapped.encode()}
    found = tuple(judge_cleanup(rule, (), (), files, visible))
    assert cleanup_status(found) == status
    assert [("NPU 4 chip 0: process 77 python" in one.message, "60000 MB" in one.message) for one in found] == [
        (True, False),
        (False, True),
    ]


def test_processes_that_outlived_a_command_fail_the_cleanup_and_not_the_command() -> None:
    ended = Ended("e2e", ("run",), exit_code=0, survivors=("9 (12 s old): vllm",))
    found = tuple(judge_cleanup(PLAIN, (), (ended,), {}))
    assert cleanup_status(found) == "FAIL"
    assert found[0].message == "e2e: processes outlived it: 9 (12 s old): vllm"


# a command line, and what is kept of it
COMMANDS = [
    (["vllm", "serve", "--api-key", "s3cret", "--port", "8000"], "vllm serve --api-key *** --port 8000"),
    (["env", "HF_TOKEN=s3cret", "python"], "env HF_TOKEN=*** python"),
    (["git", "clone", "https://me:s3cret@host/x"], "git clone https://***@host/x"),
    (["python", "-c", "a\nb"], "python -c a b"),
    (["x" * 400], "x" * 159 + "…"),
]


@pytest.mark.parametrize(("words", "kept"), COMMANDS)
def test_a_command_line_is_kept_short_and_without_secrets(words: list[str], kept: str) -> None:
    assert shown_command(words) == kept


# a piece of a log, and what is kept of it
SAID = [
    ("HF_TOKEN=hf_abc next", "HF_TOKEN=*** next"),
    ("{'api_key': 'abc', 'port': 1}", "{'api_key': '***', 'port': 1}"),
    ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
    ("KeyError: dbo", "KeyError: dbo"),  # no secret, whatever its name
    ("max_tokens=7", "max_tokens=7"),
]


@pytest.mark.parametrize(("text", "kept"), SAID)
def test_a_log_is_quoted_without_secrets(text: str, kept: str) -> None:
    assert without_secrets(text) == kept


SERVE = """import os, socket, sys, time
mark, number = sys.argv[1:]
while not os.path.exists(mark):
    time.sleep(0.02)
if os.fork():  # the child is younger than the run, as somebody's that docker starts for it
    os.wait()
    sys.exit()
server = socket.create_server(('127.0.0.1', int(number)))
open(mark + '.on', 'w').close()
time.sleep(30)
"""
ASK = """import os, sys, time
open(sys.argv[1], 'w').close()
while not os.path.exists(sys.argv[1] + '.on'):
    time.sleep(0.02)
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """A port that somebody outside the run listens on as soon as the mark is there: the mark's path and the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    mark = str(tmp_path / "mark")
    words = [sys.executable, "-c", SERVE, mark, str(port)]
    with subprocess.Popen(words, start_new_session=True) as process:
        yield mark, port
        os.killpg(process.pid, signal.SIGKILL)


def test_a_gate_whose_tests_pass_does_not_pass_while_a_port_is_held(kit: Kit, served: tuple[str, int]) -> None:
    mark, port = served
    table = f"[host]\nports = [{port}]\nteardown-s = 0\n"
    up = upgrade(kit, policy(table, command("static", "ask", *python(ASK), mark)))
    done = gate(up, "static", "--json")
    data = done.json["data"]
    assert (done.code, data["status"], data["tests"], data["cleanup"]) == (1, "FAIL", "PASS", "FAIL")
    assert {one["status"] for one in data["commands"]} == {"PASS"}
    assert data["blocker"].startswith(f"the tests passed and the cleanup is FAIL: after the run port {port}")
    assert "import os, socket" in data["blocker"]  # who it is
    assert shown(up, "STATIC_AND_UNIT_GATE")["blocker"] == data["blocker"]
