from __future__ import annotations

import os
import shutil
import threading
from typing import Any

import pytest
from kit import Kit, Repo, call
from kit_upgrade import FrozenUpgrade, frozen

from git_afd.adapters.analysis_cache import AnalysisCache

PATCH = """\
from vllm.engine import Engine


def step(self, batch):
    return batch


Engine.step = step
"""
USE = """\
from vllm_ascend.worker import Worker


def go():
    return Worker().load()
"""
STEP = "monkeypatch:vllm/engine.py::Engine.step@afd_plugin/hooks.py::step"
LOAD = "call:vllm_ascend/worker.py::Worker.load@afd_plugin/use.py::go"
FILES = {
    "afd_plugin/hooks.py": PATCH,
    "afd_plugin/use.py": USE,
    "tests/e2e/test_run_npu.py": "def test_dbo_graph():\n    run('--enable-dbo')\n",
}


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    made = frozen(kit, files=FILES)
    made.plugin.afd("inventory --read AGENTS.md").ok()
    return made


def rows_of(document: Any) -> dict[str, Any]:
    return {row["id"]: row for row in document["data"]["impacts"]}


def test_the_frozen_contracts_are_compared_and_the_classes_proposed(case: FrozenUpgrade) -> None:
    done = case.plugin.afd("diff --json")
    assert done.code == 6  # proposals wait for a decision
    rows = rows_of(done.json)
    assert (rows[STEP]["state"], rows[STEP]["breaking"]) == ("signature-changed", False)  # nobody passes dbo
    assert (rows[LOAD]["state"], rows[LOAD]["breaking"]) == ("member-removed", True)
    assert rows[LOAD]["target"] is None
    assert rows[LOAD]["consumers"] == ["afd_plugin/use.py::go"]
    assert rows[STEP]["rule"].startswith("signature: ")
    files = {row["path"]: row["flagged"] for row in done.json["data"]["files"]}
    assert files["afd_plugin/use.py"]
    upstream = {row["path"]: row for row in done.json["data"]["upstream_files"]}
    assert upstream["vllm/engine.py"]["contracts"]
    assert case.upgrade.diff is not None
    assert case.upgrade.diff.how.startswith("static analysis")
    assert set(case.upgrade.diff.unclassified) == {STEP, LOAD}


def test_phase_2_passes_when_every_proposal_is_decided(case: FrozenUpgrade) -> None:
    case.plugin.afd("diff")
    assert case.plugin.afd(["classify", "Engine.step", "MECHANICAL", "--why", "nobody passes dbo"]).code == 0
    assert case.upgrade.phases["DIFF_BOTH_UPSTREAMS"].status == "BLOCKED"
    done = case.plugin.afd(["classify", LOAD, "ARCHITECTURAL", "--why", "loading is redesigned", "--json"]).ok()
    assert done.json["data"]["open"] == []
    assert case.upgrade.phases["DIFF_BOTH_UPSTREAMS"].status == "PASS"
    assert done.json["next"] == "git afd gate architecture"
    row = rows_of(case.plugin.afd("diff --json").ok().json)[LOAD]
    assert (row["class"], row["proposed"]) == ("ARCHITECTURAL", "BEHAVIORAL")
    assert row["decided"]["why"] == "loading is redesigned"
    assert case.upgrade.diff is not None
    assert case.upgrade.diff.items == {STEP: "MECHANICAL", LOAD: "ARCHITECTURAL"}
    gate = case.plugin.afd("gate architecture --json").json["data"]
    assert gate["unaddressed"] == [LOAD]  # what somebody decided counts, not what was proposed


def test_many_proposals_are_confirmed_with_one_reason_and_recorded_as_such(case: FrozenUpgrade) -> None:
    case.plugin.afd("diff")
    case.plugin.afd(["classify", "--fitting", "*", "--why", "read one by one"]).ok()
    assert case.upgrade.diff is not None
    assert {known.bulk for known in case.upgrade.diff.decided.values()} == {True}
    assert case.upgrade.phases["DIFF_BOTH_UPSTREAMS"].status == "PASS"


def test_a_decision_to_none_takes_the_impact_off_the_list(case: FrozenUpgrade) -> None:
    case.plugin.afd("diff")
    case.plugin.afd(["classify", STEP, "NONE", "--why", "the patch replaces it whole"]).ok()
    assert case.upgrade.diff is not None
    assert STEP not in case.upgrade.diff.items
    assert STEP not in case.upgrade.undisposed


