"""``git afd gate static`` on a small plugin, through the command line and real subprocesses."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable

import pytest
from bench import PASSING_CELL, command, gate, policy, python, shown, static_policy, upgrade
from kit import Kit, Repo
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade, kept

from git_afd.core.records import drafted

PHASE = "STATIC_AND_UNIT_GATE"
CHECK = policy(command("static", "check", *python("print('checked')")))
"""One command that passes: enough where no report is at stake."""


def test_a_suite_that_passes_makes_the_phase_pass_with_its_run_as_evidence(kit: Kit) -> None:
    up = upgrade(kit, static_policy())
    done = gate(up, "static", "--json").ok()
    data = done.json["data"]
    assert (data["status"], data["run"], data["counts"]["passed"]) == ("PASS", "R-1", 1)
    assert done.json["next"] == "git afd gate native"
    assert "1 passed" in done.err
    row = shown(up, PHASE)
    run = up.upgrade.runs["R-1"]
    assert (row["status"], row["evidence"]) == ("PASS", [run.record])
    logs = {"collect/unit.txt.gz", "log/check.log.gz", "log/unit.log.gz"}
    assert set(run.artifacts) == {"run.json", "unit.xml", "host/before.json", "host/after.json", *logs}


def test_a_test_that_fails_makes_the_phase_fail_and_its_evidence_is_kept(kit: Kit) -> None:
    up = upgrade(kit, static_policy(), files={TEST: "def test_step():\n    assert 1 == 2\n"})
    done = gate(up, "static", "-q")
    assert done.code == 1
    assert "test_step" in done.out
    assert done.err == ""
    assert shown(up, PHASE)["status"] == "FAIL"
    assert "assert 1 == 2" in up.plugin.afd("log --run R-1 --log unit").ok().out
    # A later PASS leaves the failing run and its evidence where they are.
    up.plugin.commit("mend", {TEST: "def test_step():\n    assert True\n"})
    up.plugin.afd(["failure", "classify", "F-1", "afd", "--why", "the test is wrong"]).ok()
    gate(up, "static").ok()
    assert [run.status for run in up.upgrade.runs.values()] == ["FAIL", "PASS"]
    assert up.session.artifacts.state(up.upgrade.runs["R-1"].artifacts["unit.xml"]) == "present"


FORGED = (
    'import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(\'<testsuite tests="1" failures="1" errors="0" '
    'skipped="0"><testcase classname="t" name="a"><failure message="no"/></testcase></testsuite>\')'
)

VERDICTS = [
    # exit code 0 beside a report with failures
    (command("static", "unit", *python(FORGED), "{out}/unit.xml", junit="'unit.xml'"), 1, "but its report has 1"),
    # success without the report that was promised
    (command("static", "unit", *python("pass"), junit="'unit.xml'"), 6, "left no JUnit report"),
    # a report from elsewhere, linked into the run's folder
    (
        command(
            "static",
            "unit",
            *python("import os,sys; os.symlink('/etc/hostname', sys.argv[1])"),
            "{out}/unit.xml",
            junit="'unit.xml'",
        ),
        6,
        "left no JUnit report",
    ),
    # a tool that is not there is not a failure, and no pass
    (command("static", "ruff", "no-such-ruff", "check", "."), 6, "no-such-ruff could not be started"),
    (command("static", "ruff", "{python}", "-m", "no_such_ruff", "check"), 6, "has no module named no_such_ruff"),
    # a command that ends by a signal, and one whose time is up
    (command("static", "killed", *python("import os; os.kill(os.getpid(), 9)")), 1, "it ended by signal 9"),
    (
        command("static", "slow", *python("import time; time.sleep(60)"), **{"timeout-s": "1"}),
        1,
        "did not end in its time",
    ),
    ("", 6, "the policy names no command for gate static"),
]


@pytest.mark.parametrize(("table", "code", "text"), VERDICTS)
def test_only_an_explicit_pass_passes(kit: Kit, table: str, code: int, text: str) -> None:
    up = upgrade(kit, policy(table))
    done = gate(up, "static")
    assert done.code == code
    assert text in done.out
    logs = re.findall(r"^log of \w+: (.*)", done.out, re.MULTILINE)
    assert all(up.plugin.afd(log.removeprefix("git afd ")).code == 0 for log in logs)
    assert bool(logs) == bool(table and "could not be started" not in text)
    assert shown(up, PHASE)["status"] == {1: "FAIL", 6: "BLOCKED"}[code]


def test_a_gate_is_not_entered_before_the_earlier_phases_have_passed(kit: Kit) -> None:
    up = upgrade(kit, CHECK, up_to="DIFF_BOTH_UPSTREAMS")
    before = up.session.ledger.tip()
    done = gate(up, "static")
    assert done.code == 3
    assert "ARCHITECTURE_GATE is not run" in done.err
    assert "fix: git afd gate architecture" in done.err
    assert up.session.ledger.tip() == before


def test_an_earlier_gate_that_is_stale_counts_as_not_passed(kit: Kit) -> None:
    up = upgrade(kit, policy(command("static", "check", *python("pass")), PASSING_CELL))
    gate(up, "static").ok()
    up.plugin.commit("change", {PRODUCTION: "def step(self, batch):\n    return [batch]\n"})
    assert shown(up, PHASE)["status"] == "stale"
    done = gate(up, "native")
    assert done.code == 3
    assert "STATIC_AND_UNIT_GATE is stale (production or tests changed since commit" in done.err


def test_phase_4_is_recorded_at_the_boundary_once_it_is_computed_as_passed(kit: Kit) -> None:
    up = upgrade(kit, CHECK, up_to="ARCHITECTURE_GATE")
    up.record(("root-cause", kept("RC-1", *up.upgrade.undisposed)))
    gate(up, "static", "--dry-run").ok()
    assert "IMPLEMENT_ATOMIC_ADAPTATIONS" not in up.upgrade.phases
    gate(up, "static").ok()
    record = up.upgrade.phases["IMPLEMENT_ATOMIC_ADAPTATIONS"]
    assert (record.status, record.evidence) == ("PASS", (up.upgrade.decision.record,))  # type: ignore[union-attr]  # there is one


def test_a_documentation_commit_leaves_the_pass_valid(kit: Kit) -> None:
    up = upgrade(kit, CHECK)
    gate(up, "static").ok()
    up.plugin.commit("docs", {"docs/guide.md": "Other words.\n"})
    assert shown(up, PHASE)["status"] == "PASS"


def test_a_commit_that_came_past_the_hooks_is_named_in_every_gate(kit: Kit) -> None:
    up = upgrade(kit, CHECK)
    commit = up.plugin.commit("quick one", {"afd_plugin/other.py": "OTHER = 2\n"})
    up.plugin.commit("words", {"docs/guide.md": "Other words.\n"})
    found = gate(up, "static", "--json").ok().json["findings"]
    assert [item["place"] for item in found if item["code"] == "unannounced-commit"] == [commit[:12]]
    assert "afd_plugin/other.py" in next(item["message"] for item in found if item["code"] == "unannounced-commit")


def test_a_pass_whose_raw_result_is_deleted_or_damaged_is_no_pass(kit: Kit) -> None:
    up = upgrade(kit, CHECK)
    gate(up, "static").ok()
    path = up.session.artifacts.path(up.upgrade.runs["R-1"].artifacts["log/check.log.gz"])
    data = path.read_bytes()
    path.unlink()
    assert (shown(up, PHASE)["status"], shown(up, PHASE)["blocker"]) == (
        "BLOCKED",
        "raw evidence log/check.log.gz is absent",
    )
    path.write_bytes(data + b"more")
    assert shown(up, PHASE)["blocker"] == "raw evidence log/check.log.gz is damaged"
    path.write_bytes(data)
    assert shown(up, PHASE)["status"] == "PASS"


def changed(repo: Repo) -> None:
    repo.write(PRODUCTION, "def step(self, batch):\n    return 1\n")


def hidden(repo: Repo) -> None:
    repo(["git", "update-index", "--assume-unchanged", PRODUCTION])
    changed(repo)


def ignored(name: str) -> Callable[[Repo], None]:
    def write(repo: Repo) -> None:
        repo.write(".git/info/exclude", "*.py\n*.pth\n*.ini\n*.log\nbuild/\npytest/\nmade/\njson\n")
        repo.write(name, "")

    return write


def linked(repo: Repo) -> None:
    """Put an ignored link to a package elsewhere where `python -m` looks first."""
    ignored("../elsewhere/__init__.py")(repo)
    (repo.path / "json").symlink_to(repo.path.parent / "elsewhere")


def linked_out(repo: Repo) -> None:
    """Stage a link to a file that no commit holds."""
    (repo.path / "afd_plugin/out.py").symlink_to("../../elsewhere.py")
    (repo.path / "afd_plugin/in.py").symlink_to("patch.py")
    repo(["git", "add", "afd_plugin"])


def filtered(repo: Repo) -> None:
    """Change a line at equal length, and let a clean filter tell git that nothing did."""
    text = (repo.path / PRODUCTION).read_text()
    repo(["git", "config", "filter.same.clean", f"git cat-file blob HEAD:{PRODUCTION}"])
    repo.write(".git/info/attributes", f"{PRODUCTION} filter=same\n")
    repo.write(PRODUCTION, text.replace("batch", "hctab"))


def untracked(name: str) -> Callable[[Repo], None]:
    def write(repo: Repo) -> None:
        repo.write(name, "")

    return write


UNTIDY = [
    (changed, PRODUCTION),  # what the gate vouches for
    (lambda repo: repo(["git", "rm", "-q", "--cached", TEST]) and None, TEST),  # staged away, still on disk
    (lambda repo: (repo.path / TEST).unlink(), TEST),  # deleted
    (hidden, f"{PRODUCTION} (hidden)"),  # git was told not to look
    (untracked("notes.txt"), "notes.txt"),  # neither code nor documentation: vouched for
    (untracked("docs/conf.py"), "docs/conf.py"),  # documentation, but importable
    (untracked("conftest.py"), "conftest.py"),
    (untracked("tests/pytest.ini"), "tests/pytest.ini"),
    (untracked("afd.toml"), "afd.toml"),
    (ignored("sitecustomize.py"), "sitecustomize.py (ignored)"),
    (ignored("evil.pth"), "evil.pth (ignored)"),
    (ignored("pytest.ini"), "pytest.ini (ignored)"),
    (untracked("docs/new.md"), ""),  # documentation: no gate of these vouches for it
    (untracked("docs/guide.md"), ""),
    (ignored("run.log"), ""),  # ignored output that nothing imports
    (ignored("build/lib/x.py"), ""),  # a folder of build output
    (ignored("pytest/__init__.py"), "pytest/__init__.py (ignored)"),  # what `python -m pytest` would run
    (ignored("afd_plugin/made/of/x.py"), "afd_plugin/made/of/x.py (ignored)"),  # a part of the package
    (linked, "json/__init__.py (ignored)"),
    (filtered, f"{PRODUCTION} (changed)"),
    (linked_out, "stands for: afd_plugin/out.py (linked)\n"),  # and not the one that stays inside
    (untracked("afd_plugin/__pycache__/patch.cpython-311.pyc"), ""),  # a cache that Python checks against its source
    (untracked("afd_plugin/patch.pyc"), "afd_plugin/patch.pyc"),  # a module without a source
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    """One upgrade for the whole table: a dirty tree is refused before anything is written."""
    return upgrade(Kit(tmp_path_factory.mktemp("small")), CHECK)


@pytest.mark.parametrize(("disturb", "named"), UNTIDY)
def test_a_tree_that_is_not_its_commit_is_blocked_by_name(
    small: FrozenUpgrade, disturb: Callable[[Repo], None], named: str
) -> None:
    disturb(small.plugin)
    done = gate(small, "static", "--dry-run")
    small.plugin(["git", "update-index", "--no-assume-unchanged", PRODUCTION])
    small.plugin(["git", "restore", "--staged", "--worktree", "."])
    small.plugin(["git", "clean", "-q", "-f", "-d", "-x"])
    for name in ("exclude", "attributes"):
        small.plugin.write(f".git/info/{name}", "")
    assert done.code == (6 if named else 0), done.err
    assert named in done.err
    assert not small.upgrade.runs


MEANWHILE = [
    (f"open({PRODUCTION!r}, 'a').write('#')", f"came to differ from its commit: {PRODUCTION} (changed)"),
    ("open('conftest.py', 'w')", "conftest.py (untracked)"),
    ("import subprocess as s; s.run(['git', 'commit', '--allow-empty', '-qm', 'x'], check=True)", "HEAD moved during"),
    ("import sys; open(sys.argv[1] + '/vllm/engine.py', 'a').write('#')", "of vllm is not clean: vllm/engine.py"),
]


@pytest.mark.parametrize(("code", "text"), MEANWHILE)
def test_what_moves_during_the_run_is_seen_after_it(kit: Kit, code: str, text: str) -> None:
    up = upgrade(kit, policy(command("static", "check", *python(code), "{vllm}")))
    done = gate(up, "static")
    assert done.code == 6
    assert text in done.out
    assert shown(up, PHASE)["status"] == "BLOCKED"


TARGETS = [
    (lambda up: up.vllm.write("vllm/engine.py", "x"), "is not clean: vllm/engine.py"),
    (lambda up: up.ascend(["git", "switch", "-q", "--detach", "v1.0"]), "of vllm-ascend stands at"),
    (lambda up: up.vllm.path.rename(up.vllm.path.with_name("away")), "the target tree of vllm is not at"),
]


@pytest.mark.parametrize(("move", "text"), TARGETS)
def test_both_target_trees_are_proven_clean_at_their_frozen_commits_before(
    kit: Kit, move: Callable[[FrozenUpgrade], object], text: str
) -> None:
    up = upgrade(kit, CHECK)
    move(up)
    done = gate(up, "static")
    assert done.code == 6
    assert text in done.err
    assert not up.upgrade.runs


def test_a_target_tree_may_be_named_where_it_stands_here(kit: Kit) -> None:
    up = upgrade(kit, CHECK)
    up.vllm.path.rename(up.vllm.path.with_name("away"))
    assert gate(up, "static", "--target", "vllm=../away").code == 0
    assert gate(up, "static", "--target", "vllm=../vllm-ascend").code == 6  # another commit
    assert gate(up, "static", "--target", "vlm=../away").code == 2


def test_a_dry_run_writes_nothing_at_all(kit: Kit) -> None:
    up = upgrade(kit, CHECK)
    up.upgrade  # noqa: B018 - reading fills the cache, which is no part of the question
    before = {path: path.read_bytes() for path in up.plugin.path.rglob("*") if path.is_file()}
    done = gate(up, "static", "--dry-run").ok()
    assert "check: " in done.out
    assert f"next: git afd gate static --python {sys.executable}" in done.out  # the same one, when it is typed
    assert before == {path: path.read_bytes() for path in up.plugin.path.rglob("*") if path.is_file()}


def test_a_diagnostic_is_kept_and_decides_nothing(kit: Kit) -> None:
    up = upgrade(
        kit,
        policy(command("static", "good", *python("pass")), command("static", "bad", *python("raise SystemExit(1)"))),
    )
    done = gate(up, "static", "--only", "good", "--json").ok()
    assert (done.json["data"]["diagnostic"], [one["name"] for one in done.json["data"]["commands"]]) == (True, ["good"])
    assert shown(up, PHASE)["status"] == "not run"
    assert gate(up, "static", "--diagnostic").code == 1
    assert shown(up, PHASE)["status"] == "not run"
    assert gate(up, "static", "--only", "best").code == 2
    assert [run.diagnostic for run in up.upgrade.runs.values()] == [True, True]


SEEN = """import json, os, sys
names = ('GIT_DIR', 'GIT_INDEX_FILE', 'PYTEST_ADDOPTS', 'PYTHONOPTIMIZE', 'VLLM_PLUGINS', 'KEPT')
json.dump([os.environ.get(name) for name in names], open(sys.argv[1], 'w'))
import subprocess as s
s.run(['git', 'init', '-q', sys.argv[2]], check=True)
s.run(['git', '-C', sys.argv[2], 'config', 'core.bare', 'true'], check=True)
s.run(['git', '-C', os.path.dirname(sys.argv[2]), 'config', 'core.bare', 'true'])
"""


def test_a_suite_that_plays_with_git_cannot_reach_the_users_repository(kit: Kit) -> None:
    """Scenario A1: linked worktree, inherited variables, fixtures that set core.bare."""
    up = upgrade(kit, policy(command("static", "check", *python(SEEN), "{out}/seen.json", "{out}/fixture")))
    here = ["config", "HEAD", "index"]
    before = [(up.plugin.path / ".git" / name).read_bytes() for name in here]
    env = {
        "GIT_DIR": str(up.plugin.path / ".git"),
        "GIT_WORK_TREE": str(up.plugin.path),
        "PYTEST_ADDOPTS": "-k nothing",
    }
    more = {"PYTHONOPTIMIZE": "1", "VLLM_PLUGINS": "ascend,afd", "KEPT": "yes"}
    gate(up, "static", env={**env, **more}).ok()
    seen = json.loads(next((up.plugin.path / ".git/afd/runs").rglob("seen.json")).read_text())
    assert seen == [None, None, None, None, None, "yes"]
    assert before == [(up.plugin.path / ".git" / name).read_bytes() for name in here]


def test_an_unreadable_ledger_blocks(kit: Kit) -> None:
    up = upgrade(kit, CHECK)
    up.plugin(["git", "notes", "--ref", "refs/notes/afd/ledger", "append", "-m", "not a record", "HEAD"])
    done = gate(up, "static")
    assert done.code == 6
    assert "the ledger is damaged" in done.err


def test_an_unknown_command_is_told_which_there_are(kit: Kit) -> None:
    done = gate(upgrade(kit, static_policy()), "static", "--only", "units")
    assert (done.code, "it has check, unit" in done.err) == (2, True)
    assert "fix: name one of these with --only, or leave it out" in done.err


STATIC = "STATIC_AND_UNIT_GATE"


def forged(up: FrozenUpgrade, artifacts: dict[str, str]) -> None:
    """Write by hand what a passed static gate would have recorded for HEAD."""
    up.pass_up_to("STATIC_AND_UNIT_GATE")
    bound = dict(list(up.upgrade.runs.values())[-1].bound)
    run = {"op": "finished", "run": "R-9", "gate": "static", "status": "PASS", "bound": bound, "artifacts": artifacts}
    passed = {"phase": STATIC, "status": "PASS", "evidence": [drafted(0)], "blocker": "", "next_allowed_action": "x"}
    up.record(("run", {**run, "commit": up.plugin.head}), ("phase", passed))


def test_a_passed_run_that_was_written_by_hand_passes_nothing(kit: Kit) -> None:
    up = upgrade(kit, static_policy(PASSING_CELL))
    forged(up, {})
    assert "R-9 keeps no raw facts" in shown(up, STATIC)["blocker"]
    assert gate(up, "native").code == 3


@pytest.mark.parametrize("native", [(), ("--dry-run",)])
def test_a_later_gate_judges_the_earlier_ones_again_from_raw_evidence(kit: Kit, native: tuple[str, ...]) -> None:
    up = upgrade(kit, static_policy(PASSING_CELL))
    failing = up.plugin.commit("a failing test", {TEST: "def test_step():\n    assert 0\n"})
    gate(up, "static", "--diagnostic")
    failed = up.upgrade.runs["R-1"]
    assert failed.status == "FAIL"
    assert failed.commit == failing
    forged(up, dict(failed.artifacts))  # the very files of the run that failed, called PASS
    assert shown(up, STATIC)["status"] == "PASS"
    done = gate(up, "native", *native)
    assert done.code == 6
    assert "STATIC_AND_UNIT_GATE does not pass from its raw evidence: R-9 is FAIL" in done.err
    assert done.err.endswith("fix: git afd gate static\n")
