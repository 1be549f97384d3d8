from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kit import Done, Kit, call
from kit_commit import opened_failure
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade, frozen

from git_afd.core.disposing import with_fitting
from git_afd.core.outcome import Outcome
from git_afd.core.state import Analysis, Freeze, RootCause, Upgrade
from git_afd.errors import Exit
from git_afd.render.text import as_text

UPSTREAM = "vllm: vllm/engine.py::Engine.step: takes dbo by keyword"
PLAN = {
    "--title": "take the keyword",
    "--kind": "adaptation",
    "--upstream": UPSTREAM,
    "--class": "BEHAVIORAL",
    "--invariant": "one step per batch",
    "--file": PRODUCTION,
    "--test": TEST,
    "--removal": "when the patch goes",
    "--disposes": "I-1=rebased",
}


def words(*changes: tuple[str, str | None], **replaced: str | None) -> list[str]:
    """The options of PLAN, with `replaced` (None drops one) and `changes` added."""
    plan = {**PLAN, **{f"--{name.replace('_', '-')}": value for name, value in replaced.items()}}
    pairs = [*plan.items(), *changes]
    return [word for name, value in pairs if value is not None for word in (name, value)]


def add(case: FrozenUpgrade, *changes: tuple[str, str | None], **replaced: str | None) -> Done:
    return call(["root-cause", "add", "--json", *words(*changes, **replaced)], case.plugin.path)


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    return frozen(kit, up_to="ARCHITECTURE_GATE", files={"docs/old.png": "x", "tests/data/guide.md": "fixture\n"})


def test_a_root_cause_is_recorded_shown_listed_amended_and_withdrawn(case: FrozenUpgrade) -> None:
    added = add(case).ok().json
    assert added["next"] == "git afd commit --root-cause RC-1"
    shown = case.plugin.afd("root-cause show RC-1 --json").ok().json["data"]
    assert {name: shown[name] for name in ("status", "files", "tests", "disposes", "class", "upstream")} == {
        "status": "open",
        "files": [PRODUCTION],
        "tests": [TEST],
        "disposes": {"I-1": "rebased"},
        "class": "BEHAVIORAL",
        "upstream": [UPSTREAM],
    }
    case.plugin.afd(["root-cause", "amend", "RC-1", "--invariant", "two steps", "--layer", "2"]).ok()
    case.plugin.afd(["root-cause", "withdraw", "RC-1", "--why", "upstream took it back"]).ok()
    listed = case.plugin.afd("root-cause list --json").ok().json["data"]
    assert [(c["root_cause"], c["status"], c["layer"]) for c in listed["root_causes"]] == [("RC-1", "withdrawn", 2)]
    assert listed["undisposed"] == ["I-1", "I-2"]
    text = case.plugin.afd("root-cause show RC-1").ok().out
    assert "withdrawn because: upstream took it back" in text
    assert add(case).ok().json["data"]["root_cause"] == "RC-2"


def test_the_same_plan_twice_is_one_root_cause(case: FrozenUpgrade) -> None:
    add(case).ok()
    before = case.session.ledger.tip()
    case.plugin.write(PRODUCTION, "in the middle of the work\n")
    again = add(case).ok().json["data"]
    assert (again["root_cause"], again["changed"]) == ("RC-1", False)
    case.plugin.afd(["root-cause", "amend", "RC-1", "--title", PLAN["--title"]]).ok()
    assert case.session.ledger.tip() == before


def test_two_adds_at_the_same_time_get_two_numbers(case: FrozenUpgrade) -> None:
    calls = [
        ["git-afd", "root-cause", "add", *words(title=f"part {number}", file=f"afd_plugin/{number}.py", test=None,
         untested="trivial", disposes=None)]
        for number in range(4)
    ]  # fmt: skip
    running = [subprocess.Popen(call, cwd=case.plugin.path, stdout=subprocess.DEVNULL) for call in calls]
    assert [child.wait(60) for child in running] == [0] * 4
    assert sorted(case.upgrade.root_causes) == ["RC-1", "RC-2", "RC-3", "RC-4"]


