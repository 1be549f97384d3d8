"""How every command behaves at its edges: pipes, signals, closed streams, bugs, colours, help."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from kit import ROOT, Kit, Repo
from kit_upgrade import FrozenUpgrade, frozen

from git_afd.cli.entry import VERBS, afd

# What only reads. Every other command writes somewhere and must be able to say what it would do.
# The demo writes only in a folder of its own.
READ_ONLY = {
    "status",
    "next",
    "log",
    "root-cause show",
    "failure list",
    "failure show",
    "root-cause list",
    "doctor",
    "hooks status",
    "worktree list",
    "demo",
    "verify",
}


def commands(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """Every command that does something, by the words that call it."""
    found: dict[str, click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        words = f"{before} {name}".strip()
        found |= commands(command, words) if isinstance(command, click.Group) else {words: command}
    return found


COMMANDS = commands(afd)


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_every_command_has_the_shared_options_and_says_what_it_is_for(words: str) -> None:
    command = COMMANDS[words]
    flags = {flag for parameter in command.params for flag in parameter.opts}
    assert {"-C", "--json", "-q"} <= flags
    context = click.Context(command, **command.context_settings)
    assert set(command.get_help_option_names(context)) >= {"-h", "--help"}
    assert command.get_short_help_str()


@pytest.mark.parametrize("words", sorted(set(COMMANDS) - READ_ONLY))
def test_every_command_that_writes_has_a_dry_run(words: str) -> None:
    assert "--dry-run" in {flag for parameter in COMMANDS[words].params for flag in parameter.opts}


def test_the_commands_that_only_read_are_named_here() -> None:
    assert set(COMMANDS) >= READ_ONLY
    assert not [w for w in READ_ONLY for p in COMMANDS[w].params if "--dry-run" in p.opts]


@pytest.mark.parametrize("verb", [*VERBS])
def test_help_is_reached_in_each_way_that_git_leaves_open(repo: Repo, verb: str) -> None:
    said = repo.afd([verb, "-h"]).ok().out
    assert said.startswith(f"Usage: git afd {verb}")
    assert repo(f"git afd {verb} -h") == said.strip()
    assert repo.afd(["help", verb]).ok().out == said


@pytest.mark.parametrize("words", ["gate docs", "gate audit", "report", "lesson add", "sync", "handoff open"])
def test_what_is_not_built_is_owed_and_says_so(repo: Repo, words: str) -> None:
    done = repo.afd(words)
    assert (done.code, done.out) == (6, "")
    assert "is not built in this version, so what it decides stays owed" in done.err
    assert "fix: git afd close" in done.err
    assert repo.afd(f"{words} --json").json["exit"] == 6


def test_help_and_version_need_no_repository(tmp_path: Path) -> None:
    here = Repo(tmp_path)
    assert here.afd("-h").ok().out == here.afd("").ok().out == here.afd("--help").ok().out == here.afd("help").ok().out
    assert re.fullmatch(r"git-afd \d+\.\d+.*\n", here.afd("--version").ok().out)
    assert here("git afd -h").startswith("Usage: git afd")
    assert "add" in here.afd("help root-cause").ok().out
    assert here.afd("help root-cause add").ok().out.startswith("Usage: git afd root-cause add")


@pytest.mark.parametrize(
    ("args", "sentence", "fix"),
    [
        ("nope", "no such command 'nope'", "git afd -h"),
        ("help nope", "there is no verb 'nope'", "git afd -h"),
        ("help status nope", "there is no verb 'status nope'", "git afd -h"),
        ("status --nope", "no such option", "git afd status -h"),
        ("status --format nope", "invalid value for '--format'", "git afd status -h"),
        ("status extra", "got unexpected extra argument (extra)", "git afd status -h"),
        ("status -C", "option '-C' requires an argument", "git afd -h"),
    ],
)
def test_a_wrong_call_is_a_sentence_with_a_fix_and_the_same_as_json(
    tmp_path: Path, args: str, sentence: str, fix: str
) -> None:
    here = Repo(tmp_path)
    done = here.afd(args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"git-afd: {sentence}")
    assert done.err.rstrip().endswith(f"fix: {fix}")
    if args.startswith("status --") or args == "nope":  # elsewhere --json would be the missing or the extra word
        shown = here.afd(f"{args} --json")
        assert (shown.code, shown.json["exit"], shown.json["ok"], shown.err) == (2, 2, False, "")
        assert shown.json["findings"][0]["remedy"] == fix


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("status -C nowhere", "is not a directory"),
        ("status -C file", "cannot be entered: Not a directory"),
        ("status", "is in no git repository"),
    ],
)
def test_a_place_that_is_no_repository_is_named(tmp_path: Path, args: str, sentence: str) -> None:
    (tmp_path / "file").write_text("")
    done = Repo(tmp_path).afd(args)
    assert (done.code, done.out) == (5, "")
    assert sentence in done.err
    assert "Traceback" not in done.err
    assert Repo(tmp_path).afd(f"{args} --json").json["exit"] == 5


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    """A frozen upgrade."""
    return frozen(kit)


def long_ledger(case: FrozenUpgrade) -> None:
    """So many records that the answer is longer than any pipe holds."""
    body = {"what": "skip", "subject": "x" * 2000, "name": "Ada", "reason": "r" * 2000}
    case.record(*[("approval", body)] * 40)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_goes_away_is_met_with_silence(case: FrozenUpgrade, form: str) -> None:
    long_ledger(case)
    done = case.plugin.run(["sh", "-c", f"(git afd log --format {form}; echo $? >&2) | head -c 1 >/dev/null"])
    assert done.err.strip() == "0"


@pytest.mark.parametrize(
    ("redirect", "code"),
    [
        ("<&-", 0),  # no standard input
        (">&-", 0),  # no standard output: the answer has nowhere to go, as in git
        ("2>&-", 0),
        ("<&- >&- 2>&-", 0),
        (">/dev/full", 5),  # a full disk is a fault
    ],
)
@pytest.mark.parametrize("verb", ["status", "log"])
def test_closed_streams_are_no_crash_and_get_nothing_of_ours(
    case: FrozenUpgrade, verb: str, redirect: str, code: int
) -> None:
    done = case.plugin.run(["sh", "-c", f"git-afd {verb} {redirect}"])
    assert done.code == code
    assert "Traceback" not in done.err
    assert case.plugin("git fsck --no-dangling") == ""


def test_an_interrupt_ends_with_130_and_one_line(case: FrozenUpgrade, tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\necho >started\nexec sleep 60\n")
    slow.chmod(0o755)
    env = {**os.environ, "PATH": f"{slow.parent}{os.pathsep}{os.environ['PATH']}"}
    child = subprocess.Popen(["git-afd", "status"], cwd=case.plugin.path, env=env, stderr=subprocess.PIPE, text=True)
    while not (case.plugin.path / "started").exists():
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    assert (child.returncode, err.strip()) == (130, "git-afd: interrupted")


BUG = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    "import git_afd.actions.status as module\n"
    "def boom(session): raise KeyError('a\\nbug')\n"
    "module.status = boom\n"
    "from git_afd.cli.entry import main\n"
    "sys.exit(main())\n"
)


def test_a_bug_of_ours_is_one_line_that_says_where_to_report_it(case: FrozenUpgrade) -> None:
    broken = [sys.executable, "-c", BUG, "status"]
    done = case.plugin.run(broken)
    assert (done.code, done.out) == (70, "")
    assert done.err.splitlines()[0] == r"git-afd: internal error: KeyError: 'a\nbug'"
    assert done.err.splitlines()[1].startswith("fix: run it again with GIT_AFD_DEBUG=1 and report")
    assert len(done.err.splitlines()) == 2
    shown = case.plugin.run([*broken, "--json"])
    assert (shown.code, shown.json["exit"], shown.json["findings"][0]["code"]) == (70, 70, "bug")
    assert "Traceback" in case.plugin.run(broken, env={"GIT_AFD_DEBUG": "1"}).err


def on_terminal(repo: Repo, args: list[str], env: dict[str, str]) -> str:
    """Run with a terminal as standard output; return what appears on it."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(args, cwd=repo.path, stdout=follower, stdin=follower, env={**os.environ, **env})
    os.close(follower)
    seen = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:  # Linux says so when the last writer has closed
            break
        if not data:
            break
        seen += data
    os.close(leader)
    assert child.wait() == 0
    return seen.decode()


@pytest.mark.parametrize(
    ("config", "env", "coloured"),
    [
        ("", {}, True),
        ("auto", {}, True),
        ("always", {}, True),
        ("false", {}, False),  # the user's word in git's configuration
        ("never", {}, False),
        ("", {"NO_COLOR": "1"}, False),
        ("always", {"NO_COLOR": "1"}, False),
        ("", {"NO_COLOR": ""}, True),  # no-color.org: only when it is not empty
        ("", {"TERM": "dumb"}, False),
    ],
)
def test_colour_is_for_terminals_and_as_the_user_wants_it(
    case: FrozenUpgrade, config: str, env: dict[str, str], coloured: bool
) -> None:
    if config:
        case.plugin(["git", "config", "color.ui", config])
    seen = on_terminal(case.plugin, ["git-afd", "status"], {"TERM": "xterm", **env})
    assert ("\x1b[" in seen) is coloured
    assert "FREEZE_IDENTITY" in seen


def test_what_goes_into_a_pipe_is_never_coloured(case: FrozenUpgrade) -> None:
    case.plugin("git config color.ui always")
    assert "\x1b" not in case.plugin.afd("status", env={"TERM": "xterm"}).ok().out
