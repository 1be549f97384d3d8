"""A gate is seen at work: on its own terminal, and from another one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from bench import command, policy, python, upgrade
from kit import Kit, call
from kit_upgrade import FrozenUpgrade

SLOW = """import os, sys, time
for number in range(3):
    print('step', number)
sys.stdout.write('half a line'); sys.stdout.flush()
while not os.path.exists(sys.argv[1]): time.sleep(0.02)
print(' and its end')
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[FrozenUpgrade, Path]:
    """An upgrade whose static gate waits for a file."""
    folder = tmp_path_factory.mktemp("live")
    go = folder / "go"
    return upgrade(Kit(folder), policy(command("static", "slow", *python(SLOW), str(go)))), go


@pytest.fixture
def case(made: tuple[FrozenUpgrade, Path]) -> Iterator[tuple[FrozenUpgrade, Path]]:
    """The same, with nobody told to go on yet."""
    made[1].unlink(missing_ok=True)
    yield made
    made[1].touch()


WORDS = ["gate", "static", "--python", sys.executable]


def test_on_a_terminal_one_line_says_where_it_stands_and_output_stays_whole(
    case: tuple[FrozenUpgrade, Path],
) -> None:
    up, go = case
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    child = pexpect.spawn(
        "git-afd", WORDS, cwd=str(up.plugin.path), env=env, timeout=30, dimensions=(24, 80), encoding="utf-8"
    )
    child.expect("step 0\r\nstep 1\r\nstep 2\r\n")
    child.expect("\r\x1b\\[K(static 1/1 slow: \\d+ s, half a line)\r")
    child.setwinsize(24, 16)
    child.expect("\r\x1b\\[K(static 1/1 slow)\r")  # as much as fits now
    go.touch()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    after = child.before or ""
    assert "half a line and its end\r\ngit-afd: static 1/1 slow: exit code 0" in after
    assert not re.search(r"\x1b\[[0-9;]+m", after)


def test_a_running_gate_is_followed_from_another_terminal_until_it_ends(case: tuple[FrozenUpgrade, Path]) -> None:
    up, go = case
    argv = ["git-afd", *WORDS, "--json"]
    with subprocess.Popen(argv, cwd=up.plugin.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as gate:
        until_running(up)
        with following(up) as one:
            assert one.stdout is not None
            assert [one.stdout.readline() for _ in range(4)] == [b"==> log/slow.log <==\n", *STEPS]
            with following(up) as other:
                assert other.stdout is not None
                other.stdout.readline()
                other.send_signal(signal.SIGINT)
                assert other.communicate(timeout=30)[1] == b""
            assert other.returncode == 130
            assert gate.poll() is None
            go.touch()
            out, err = one.communicate(timeout=30)
        answer, seen = gate.communicate(timeout=30)
    assert json.loads(answer)["data"]["status"] == "PASS"  # nothing of what is seen meanwhile is on stdout
    assert b"step 2\nhalf a line and its end\ngit-afd: static 1/1 slow: exit code 0" in seen
    assert (out.endswith(b" and its end\n"), one.returncode) == (True, 0)
    name = list(up.upgrade.runs)[-1]
    assert err == f"git-afd: run {name} has ended: PASS\n".encode()
    again = up.plugin.afd(f"log --run {name} --follow").ok()
    assert again.out.startswith("==> log/slow.log <==\nstep 0\n")  # of a run that has ended: all that is kept
    document = call(["log", "--run", name, "--follow", "--json"], up.plugin.path).ok().json
    assert document["data"]["runs"][0]["status"] == "PASS"


STEPS = [f"step {number}\n".encode() for number in range(3)]


def following(up: FrozenUpgrade) -> subprocess.Popen[bytes]:
    argv = ["git-afd", "log", "--follow"]
    return subprocess.Popen(argv, cwd=up.plugin.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until_running(up: FrozenUpgrade) -> None:
    end = time.monotonic() + 30
    while not any(run.status == "started" for run in up.upgrade.runs.values()):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_without_a_running_gate_there_is_nothing_to_follow(made: tuple[FrozenUpgrade, Path]) -> None:
    done = call(["log", "--follow"], made[0].plugin.path)
    assert (done.code, "no gate runs in this repository" in done.err) == (3, True)