def test_dry_run_says_what_would_be_recorded_and_writes_nothing(case: FrozenUpgrade) -> None:
    before = case.plugin("git for-each-ref")
    done = case.plugin.afd(["root-cause", "add", "--dry-run", "--json", *words()]).ok()
    assert done.json["data"]["root_cause"] == "RC-1"
    assert case.plugin("git for-each-ref") == before


def test_keeping_or_stopping_items_needs_no_commit_and_can_finish_phase_4(case: FrozenUpgrade) -> None:
    plain: dict[str, Any] = {"file": None, "test": None, "upstream": None, "removal": None}
    one = add(case, **plain, disposes="I-1=kept").ok().json
    assert one["data"]["status"] == "settled"
    two = add(case, **plain, disposes="I-2=stopped", title="stop the other").ok().json
    assert two["next"] == "git afd gate static"
    assert case.upgrade.recorded["IMPLEMENT_ATOMIC_ADAPTATIONS"] == "PASS"
    case.plugin.afd(["root-cause", "withdraw", "RC-2", "--why", "wrong"]).ok()
    assert case.plugin.afd("root-cause list --json").json["data"]["undisposed"] == ["I-2"]


def test_a_pattern_disposes_of_every_impact_that_waits_and_fits(case: FrozenUpgrade) -> None:
    plain: dict[str, Any] = {"file": None, "test": None, "upstream": None, "removal": None}
    light = add(case, **plain, disposes="*=kept", **{"class": "MECHANICAL"}).ok().json["data"]
    assert light["disposes"] == {"I-1": "kept"}, "I-2 weighs more than the class that the plan says"
    again = add(case, **plain, disposes="*=kept", **{"class": "MECHANICAL"}).ok().json["data"]
    assert (again["root_cause"], again["changed"]) == ("RC-1", False)
    nothing = add(case, **plain, disposes="I-1*=kept", title="again", **{"class": None})
    assert (nothing.code, "I-1* fits no impact up to BEHAVIORAL that waits" in nothing.out) == (Exit.REFUSED, True)
    torn = add(case, ("--disposes", "*=stopped"), **plain, disposes="I-*=kept", title="torn", **{"class": None})
    assert (torn.code, "I-2 would be kept and stopped" in torn.out) == (Exit.USAGE, True)
    rest = add(case, ("--disposes", "I-2=stopped"), **plain, disposes="*2=kept", title="rest", **{"class": None})
    assert rest.code == Exit.REFUSED  # nothing is left for the pattern beside what is named in full
    rest = add(case, disposes="*=rebased", title="the rest", **{"class": None}).ok().json["data"]
    assert (rest["disposes"], rest["class"]) == ({"I-2": "rebased"}, "BEHAVIORAL")
    assert "1 impacts are disposed of once" in case.plugin.afd("root-cause list").ok().out
    amended = case.plugin.afd(["root-cause", "amend", "RC-2", "--disposes", "*=replaced", "--json"]).ok().json["data"]
    assert amended["disposes"] == {"I-2": "replaced"}


def test_a_pattern_takes_nothing_architectural_unless_the_plan_says_so() -> None:
    diff = Analysis("r", "by hand", "", {"I-1": "ARCHITECTURAL", "I-2": "BEHAVIORAL"}, 1)
    up = Upgrade("U-1", Freeze("r", "b", "1" * 40, "2" * 40, "Ada", {}, "", "", {}, {}, {}), diff=diff)
    plan = RootCause(name="", title="t", kind="adaptation", class_="", disposes={"*": "kept"})
    assert with_fitting(up, plan).disposes == {"I-2": "kept"}
    assert set(with_fitting(up, replace(plan, class_="ARCHITECTURAL")).disposes) == {"I-1", "I-2"}


