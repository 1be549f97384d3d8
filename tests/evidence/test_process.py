"""Real children, real signals; short times, so each claim about minutes is shown in tenths of seconds."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from kit import ROOT, Kit, Repo

from git_afd.adapters.kept_log import log_text
from git_afd.adapters.process import ProcessResult, run_command
from git_afd.adapters.process_family import Family
from git_afd.errors import EnvironmentFault

TOKEN = "afd-test-sleeper"
IGNORE = "trap '' TERM INT; "


def go(tmp_path: Path, script: str, **options: Any) -> ProcessResult:
    """Run a shell script with short times."""
    settings = {"cwd": tmp_path, "env": dict(os.environ), "log": tmp_path / "logs" / "log", "timeout_s": 20.0}
    return run_command(["sh", "-c", script], **{**settings, "grace_s": 0.4, **options})


def alive(pid_file: Path) -> bool:
    try:
        return psutil.Process(int(pid_file.read_text())).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# script, exit code, signal, succeeded
ENDS = [
    ("true", 0, None, True),
    ("exit 7", 7, None, False),
    ("kill -KILL $$", None, signal.SIGKILL, False),  # ended by a signal: there is no exit code, and no PASS
    ("exec >&- 2>&-; sleep 0.2; exit 3", 3, None, False),  # closed its output long before it ended
    ("(sleep 0.2; echo late) & exit 0", 0, None, True),  # a worker that ends a moment later is nobody's fault
    ("cat; exit 0", 0, None, True),  # input is empty, nothing waits for a person
]


@pytest.mark.parametrize(("script", "code", "number", "fine"), ENDS)
def test_a_run_reports_how_the_command_ended(
    tmp_path: Path, script: str, code: int | None, number: int | None, fine: bool
) -> None:
    result = go(tmp_path, script)
    assert (result.exit_code, result.signal, result.succeeded) == (code, number, fine)
    assert (result.timed_out, result.interrupted, result.left_behind, result.survivors) == (False, False, (), ())


def test_both_outputs_stand_in_one_log_in_their_order_and_are_shown_live(tmp_path: Path) -> None:
    shown: list[tuple[float, bytes]] = []
    result = go(
        tmp_path,
        "echo one; echo two >&2; sleep 0.3; printf three",
        echo=lambda data: shown.append((time.monotonic(), data)),
    )
    assert result.log.read_bytes() == b"".join(data for _, data in shown) == b"one\ntwo\nthree"
    assert shown[-1][0] - shown[0][0] > 0.2
    assert result.log_digest == hashlib.sha256(b"one\ntwo\nthree").hexdigest()
    assert result.log_bytes == 13


def test_a_python_child_is_live_although_it_writes_into_a_pipe(tmp_path: Path) -> None:
    seen: list[float] = []
    script = "import time; print('x'); time.sleep(0.4); print('y')"
    go(tmp_path, f'exec {sys.executable} -S -c "{script}"', echo=lambda _: seen.append(time.monotonic()))
    assert seen[-1] - seen[0] > 0.3


def test_a_screen_that_went_away_does_not_end_the_run(tmp_path: Path) -> None:
    def gone(_: bytes) -> None:
        raise BrokenPipeError

    assert go(tmp_path, "echo one; sleep 0.1; echo two", echo=gone).log_bytes == 8


def test_a_flood_is_kept_whole_and_compressed_with_bounded_memory(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = go(tmp_path, "yes 'one line of output' | head -c 60000000", log=tmp_path / "flood.log.gz")
    assert result.log_bytes == 60_000_000
    assert result.log.stat().st_size < 1_000_000
    digest = hashlib.sha256()
    for piece in log_text(result.log.name, result.log):
        digest.update(piece)
    assert digest.hexdigest() == result.log_digest
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # KiB


def test_time_is_up_for_grandchildren_that_ignore_term(tmp_path: Path) -> None:
    started = time.monotonic()
    result = go(tmp_path, f"({IGNORE} echo $$ > top; sh -c '{IGNORE} echo $$ > deep; sleep 60') & wait", timeout_s=0.8)
    assert result.timed_out
    assert not result.succeeded
    assert time.monotonic() - started < 5
    assert not alive(tmp_path / "deep")
    assert not result.survivors


def test_time_to_clean_up_is_given_and_used(tmp_path: Path) -> None:
    script = "trap 'sleep 0.4; echo released; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    result = go(tmp_path, script, timeout_s=0.4, grace_s=10.0)
    assert result.log.read_text().endswith("released\n")
    assert result.exit_code == 0
    assert result.timed_out  # a tidy end after the time is still no success
    assert not result.succeeded


def test_term_comes_once_so_that_cleaning_up_is_not_cut_short(tmp_path: Path) -> None:
    worker = tmp_path / "worker.sh"
    worker.write_text("trap 'echo term' TERM; for i in $(seq 12); do sleep 0.05; done")
    result = go(tmp_path, "sh worker.sh & wait", timeout_s=0.2, grace_s=5.0)  # its parent ends at the first one
    assert result.log.read_text().count("term\n") == 1


LEAVER = f"""
import os, signal, sys, time
os.setsid()
signal.signal(signal.SIGTERM, signal.SIG_IGN if sys.argv[1] == 'deaf' else signal.SIG_DFL)
open('{TOKEN}', 'w').write(str(os.getpid()))
null = os.open(os.devnull, os.O_RDWR)
for fd in (0, 1, 2): os.dup2(null, fd)
time.sleep(60)
"""

# how the child that leaves is started, and what its parent does then
LEAVERS = [
    "python leaver.py deaf & wait",  # the parent waits: found by the line of parents
    "(python leaver.py deaf &); sleep 60",  # an orphan: found by its mark only
]


@pytest.mark.parametrize("script", LEAVERS)
def test_time_is_up_for_children_that_left_the_group(tmp_path: Path, script: str) -> None:
    (tmp_path / "leaver.py").write_text(LEAVER)
    go(tmp_path, script.replace("python", f"{sys.executable} -S"), timeout_s=1.5)
    assert not alive(tmp_path / TOKEN)


def test_a_server_left_behind_is_ended_and_named(tmp_path: Path) -> None:
    (tmp_path / "leaver.py").write_text(LEAVER)
    script = f"({sys.executable} -S leaver.py polite &); while ! [ -s {TOKEN} ]; do sleep 0.02; done"
    result = go(tmp_path, script, grace_s=5.0)
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.left_behind] == [(tmp_path / TOKEN).read_text()]
    assert not alive(tmp_path / TOKEN)
    assert not result.survivors


def test_processes_of_others_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        go(tmp_path, "sleep 60", timeout_s=0.2)
        assert stranger.poll() is None
        stranger.kill()


DRIVER = """
import fcntl, json, os, sys
from pathlib import Path
from git_afd.adapters.process import run_command
script, out = sys.argv[1:]
lock = open(Path(out, "lock"), "w")
fcntl.flock(lock, fcntl.LOCK_EX)
done = run_command(["sh", "-c", script], cwd=Path(out), env=dict(os.environ), log=Path(out, "log"), timeout_s=30,
    grace_s=float(os.environ.get("GRACE", "5")), hold=[lock.fileno()])
