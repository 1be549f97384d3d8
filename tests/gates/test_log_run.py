"""``git afd log --run``: everything of a run, and what its commands printed, byte for byte."""

from __future__ import annotations

import hashlib
import subprocess

import pytest
from bench import UNIT, command, gate, policy, python, upgrade
from kit import Kit, call
from kit_upgrade import FrozenUpgrade

from git_afd.core.records import Draft

TEXT = "".join(f"line {number} of a long story\n" for number in range(3000))
TELL = "import sys\nfor number in range(3000): print('line', number, 'of a long story')\nsys.exit(3)"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    """An upgrade whose static gate has failed once: one command tells a long story, the suite passes."""
    tables = (command("static", "tell", *python(TELL)), command("static", "unit", *UNIT, junit="'unit.xml'"))
    made = upgrade(Kit(tmp_path_factory.mktemp("log")), policy(*tables))
    assert gate(made, "static", "-q").code == 1
    return made


def test_it_shows_everything_of_a_run_to_a_program(up: FrozenUpgrade) -> None:
    (run,) = call(["log", "--run", "R-1", "--json"], up.plugin.path).ok().json["data"]["runs"]
    recorded = up.upgrade.runs["R-1"]
    tell, unit = run["commands"]
    assert (run["status"], run["failure"], run["unreadable"]) == ("FAIL", "F-1", "")
    assert (tell["exit_code"], unit["exit_code"], unit["junit"]) == (3, 0, ["unit.xml"])
    assert (tell["log_bytes"], tell["log_digest"]) == (len(TEXT), hashlib.sha256(TEXT.encode()).hexdigest())
    assert tell["began"] <= tell["ended"] <= unit["began"] != ""
    assert run["identity"] == {"commit": up.plugin.head, "tree": run["identity"]["tree"], **recorded.bound}
    assert {one["name"]: one["digest"] for one in run["artifacts"]} == dict(recorded.artifacts)
    assert {one["state"] for one in run["artifacts"]} == {"present"}
    assert [one["name"] for one in run["collections"]] == ["unit"]
    (excerpt,) = run["excerpts"]  # of what failed, and of nothing else
    assert (excerpt["log"], excerpt["lines"]) == ("log/tell.log.gz", TEXT.splitlines()[-20:])
    assert run["host"]["machine"]["system"]
    assert [(one["name"], one["status"]) for one in run["verdicts"]] == [("tell", "FAIL"), ("unit", "PASS")]
    assert (run["tests"], run["cleanup"]) == ("FAIL", "PASS")
    assert len(run["recorded"]) == 2
    assert any("exit code 3" in one["message"] for one in run["findings"])


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_it_shows_everything_of_a_run_to_a_person(up: FrozenUpgrade, form: str) -> None:
    said = call(["log", "--run", "R-1", "--format", form], up.plugin.path).ok().out
    said = said.replace("\\", "").replace("&#x27;", "'")
    for part in (
        "it opened failure F-1",
        "exit code 3",
        "unit.xml",
        "tests: FAIL; cleanup: PASS",
        "line 2999 of a long story",
        up.plugin.head,
    ):
        assert part in said
    assert "line 2900 of" not in said


# what is asked for, what it begins with
NAMES = [
    ("tell", "line 0 of a long story\n"),  # by the command's name
    ("collect/unit.txt", "tests/test_patch.py::test_step\n"),
    ("unit.xml", "<?xml"),
]


@pytest.mark.parametrize(("name", "begin"), NAMES)
def test_a_kept_file_is_printed_in_full_and_nothing_else(up: FrozenUpgrade, name: str, begin: str) -> None:
    done = up.plugin.afd(["log", "--run", "R-1", "--log", name]).ok()
    assert done.out.startswith(begin)
    assert "next:" not in done.out
    assert (done.out == TEXT) == (name == "tell")


def test_a_program_gets_the_end_of_a_file_and_is_told_what_is_left_out(up: FrozenUpgrade) -> None:
    data = call(["log", "--run", "R-1", "--log", "tell", "--json"], up.plugin.path).ok().json["data"]
    assert (data["text"], data["text_bytes"], data["left_out"]) == (TEXT, len(TEXT), 0)


# options, exit code, what is said
REFUSED = [
    ("--run R-1 --log nothing", 2, "run R-1 left no 'nothing'; it left"),
    ("--run R-9 --log tell", 2, "there is no run R-9"),
    ("--log tell", 2, "--run is not given"),
]


@pytest.mark.parametrize(("options", "code", "said"), REFUSED)
def test_what_is_not_there_is_named(up: FrozenUpgrade, options: str, code: int, said: str) -> None:
    done = call(["log", *options.split()], up.plugin.path)
    assert (done.code, said in done.err, done.out) == (code, True, "")


def test_a_reader_that_leaves_early_ends_it_quietly(up: FrozenUpgrade) -> None:
    line = "git-afd log --run R-1 --log tell | head -n 1"
    done = subprocess.run(["sh", "-c", line], cwd=up.plugin.path, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"line 0 of a long story\n", b"")


def test_a_log_that_is_lost_or_changed_is_never_shown_as_the_runs(up: FrozenUpgrade) -> None:
    path = up.session.artifacts.path(up.upgrade.runs["R-1"].artifacts["log/unit.log.gz"])
    data = path.read_bytes()
    path.unlink()
    assert "1 passed" in up.plugin.afd("log --run R-1 --log unit").ok().out  # it also travels with the ledger
    path.write_bytes(data + b"more")
    done = call(["log", "--run", "R-1", "--log", "unit"], up.plugin.path)
    path.write_bytes(data)
    assert (done.code, done.out) == (6, "")
    assert "is not what the run left" in done.err


def test_a_ledger_with_logs_as_older_versions_kept_them_still_reads(up: FrozenUpgrade) -> None:
    session = up.session
    digest = session.artifacts.put_bytes(b"an old log\n")
    body = {"run": "R-99", "op": "finished", "gate": "static", "commit": up.plugin.head, "status": "FAIL"}
    kept = {"artifacts": {"log/say.log": digest}, "bound": {}}
    session.ledger.transact(lambda _: [Draft("run", up.id, {**body, **kept}, up.plugin.head)])
    assert up.plugin.afd("log --run R-99 --log say").ok().out == "an old log\n"
    (run,) = call(["log", "--run", "R-99", "--json"], up.plugin.path).ok().json["data"]["runs"]
    assert [one["state"] for one in run["artifacts"]] == ["present"]
    assert run["unreadable"] == "the record names no run.json"