def test_many_impacts_are_counted_by_file_and_few_are_named() -> None:
    ids = [f"call:vllm/engine.py::Engine.f{number}@afd_plugin/use.py::go" for number in range(21)]
    few = as_text(Outcome("root-cause.list", {"root_causes": [], "undisposed": ids[:20]}))
    assert few.count("\nnot disposed of: call:") == 20
    many = as_text(Outcome("root-cause.list", {"root_causes": [], "undisposed": [*ids, "by-hand"]}))
    assert [line.split() for line in many.splitlines()[3:5]] == [["afd_plugin/use.py", "21"], ["by-hand", "1"]]
    assert "22 impacts are not disposed of" in many
    assert max(map(len, many.splitlines())) <= 100


# what is changed in PLAN, the exit code, a part of the sentence
REFUSED: list[tuple[dict[str, str | None], int, str]] = [
    ({"title": None}, Exit.USAGE, "--title must be given"),
    ({"title": ""}, Exit.USAGE, "not one line"),
    ({"title": "two\nlines"}, Exit.USAGE, "not one line"),
    ({"kind": "other"}, Exit.USAGE, "other"),
    ({"upstream": None}, Exit.USAGE, "names its upstream cause"),
    ({"upstream": "torch: a.py::f: x"}, Exit.USAGE, "names no upstream"),
    ({"upstream": "vllm: vllm/engine.py::: x"}, Exit.USAGE, "is not complete"),
    ({"upstream": "vllm: vllm/engine.py::f"}, Exit.USAGE, "is not complete"),
    ({"upstream": "vllm: /vllm/engine.py::f: x"}, Exit.USAGE, "is not complete"),
    ({"upstream": "vllm: vllm/absent.py::f: x"}, Exit.REFUSED, "vllm has no vllm/absent.py at"),
    ({"upstream": "vllm: vllm::f: x\n"}, Exit.USAGE, "is not complete"),
    ({"invariant": None}, Exit.USAGE, "what it preserves"),
    ({"removal": None}, Exit.USAGE, "when it can go"),
    ({"test": None}, Exit.REFUSED, "plans no focused test"),
    ({"file": None, "disposes": None}, Exit.USAGE, "names no file"),
    ({"file": None}, Exit.REFUSED, "cannot be rebased without a planned file"),
    ({"file": "/etc/passwd"}, Exit.USAGE, "not relative"),
    ({"file": "../x"}, Exit.USAGE, "shortest form"),
    ({"file": ".git/config"}, Exit.USAGE, "inside a git directory"),
    ({"file": "afd_plugin/"}, Exit.USAGE, "names a folder"),
    ({"file": "afd_plugin", "test": "afd_plugin/x.py"}, Exit.USAGE, "lies below"),
    ({"file": "docs/guide.md"}, Exit.REFUSED, "is documentation"),
    ({"file": ".agents/skills/upgrade-npu/references/a-lessons.md"}, Exit.REFUSED, "is a lesson"),
    ({"disposes": "I-9=kept"}, Exit.REFUSED, "I-9 is no impact"),
    ({"disposes": "I-1=done"}, Exit.USAGE, "no fate"),
    ({"disposes": "I-1"}, Exit.USAGE, "not ITEM=FATE"),
    ({"disposes": "I-2=rebased", "class": "MECHANICAL"}, Exit.REFUSED, "I-2 is BEHAVIORAL"),
    ({"layer": "7"}, Exit.USAGE, "layer 7"),
    ({"kind": "docs", "file": "docs/guide.md", "disposes": None}, Exit.REFUSED, "needs NPU_ACCURACY_GATE"),
    ({"kind": "lesson", "disposes": None}, Exit.REFUSED, "needs FINAL_AUDIT"),
]


def test_a_plan_that_cannot_stand_is_refused_by_name_and_leaves_no_record(case: FrozenUpgrade) -> None:
    before = case.session.ledger.tip()
    for replaced, code, part in REFUSED:
        done = add(case, **replaced)
        assert (done.code, part in done.out) == (code, True), f"{replaced}: {done.out}"
        assert done.json["findings"][0]["remedy"]
    assert case.session.ledger.tip() == before


def test_a_fixture_below_the_tests_may_look_like_documentation(case: FrozenUpgrade) -> None:
    add(case, ("--file", "tests/data/guide.md")).ok()


