"""An interrupted run leaves a record and no verdict; one that dies is shown as unfinished and needs no repair."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bench import command, gate, policy, python, shown, upgrade
from kit import Kit
from kit_upgrade import FrozenUpgrade

PHASE = "STATIC_AND_UNIT_GATE"
WAITING = """import os, signal, sys, time
def stop(*_):
    open(sys.argv[1] + '.cleaned', 'w').close()
    sys.exit(1)
signal.signal(signal.SIGINT, stop); signal.signal(signal.SIGTERM, stop)
open(sys.argv[1], 'w').write(str(os.getpid()))
time.sleep(100)
"""


def started(up: FrozenUpgrade, mark: Path) -> subprocess.Popen[bytes]:
    """Start the gate and wait until its command runs."""
    argv = ["git-afd", "gate", "static", "--python", sys.executable]
    process = subprocess.Popen(argv, cwd=up.plugin.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: mark.exists() and bool(mark.read_text()))
    return process


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def waiting(kit: Kit, tmp_path: Path) -> tuple[FrozenUpgrade, Path]:
    """An upgrade whose first command waits and cleans up when told to stop, and whose second must not run then."""
    mark = tmp_path / "mark"
    second = command("static", "second", *python("open('/nonexistent/file')"))
    return upgrade(kit, policy(command("static", "wait", *python(WAITING), str(mark)), second)), mark


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_recorded_without_a_verdict_after_its_cleanup(
    waiting: tuple[FrozenUpgrade, Path], number: signal.Signals
) -> None:
    up, mark = waiting
    process = started(up, mark)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    assert b"INTERRUPTED" in out
    assert mark.with_name("mark.cleaned").exists()
    run = up.upgrade.runs["R-1"]
    assert run.status == "INTERRUPTED"
    assert {"log/wait.log.gz", "run.json"} <= set(run.artifacts)
    assert shown(up, PHASE)["status"] == "not run"


def test_a_run_that_dies_is_shown_as_unfinished_and_the_next_one_just_starts(
    waiting: tuple[FrozenUpgrade, Path],
) -> None:
    up, mark = waiting
    process = started(up, mark)
    process.kill()
    process.communicate(timeout=60)
    os.kill(int(mark.read_text()), signal.SIGKILL)  # nobody is left to end it: the machine died
    data = up.plugin.afd("status --json").ok().json["data"]
    assert data["unfinished"] == ["R-1"]
    assert shown(up, PHASE)["status"] == "not run"
    mark.unlink()
    again = started(up, mark)
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=60)
    assert {name: run.status for name, run in up.upgrade.runs.items()} == {"R-1": "started", "R-2": "INTERRUPTED"}


def test_a_passed_phase_keeps_its_pass_when_a_repetition_is_interrupted(kit: Kit, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = f"import os, sys\nif not os.path.exists({str(tmp_path / 'again')!r}): sys.exit()\n" + WAITING
    up = upgrade(kit, policy(command("static", "wait", *python(code), str(mark))))
    gate(up, "static").ok()
    (tmp_path / "again").touch()
    process = started(up, mark)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert shown(up, PHASE)["status"] == "PASS"