def test_what_is_decided_or_compared_already_is_left_alone(case: FrozenUpgrade) -> None:
    case.plugin.afd("diff")
    words = ["classify", "--proposed", "MECHANICAL", "--why", "signatures only"]
    case.plugin.afd(words).ok()
    before = case.plugin("git rev-parse refs/notes/afd/ledger")
    assert case.plugin.afd(["classify", STEP, "MECHANICAL", "--why", "signatures only"]).code == 0
    assert case.plugin.afd("diff --json").json["data"]["recorded"] is False
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == before


def test_a_class_that_is_overruled_later_makes_the_decision_at_the_gate_stale(case: FrozenUpgrade) -> None:
    case.plugin.afd("diff")
    case.plugin.afd(["classify", "--fitting", "*", "--why", "read"]).ok()
    case.pass_up_to("ARCHITECTURE_GATE")
    case.plugin.afd(["classify", LOAD, "BEHAVIORAL", "--why", "read again"]).ok()
    assert gate(case) == "PASS"  # a better reason changes nothing
    case.plugin.afd(["classify", LOAD, "ARCHITECTURAL", "--why", "it is a redesign"]).ok()
    assert gate(case) == "stale"


def gate(case: FrozenUpgrade) -> str:
    phases = case.plugin.afd("status --json").ok().json["data"]["phases"]
    return str(next(row["status"] for row in phases if row["phase"] == "ARCHITECTURE_GATE"))


def test_a_dry_run_writes_nothing(case: FrozenUpgrade) -> None:
    before = case.plugin("git for-each-ref")
    assert case.plugin.afd("diff --dry-run --json").json["data"]["recorded"] is False
    assert case.plugin("git for-each-ref") == before
    case.plugin.afd("diff")
    before = case.plugin("git for-each-ref")
    case.plugin.afd(["classify", LOAD, "NONE", "--why", "try", "--dry-run"]).ok()
    assert case.plugin("git for-each-ref") == before


def looking(case: FrozenUpgrade, *more: str) -> list[str]:
    """Return the arguments that compare HEAD without any upgrade."""
    sources = [f"--source=vllm={case.vllm.path}", f"--source=vllm-ascend={case.ascend.path}"]
    sides = [
        f"--{side}={name}={ref}"
        for side, ref in (("current", "v1.0"), ("target", "v2.0"))
        for name in ("vllm", "vllm-ascend")
    ]
    return ["diff", "--at", "HEAD", *sources, *sides, *more]


def test_looking_needs_no_upgrade_and_records_nothing(case: FrozenUpgrade, kit: Kit) -> None:
    other = Repo(kit.folder / "other")
    case.plugin(["git", "clone", "-q", str(case.plugin.path), str(other.path)])
    before = other("git for-each-ref")
    done = other.afd([*looking(case), "--json"]).ok()
    assert rows_of(done.json)[LOAD]["state"] == "member-removed"
    assert other("git for-each-ref") == before
    assert "nothing was recorded" in other.afd(looking(case)).ok().out


# options, the impacts that are shown
FILTERS = [
    (["--changed"], {STEP, LOAD}),
    (["--class", "MECHANICAL"], {STEP}),
    (["--class", "BEHAVIORAL"], {LOAD}),
    (["--kind", "monkeypatch"], {STEP}),
    (["--changed", "--file", "afd_plugin/use.py"], {LOAD}),
    (["--file", "nowhere/**"], set()),
]


@pytest.mark.parametrize(("options", "ids"), FILTERS)
def test_filters_choose_what_is_shown(case: FrozenUpgrade, options: list[str], ids: set[str]) -> None:
    assert set(rows_of(case.plugin.afd([*looking(case, *options), "--json"]).ok().json)) == ids


def test_a_contract_is_shown_with_both_ends(case: FrozenUpgrade) -> None:
    out = case.plugin.afd(["diff", "--show", "Engine.step@"]).ok().out
    assert "def step(self, batch):" in out
    assert "def step(self, batch, *, dbo=False):" in out
    assert "From the target to the plugin's function:" in out
    data = case.plugin.afd(["diff", "--show", "Engine.step@", "--json"]).ok().json["data"]
    assert data["new"]["symbol"] == "Engine.step"
    assert "+    def step(self, batch, *, dbo=False):".replace("    ", "", 1) in data["diff"]
    assert [item["subject"] for item in data["log"]]