def test_a_missing_class_is_the_weightiest_of_what_is_disposed_of(case: FrozenUpgrade) -> None:
    done = add(case, ("--disposes", "I-2=kept"), **{"class": None}).ok()
    assert done.json["data"]["class"] == "BEHAVIORAL"


# what another, open root cause has; what the new one must not have
TAKEN: list[tuple[dict[str, str | None], str]] = [
    ({"title": "another", "disposes": None}, "is planned by RC-1 already"),
    ({"title": "another", "disposes": None, "file": "afd_plugin/new.py", "test": f"{TEST}::test_x"}, TEST),
    ({"title": "another", "disposes": None, "file": f"{PRODUCTION}/x", "test": "tests/x.py"}, "is planned by RC-1"),
    ({"title": "another", "file": "afd_plugin/new.py", "test": "tests/x.py"}, "I-1 is disposed of by RC-1"),
    ({"file": "afd_plugin/new.py", "test": "tests/x.py", "disposes": None}, "RC-1 has the title"),
]


def test_what_another_root_cause_holds_is_refused_by_its_name_until_it_lets_go(case: FrozenUpgrade) -> None:
    add(case).ok()
    for replaced, part in TAKEN:
        done = add(case, **replaced)
        assert done.code == Exit.REFUSED
        assert part in done.json["findings"][0]["message"]
    case.plugin.afd(["root-cause", "withdraw", "RC-1", "--why", "make room"]).ok()
    for replaced, _ in TAKEN:
        done = call(["root-cause", "add", "--dry-run", *words(**replaced)], case.plugin.path)
        assert done.code == Exit.DONE, done.err


def test_a_later_layer_waits_for_an_open_earlier_one_or_says_why(case: FrozenUpgrade) -> None:
    add(case, layer="2").ok()
    other: dict[str, Any] = {"title": "another", "file": "afd_plugin/n.py", "test": "tests/n.py", "disposes": None}
    done = add(case, **other, layer="3")
    assert done.code == Exit.REFUSED
    assert "RC-1 of layer 2 is open" in done.json["findings"][0]["message"]
    add(case, **other, layer="3", out_of_order="it does not depend on it").ok()
    add(case, title="first", file="afd_plugin/m.py", test="tests/m.py", disposes=None, layer="1").ok()


# how the planned path came to differ from HEAD
DIFFERS = [
    ("echo x >> afd_plugin/patch.py", "work tree modified"),
    ("echo x >> afd_plugin/patch.py; git add -A", "index modified"),
    ("git commit -qam kept; rm afd_plugin/patch.py", "work tree deleted"),
    ("ln -s x afd_plugin/patch.py", "of another type"),
    ("git rm -q --cached afd_plugin/patch.py", "index deleted"),
    ("git commit -qm gone", "untracked"),
]


def test_a_path_that_differs_from_head_is_somebodys_work(case: FrozenUpgrade) -> None:
    for act, how in DIFFERS:
        case.plugin(["sh", "-c", act])
        done = add(case)
        assert done.code == Exit.REFUSED, act
        assert f"{PRODUCTION} differs from HEAD" in done.json["findings"][0]["message"]
        assert how in done.json["findings"][0]["message"]


def test_a_path_dirty_at_the_freeze_is_free_again_once_it_equals_head(kit: Kit) -> None:
    case = frozen(kit, up_to="ARCHITECTURE_GATE", dirty={PRODUCTION: "mine\n"})
    done = add(case)
    assert f"{PRODUCTION} has been dirty since the freeze" in done.json["findings"][0]["message"]
    case.plugin.commit("keep it")
    add(case).ok()


def test_an_amendment_may_keep_the_paths_in_work_and_no_other(case: FrozenUpgrade) -> None:
    add(case).ok()
    case.plugin.write(PRODUCTION, "work\n")
    case.plugin.write("afd_plugin/other.py", "mine\n")
    case.plugin.afd(["root-cause", "amend", "RC-1", "--title", "a better title"]).ok()
    amend = ["root-cause", "amend", "RC-1", "--file", PRODUCTION, "--file", "afd_plugin/other.py"]
    done = case.plugin.afd(amend)
    assert done.code == Exit.REFUSED
    assert "afd_plugin/other.py differs from HEAD" in done.err


