"""An interrupted run leaves a record and no verdict; one that dies is shown as unfinished and needs no repair."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from bench import command, gate, policy, python, shown, upgrade
from kit import Kit, call
from kit_upgrade import FrozenUpgrade

PHASE = "STATIC_AND_UNIT_GATE"
WAITING = """import os, signal, sys, time
def stop(*_):
    time.sleep(0.3)
    open(sys.argv[1] + '.cleaned', 'w').close()
    sys.exit(1)
for number in (1, 2, 15): signal.signal(number, stop)
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


# the signals sent one after the other: a second Ctrl-C while the command cleans up does not cut that short
TOLD = [(signal.SIGINT, signal.SIGINT), (signal.SIGHUP, signal.SIGTERM)]


@pytest.mark.parametrize("numbers", TOLD)
def test_an_interrupted_run_is_recorded_without_a_verdict_after_its_cleanup(
    waiting: tuple[FrozenUpgrade, Path], numbers: tuple[signal.Signals, ...]
) -> None:
    up, mark = waiting
    process = started(up, mark)
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.1)
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
    data = up.plugin.afd("status --json").ok().json["data"]
    assert (data["running"]["run"], data["running"]["pid"], data["unfinished"]) == ("R-1", process.pid, [])
    second = call(["gate", "static", "-q", "--python", sys.executable], up.plugin.path)
    assert (second.code, f"run R-1, process {process.pid}, since 2" in second.err) == (4, True)
    assert call(["gate", "static", "-q", "--python", sys.executable, "--dry-run"], up.plugin.path).code == 0
    process.kill()
    process.communicate(timeout=60)
    until(lambda: mark.with_name("mark.cleaned").exists())  # its command is ended, and may clean up
    data = up.plugin.afd("status --json").ok().json["data"]
    assert (data["unfinished"], data["running"]) == (["R-1"], None)
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


FAKE = """#!/bin/sh
where=run
case " $* " in
  *collect-only*) where=collect; printf 'tests/test_patch.py::test_step\\n\\n1 test collected in 0.1s\\n';;
esac
if [ "$STEP" = $where ]; then
  (setsid sleep 77 &) ; sleep 77 & kill -9 $(ps -o ppid= -p $PPID); wait
fi
[ $where = run ] || exit 0
for word; do case $word in --junitxml=*) report=${word#--junitxml=};; esac; done
echo '<testsuites><testsuite><testcase classname="tests.test_patch" name="test_step"/></testsuite></testsuites>'>$report
"""
"""A pytest that costs nothing: it lists one test and runs it; at the step asked for, git-afd is killed meanwhile."""

TRAP = f"""#!/bin/sh
real={shutil.which("git")}
case " $* " in *"$STEP_GIT"*)
  echo x >> "$STEP_FILE"
  if [ "$(wc -l < "$STEP_FILE")" = "$STEP_NUMBER" ]; then
    case $STEP in
      told) kill -INT 0;;
      before) kill -9 $PPID; sleep 0.1; exit 1;;
      after) "$real" "$@"; kill -9 $PPID; sleep 0.1; exit 1;;
    esac
  fi;;
esac
exec "$real" "$@"
"""
"""A git that is a trap at the n-th call that fits: its caller is killed before or after it, or all are told to stop."""

LEDGER, KEEP = "afd: record", "hash-object -w --no-filters"

# where it is killed (a git call and its number, or the fake pytest), and what is recorded of the run
STEPS = [
    ("before", LEDGER, 1, None),  # before the begin is recorded
    ("after", LEDGER, 1, "started"),  # between the begin and the first command
    ("collect", "", 0, "started"),
    ("after", KEEP, 1, "started"),  # between the collection and the command
    ("run", "", 0, "started"),
    ("before", KEEP, 2, "started"),  # while the artifacts are kept
    ("before", LEDGER, 2, "started"),  # everything was done, and its end is not recorded
]


@pytest.fixture
def trapped(kit: Kit, tmp_path: Path) -> FrozenUpgrade:
    """An upgrade whose static gate is one run of the fake pytest, in a world whose git is the trap."""
    for name, text in (("pytest", FAKE), ("git", TRAP)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    words = (str(tmp_path / "bin" / "pytest"), "tests", "--junitxml={out}/unit.xml")
    return upgrade(kit, policy(command("static", "unit", *words, junit="'unit.xml'")))


def spring(
    up: FrozenUpgrade, tmp_path: Path, step: str, git: str, number: int, *options: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the gate in a session of its own until it ends or the trap has ended it."""
    count = tmp_path / "count"
    count.unlink(missing_ok=True)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    steps = {"STEP": step, "STEP_GIT": git or "nothing", "STEP_NUMBER": str(number), "STEP_FILE": str(count)}
    return subprocess.run(
        ["git-afd", "gate", "static", "-q", "--python", sys.executable, *options],
        cwd=up.plugin.path,
        env={**os.environ, "PATH": path, **steps},
        start_new_session=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_kill_at_any_step_leaves_a_readable_state_nothing_running_and_the_next_gate_just_starts(
    trapped: FrozenUpgrade, tmp_path: Path
) -> None:
    recorded: list[str] = []
    for step, git, number, status in STEPS:
        done = spring(trapped, tmp_path, step, git, number, *(["--worktree"] if step == "run" else []))
        assert done.returncode == -signal.SIGKILL, (step, git, number, done.stderr.decode())
        until(lambda: not left(tmp_path))
        recorded += [status] if status else []
        assert [run.status for run in trapped.upgrade.runs.values()] == recorded, (step, git, number)
        data = call(["status", "--json"], trapped.plugin.path).ok().json["data"]
        row = next(row for row in data["phases"] if row["phase"] == PHASE)
        assert row["status"] == "not run"
        assert (data["running"], len(data["unfinished"])) == (None, recorded.count("started"))
    assert gate(trapped, "static", "--json").ok().json["data"]["run"] == f"R-{len(recorded) + 1}"
    assert len(trapped.plugin("git worktree list").splitlines()) == 1


def left(tmp_path: Path) -> list[str]:
    """Return the processes that a gate in this folder started and that live: its commands, and what they left."""
    found = []
    for process in psutil.process_iter(["cmdline", "status", "environ"]):
        words = " ".join(process.info["cmdline"] or ())
        marked = str(tmp_path) in (process.info["environ"] or {}).get("STEP_FILE", "")
        if (str(tmp_path / "bin") in words or marked) and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(words)
    return found


# where everything in the session is told to stop, as a terminal does it, and what becomes of the run
TORN = [
    ("told", LEDGER, 1, "INTERRUPTED"),  # the begin is written whole, and no command starts
    ("told", KEEP, 1, "INTERRUPTED"),  # between two commands
    ("told", KEEP, 2, "INTERRUPTED"),  # while artifacts are kept
    ("told", LEDGER, 2, "PASS"),  # all was done: what is being written then is written whole
]


def test_a_signal_where_no_command_runs_tears_nothing_apart(trapped: FrozenUpgrade, tmp_path: Path) -> None:
    for place, (step, git, number, status) in enumerate(TORN, start=1):
        done = spring(trapped, tmp_path, step, git, number)
        assert done.returncode == (0 if status == "PASS" else 130), (step, git, number, done.stderr.decode())
        assert [run.status for run in trapped.upgrade.runs.values()][place - 1 :] == [status], (step, git, number)
        log = "log/unit.log.gz" in trapped.upgrade.runs[f"R-{place}"].artifacts
        assert log == (number == 2)