def test_the_workbook_is_printed_as_markdown(case: FrozenUpgrade) -> None:
    text = case.plugin.afd([*looking(case), "--markdown"]).ok().out
    assert "| Upstream path/symbol | Old contract | Target contract | Class |" in text
    assert "## afd_plugin/hooks.py" in text
    assert "`def Engine.step(self, batch, *, dbo=False)`" in text


# what is asked, the exit code, a word of the message
WRONG = [
    (["diff", "--at", "nowhere"], 2, "nowhere names nothing"),
    (["diff", "--at", "HEAD", "--from", "rows.toml"], 2, "record nothing"),
    (["diff", "--target", "vllm=v2.0"], 2, "go with --at"),
    (["diff", "--show", "gone"], 3, "names no contract"),
    (["diff", "--show", "vllm"], 3, "contracts"),
    (["classify", STEP, "MECHANICAL", "--why", "x"], 3, "no comparison is recorded"),
    (["classify", STEP, "MECHANICAL"], 2, "needs its reason"),
    (["classify", STEP, "--why", "x"], 2, "no class was given"),
    (["classify", "--why", "x"], 2, "say which impact"),
    (["classify", STEP, "SOMETHING", "--why", "x"], 2, "SOMETHING"),
]


@pytest.mark.parametrize(("words", "code", "said"), WRONG)
def test_a_wrong_question_is_refused(case: FrozenUpgrade, words: list[str], code: int, said: str) -> None:
    done = case.plugin.afd(words)
    assert (done.code, said in done.err) == (code, True), done.err


def test_what_is_not_waiting_is_not_classified(case: FrozenUpgrade) -> None:
    case.plugin.afd("diff")
    for words in (["gone", "NONE"], ["import:vllm/engine.py::Engine@afd_plugin/hooks.py", "NONE"]):
        done = case.plugin.afd(["classify", *words, "--why", "x"])
        assert (done.code, "no impact that needs a class" in done.err) == (3, True)


@pytest.mark.parametrize("spoil", ["nothing", "unparsable", "lost"])
def test_second_processes_change_no_answer(case: FrozenUpgrade, spoil: str) -> None:
    """What one process says by itself is what several say together, of sources that cannot be read as well."""
    if spoil == "unparsable":
        case.vllm.write("vllm/engine.py", "class Engine(:\n    pass\n")
        case.vllm.commit("a syntax that no Python has")
    target = case.vllm("git rev-parse HEAD") if spoil == "unparsable" else "v2.0"
    if spoil == "lost":
        blob = case.vllm("git rev-parse v2.0:vllm/engine.py")
        (case.vllm.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    asked = [word.replace("--target=vllm=v2.0", f"--target=vllm={target}") for word in looking(case, "--json")]
    folder = AnalysisCache(case.session.common_dir).folder
    shutil.rmtree(folder)  # the inventory of the upgrade kept this comparison already
    together = case.plugin.afd(asked).ok().json
    shutil.rmtree(folder)
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()  # beside another thread nothing is forked
    try:
        alone = call(asked, case.plugin.path).ok().json
    finally:
        stop.set()
        other.join()
    assert alone == together
    states = {row["id"]: row["state"] for row in together["data"]["impacts"]}
    assert states[STEP] == ("signature-changed" if spoil == "nothing" else "unknown")


@pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2,
    reason="an inventory compares only in a second process, and with one core none is begun (adapters/beside.py)",
)
def test_an_inventory_in_an_upgrade_leaves_the_comparison_to_be_found(case: FrozenUpgrade) -> None:
    folder = AnalysisCache(case.session.common_dir).folder
    (kept,) = folder.glob("impacts-*")
    assert case.upgrade.diff is None
    found, before = rows_of(case.plugin.afd("diff --json").json), kept.stat()
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    shutil.rmtree(folder)
    assert rows_of(case.plugin.afd("diff --json").json) == found


def test_an_inventory_needs_no_target_that_can_be_read(case: FrozenUpgrade) -> None:
    folder = AnalysisCache(case.session.common_dir).folder
    words = "inventory --json"
    case.plugin.afd(words)
    before = case.plugin.afd(words).ok().out
    shutil.rmtree(folder)
    tree = case.vllm("git rev-parse v2.0:vllm")
    (case.vllm.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    assert case.plugin.afd(words).ok().out == before
    assert not list(folder.glob("impacts-*"))
    assert case.plugin.afd("diff").code != 0