NAMES = [
    "a b.py",
    "a\nb.py",
    "a\"b'.py",
    "*.py",
    ":(top)x",
    "-x",
    " -> ",
    "\udcff\udcfe.py",
    "[a]?.py",
    "é.py",
    "x" * 200,
]


def test_a_planned_name_is_taken_literally_and_survives_the_ledger(case: FrozenUpgrade) -> None:
    paths = [f"afd_plugin/{name}" for name in NAMES]
    add(case, *(("--file", path) for path in paths)).ok()
    assert case.upgrade.root_causes["RC-1"].files == (PRODUCTION, *paths)
    assert case.plugin.afd("root-cause show RC-1 --json").ok().json["data"]["files"] == [PRODUCTION, *paths]
    case.plugin.afd("root-cause show RC-1").ok()
    case.plugin.afd("root-cause withdraw RC-1 --why x").ok()
    for path in paths:
        (case.plugin.path / path).write_text("somebody's\n")
        done = add(case, title="another", file=path, test="tests/n.py", disposes=None)
        assert (done.code, "differs from HEAD" in done.out) == (Exit.REFUSED, True), path


def test_a_source_that_is_gone_blocks_and_one_that_moved_to_its_worktree_does_not(case: FrozenUpgrade) -> None:
    shutil.move(case.vllm.path, case.vllm.path.with_name("away"))
    done = add(case)
    assert done.code == Exit.BLOCKED
    assert "the source of vllm is no longer at" in done.json["findings"][0]["message"]
    add(case, upstream="vllm-ascend: vllm_ascend/worker.py::Worker.load: renamed").ok()


@pytest.mark.parametrize("up_to", ["FREEZE_IDENTITY", "DIFF_BOTH_UPSTREAMS"])
def test_nothing_is_planned_before_the_architecture_gate_passes(kit: Kit, up_to: str) -> None:
    case = frozen(kit, up_to=up_to)
    done = add(case)
    assert done.code == Exit.REFUSED
    assert done.json["findings"][0]["code"] == "phase-order"


def test_docs_are_planned_after_accuracy_and_take_documentation_only(kit: Kit) -> None:
    case = frozen(kit, up_to="NPU_ACCURACY_GATE")
    docs = {"kind": "docs", "disposes": None, "test": None, "upstream": None}
    assert add(case, **docs).code == Exit.REFUSED
    add(case, **docs, file="docs/guide.md").ok()
    add(case, **docs, file="README.md", title="another").ok()


def test_a_closed_upgrade_and_an_unknown_root_cause_are_refused(case: FrozenUpgrade) -> None:
    assert case.plugin.afd("root-cause show RC-7").code == Exit.REFUSED
    assert case.plugin.afd("root-cause withdraw RC-7 --why x").code == Exit.REFUSED
    case.record(("close", {"why": "given up"}))
    assert "is closed" in add(case).json["findings"][0]["message"]


def test_help_is_there_for_every_command(case: FrozenUpgrade) -> None:
    for command in ("", "add", "show", "list", "amend", "withdraw"):
        words = ["root-cause", *([command] if command else []), "-h"]
        assert "Usage" in call(words, case.plugin.path).ok().out


def test_nobody_plans_anything(kit: Kit, sealed: Path) -> None:
    case = frozen(kit, up_to="ARCHITECTURE_GATE")
    failure = opened_failure(case)
    (sealed / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    words = [
        "--failure",
        failure,
        "--title",
        "t",
        "--kind",
        "failure-fix",
        "--invariant",
        "i",
        "--untested",
        "u",
        "--file",
        PRODUCTION,
    ]
    done = case.plugin.afd(["root-cause", "add", *words])
    assert (done.code, done.err.splitlines()[0]) == (Exit.ENVIRONMENT, "git-afd: git does not know who you are")
    assert "fix: git config user.name NAME" in done.err
    assert not case.upgrade.root_causes