print(json.dumps([done.exit_code, done.signal, done.interrupted, done.timed_out, done.survivors]))
"""
TIDY = "trap 'sleep 0.3; echo released; exit 0' INT TERM HUP; echo ready; while :; do sleep 0.05; done"


def drive(tmp_path: Path, script: str, number: int, **env: str) -> list[Any]:
    """Signal a program that runs `script` through the runner, once the script is ready; what it then reports."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, script, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **env},
        start_new_session=True,
    ) as tool:
        until(lambda: (log := tmp_path / "log").exists() and b"ready" in log.read_bytes())
        tool.send_signal(number)
        out, _ = tool.communicate(timeout=20)
    answer: list[Any] = json.loads(out)
    return answer


class Countdown:
    """An errand that is done when it was asked often enough, and remembers who belonged to the run then."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.living: list[int] = []

    def done(self, family: Family) -> bool:
        self.left -= 1
        self.living = [process.pid for process in family.living()]
        return self.left <= 0


# script, whether the errand's end stopped it, its exit code, its log, whether it had to be killed
ERRANDS = [
    ("trap 'echo bye; exit 5' TERM; while :; do :; done", True, 5, "bye\n", False),
    ("exit 5", False, 5, "", False),  # it ended before its errand was done
    (f"{IGNORE} while :; do :; done", True, None, "", True),  # deaf: killed, and said to be
]


@pytest.mark.parametrize(("script", "stopped", "code", "said", "killed"), ERRANDS)
def test_a_command_with_an_errand_runs_until_it_is_done(
    tmp_path: Path, script: str, stopped: bool, code: int | None, said: str, killed: bool
) -> None:
    errand = Countdown(3)
    result = go(tmp_path, script, errand=errand)
    assert (result.stopped, result.exit_code, result.log.read_text()) == (stopped, code, said)
    assert (bool(result.killed), result.survivors, result.timed_out) == (killed, (), False)
    assert errand.living or not stopped  # one that ends by itself may be seen before its end, or not


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_tool_reaches_the_command_which_may_clean_up(tmp_path: Path, number: int) -> None:
    assert drive(tmp_path, TIDY, number) == [0, None, True, False, []]
    assert (tmp_path / "log").read_text().endswith("released\n")


def test_a_command_that_ignores_the_signal_is_ended_after_its_grace(tmp_path: Path) -> None:
    script = f"{IGNORE} echo $$ > deep; echo ready; sleep 60 & wait; sleep 60"
    assert drive(tmp_path, script, signal.SIGINT, GRACE="0.3") == [None, signal.SIGKILL, True, False, []]
    assert not alive(tmp_path / "deep")


def test_an_ignored_sigchld_does_not_turn_a_failure_into_success(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # handed down by some supervisors
    try:
        assert go(tmp_path, "exit 3").exit_code == 3
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


# what is wrong, the arguments, what the sentence names
REFUSED = [
    ({"argv": ["no-such-program-afd"]}, "no-such-program-afd could not be started: No such file"),
    ({"argv": []}, "(nothing)"),  # an empty command in a policy
    ({"argv": ["true", "a\0b"]}, "embedded null byte"),
    ({"argv": ["/"]}, "Permission denied"),  # there, and no program
    ({"cwd": Path("/no/such/folder")}, "folder /no/such/folder"),
    ({"log": Path("/proc/none/log")}, "log /proc/none/log cannot be made"),
]


@pytest.mark.parametrize(("change", "named"), REFUSED)
def test_what_cannot_be_started_is_named(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    settings: dict[str, Any] = {"argv": ["true"], "cwd": tmp_path, "env": dict(os.environ), "log": tmp_path / "log"}
    with pytest.raises(EnvironmentFault) as fault:
        run_command(**{**settings, **change}, timeout_s=5)
    assert named in fault.value.message
    assert fault.value.fix


def test_an_earlier_log_is_never_written_over(tmp_path: Path) -> None:
    go(tmp_path, "echo first")
    with pytest.raises(EnvironmentFault, match="cannot be made: File exists"):
        go(tmp_path, "echo second")
    assert (tmp_path / "logs" / "log").read_text() == "first\n"


def test_a_log_that_cannot_be_written_is_a_fault_and_ends_the_command(tmp_path: Path) -> None:
    resource_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource_limit[1]))
    try:
        with pytest.raises(EnvironmentFault, match="could not be written: File too large"):
            go(tmp_path, "echo $$ > /dev/null; while :; do echo 0123456789; done")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, resource_limit)
        signal.signal(signal.SIGXFSZ, before)


def _bytes_of(repo: Repo, *git_dirs: Path) -> dict[str, bytes]:
    names = ("config", "HEAD", "index", "refs/heads/main", "refs/heads/side")
    paths = [folder / name for folder in (repo.path / ".git", *git_dirs) for name in names]
    return {str(path): path.read_bytes() for path in paths if path.exists()}


STRAY = "git init -q inner && cd inner && git config core.bare true && git config core.bare false && "
STRAY += "git config user.name Fixture && echo x > f && git add f && git commit -qm fixture"


def test_a_child_git_does_not_write_into_the_repository_around_it(kit: Kit, tmp_path: Path) -> None:
    outer = kit.repo("outer")
    outer.commit("first", {"a": "1"})
    outer(["git", "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked")])
    linked = outer.path / ".git" / "worktrees" / "linked"
    hook_world = {  # what git gives a hook in a linked worktree during `git commit -a`
        **os.environ,
        "GIT_DIR": str(linked),
        "GIT_WORK_TREE": str(tmp_path / "linked"),
        "GIT_INDEX_FILE": str(linked / "index"),
        "GIT_PREFIX": "",
    }
    before = _bytes_of(outer, linked)
    result = run_command(
        ["sh", "-c", STRAY], cwd=tmp_path, env=hook_world, log=tmp_path / "log", timeout_s=20, grace_s=1
    )
    assert result.succeeded, result.log.read_text()
    assert _bytes_of(outer, linked) == before
    assert Repo(tmp_path / "inner")("git log --format=%s") == "fixture"
    # The control: the same script with that environment does write there, so the claim above could have failed.
    subprocess.run(["sh", "-c", STRAY], cwd=tmp_path, env=hook_world, capture_output=True, check=False)
    assert _bytes_of(outer, linked) != before


# How the command is started, and what of it must be gone after the tool was killed.
ORPHANS = [
    (f"({IGNORE} echo $$ > top; sh -c '{IGNORE} echo $$ > deep; echo ready; sleep 60') & wait", ("top", "deep")),
    ("python leaver.py polite & wait", (TOKEN,)),  # left the session, and its parent waits for it
    ("(env -i python leaver.py deaf &); sleep 60", (TOKEN,)),  # an orphan without group, parent or mark
]


@pytest.mark.parametrize(("script", "marks"), ORPHANS)
def test_nothing_outlives_a_tool_that_was_killed(tmp_path: Path, script: str, marks: tuple[str, ...]) -> None:
    (tmp_path / "leaver.py").write_text(LEAVER.replace("time.sleep", "print('ready', flush=True); time.sleep", 1))
    drive_and_kill(tmp_path, script.replace("python", f"{sys.executable} -S"), *marks, GRACE="0.2")
    gone(tmp_path, *marks)


def test_a_killed_tool_leaves_its_command_the_time_to_clean_up_and_its_locks_until_then(tmp_path: Path) -> None:
    script = "trap 'sleep 0.5; touch released; exit 0' TERM; echo $$ > top; echo ready; while :; do sleep 0.05; done"
    drive_and_kill(tmp_path, script, "top", GRACE="10")
    with (tmp_path / "lock").open() as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(lock, fcntl.LOCK_EX)  # the kernel gives it when the last of the family is gone
    assert (tmp_path / "released").exists()
    gone(tmp_path, "top")


def test_a_killed_warden_is_no_success_and_its_command_is_ended(tmp_path: Path) -> None:
    result = go(tmp_path, "echo $$ > top; kill -KILL $PPID; sleep 60")
    assert (result.exit_code, result.succeeded) == (None, False)
    gone(tmp_path, "top")


def drive_and_kill(tmp_path: Path, script: str, *marks: str, **env: str) -> None:
    """Run `script` through the runner, and kill the program that does so once all of the script's marks are there."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, script, str(tmp_path)], cwd=ROOT, env={**os.environ, **env}
    ) as tool:
        until(lambda: all((tmp_path / mark).exists() and (tmp_path / mark).read_text() for mark in marks))
        tool.kill()


def gone(tmp_path: Path, *marks: str) -> None:
    until(lambda: not any(alive(tmp_path / mark) for mark in marks))


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)
