from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kit import Kit, Repo
from kit_upgrade import FrozenUpgrade, frozen

from git_afd.adapters.analysis_cache import AnalysisCache
from git_afd.core.contracts.subject import Inventory

PATCH = """\
from vllm.engine import Engine


# Patch functionality: a batch comes back as it went in.
def step(self, batch):
    # ### PATCH START: AFD
    batch = batch or []
    # ### PATCH END: AFD
    return batch


Engine.step = step
"""
MONKEYPATCH = "monkeypatch:vllm/engine.py::Engine.step@afd_plugin/hooks.py::step"
FILES = {"afd_plugin/hooks.py": PATCH, "tests/e2e/test_run_npu.py": "def test_dbo_graph():\n    run('--enable-dbo')\n"}


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    return frozen(kit, files=FILES)


def looking(case: FrozenUpgrade, *more: str) -> list[str]:
    """Return the arguments that look at HEAD without any upgrade."""
    sources = [f"--source=vllm={case.vllm.path}", f"--source=vllm-ascend={case.ascend.path}"]
    return ["inventory", "--at", "HEAD", *sources, "--current=vllm=v1.0", "--current=vllm-ascend=v1.0", *more]


def test_the_frozen_plugin_is_analysed_and_recorded(case: FrozenUpgrade) -> None:
    done = case.plugin.afd("inventory --json")
    assert done.code == 6  # AGENTS.md was not read yet
    data = done.json["data"]
    rows = {row["id"]: row for row in data["contracts"]}
    assert rows[MONKEYPATCH]["plugin"] == {"path": "afd_plugin/hooks.py", "symbol": "step", "line": 5, "end_line": 9}
    assert data["how"].startswith("static analysis")
    assert data["recorded"] is True
    assert data["coverage"]["markers"] == 1
    assert case.upgrade.inventory is not None
    assert case.upgrade.inventory.items[MONKEYPATCH] == "monkeypatch"
    assert case.upgrade.inventory.how == data["how"]
    case.plugin.afd("inventory --read AGENTS.md").ok()
    assert case.upgrade.phases["INVENTORY_AFD_CONTRACTS"].status == "PASS"
    # what was recorded already is left alone
    assert case.plugin.afd("inventory --json").ok().json["data"]["recorded"] is False


def test_the_analysis_is_of_the_base_commit_whatever_the_work_tree_holds(case: FrozenUpgrade) -> None:
    case.plugin.write("afd_plugin/hooks.py", "")
    case.plugin.commit("later")
    rows = case.plugin.afd("inventory --json").json["data"]["contracts"]
    assert MONKEYPATCH in {row["id"] for row in rows}


def test_looking_at_a_commit_needs_no_upgrade_and_records_nothing(case: FrozenUpgrade, kit: Kit) -> None:
    other = Repo(kit.folder / "other")
    case.plugin(["git", "clone", "-q", str(case.plugin.path), str(other.path)])
    before = other("git for-each-ref")
    done = other.afd([*looking(case), "--json"]).ok().json["data"]
    assert MONKEYPATCH in {row["id"] for row in done["contracts"]}
    assert done["at"] == other.head
    assert other("git for-each-ref") == before
    assert "phase" not in done
    text = other.afd(looking(case)).ok().out
    assert "nothing was recorded" in text


def test_looking_during_an_upgrade_uses_the_frozen_sources(case: FrozenUpgrade) -> None:
    before = case.plugin("git rev-parse refs/notes/afd/ledger")
    rows = case.plugin.afd("inventory --at HEAD --json").ok().json["data"]["contracts"]
    assert MONKEYPATCH in {row["id"] for row in rows}
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == before


# options, the kinds that are shown
FILTERS = [
    (["--kind", "monkeypatch"], {"monkeypatch"}),
    (["--kind", "monkeypatch", "--kind", "import"], {"monkeypatch", "import"}),
    (["--file", "afd_plugin/*.py", "--kind", "copied-body"], {"copied-body"}),
    (["--file", "nowhere/**"], set()),
    (["--unknown"], set()),
]


@pytest.mark.parametrize(("options", "kinds"), FILTERS)
def test_filters_choose_what_is_shown(case: FrozenUpgrade, options: list[str], kinds: set[str]) -> None:
    rows = case.plugin.afd([*looking(case, *options), "--json"]).ok().json["data"]["contracts"]
    assert {row["kind"] for row in rows} == kinds


def test_the_workbook_is_printed_as_markdown(case: FrozenUpgrade) -> None:
    text = case.plugin.afd([*looking(case), "--markdown"]).ok().out
    assert "| AFD file/symbol | Upstream repo/path/symbol |" in text
    assert "`afd_plugin/hooks.py:5` step | vllm `vllm/engine.py` Engine.step |" in text
    assert "a batch comes back as it went in.; AFD" in text
    assert "| DBO | tests/e2e/test_run_npu.py:2 | tests/e2e/test_run_npu.py | implemented |" in text
    assert "pcp: nothing found" in text


# what is asked, the exit code, a word of the message
WRONG = [
    (["inventory", "--at", "nowhere"], 2, "nowhere names nothing"),
    (["inventory", "--at", "HEAD", "--from", "rows.toml"], 2, "--at records nothing"),
    (["inventory", "--source", "vllm=."], 2, "go with --at"),
    (["inventory", "--at", "HEAD", "--source", "vllm=nowhere"], 2, "no source of vllm-ascend was given"),
    (["inventory", "annotate", "gone", "--invariant", "x"], 3, "names no contract"),
    (["inventory", "annotate", MONKEYPATCH], 2, "nothing is said"),
]


@pytest.mark.parametrize(("args", "code", "word"), WRONG)
def test_a_wrong_question_is_answered_in_one_sentence(
    case: FrozenUpgrade, args: list[str], code: int, word: str
) -> None:
    done = case.plugin.afd(args)
    assert done.code == code
    assert word in done.err
    assert "Traceback" not in done.err


def test_a_source_that_is_no_repository_is_named(case: FrozenUpgrade, kit: Kit) -> None:
    (kit.folder / "empty").mkdir()
    sources = ["--source", f"vllm={kit.folder / 'empty'}", "--source", f"vllm-ascend={case.ascend.path}"]
    done = case.plugin.afd(["inventory", "--at", "HEAD", *sources])
    assert done.code == 5
    assert "is no git repository" in done.err


def test_what_a_person_says_of_a_contract_is_recorded_once_and_shown(case: FrozenUpgrade) -> None:
    case.plugin.afd("inventory")
    said = ["inventory", "annotate", "monkeypatch:", "--invariant", "a batch is a batch", "--state-owner", "the engine"]
    assert case.plugin.afd([*said, "--dry-run", "--json"]).ok().json["data"]["recorded"] is False
    assert case.upgrade.annotations == {}
    assert case.plugin.afd([*said, "--json"]).ok().json["data"]["recorded"] is True
    assert case.plugin.afd([*said, "--json"]).ok().json["data"]["recorded"] is False
    assert case.upgrade.annotations[MONKEYPATCH] == {"invariant": "a batch is a batch", "state_owner": "the engine"}
    told = case.plugin.afd(["inventory", "annotate", MONKEYPATCH, "--removal", "never"]).ok().out
    assert told.splitlines()[:2] == [f"{MONKEYPATCH}: recorded", "  removal: never"]
    assert case.upgrade.annotations[MONKEYPATCH]["invariant"] == "a batch is a batch"
    rows = case.plugin.afd("inventory --json").json["data"]["contracts"]
    row = next(row for row in rows if row["id"] == MONKEYPATCH)
    assert (row["invariant"], row["removal"]) == ("a batch is a batch", "never")


def test_annotating_makes_nothing_stale(case: FrozenUpgrade) -> None:
    case.plugin.afd("inventory --read AGENTS.md")
    before = case.upgrade.inventory
    case.plugin.afd(["inventory", "annotate", MONKEYPATCH, "--lifetime", "a step"]).ok()
    case.plugin.afd("inventory").ok()
    assert case.upgrade.inventory == before


def test_rows_given_by_hand_stay_until_they_are_replaced_with_a_reason(case: FrozenUpgrade) -> None:
    case.plugin.write(".git/rows.json", json.dumps({"contract": [], "feature": [], "read": []}))
    case.plugin.afd("inventory --from .git/rows.json")
    assert case.plugin.afd("inventory --json").json["data"]["how"] == "by hand"
    case.plugin.afd(["inventory", "--replace", "the analysis is there"])
    assert case.upgrade.inventory is not None
    assert case.upgrade.inventory.how.startswith("static analysis")


def cache_of(case: FrozenUpgrade) -> Path:
    return AnalysisCache(case.session.common_dir).folder


def answers(case: FrozenUpgrade) -> Any:
    return case.plugin.afd([*looking(case), "--json"]).ok().json["data"]


def test_a_result_is_kept_and_the_cache_may_be_deleted_or_damaged_at_any_moment(case: FrozenUpgrade) -> None:
    first = answers(case)
    (result,) = cache_of(case).glob("inventory-*")
    assert answers(case) == first
    result.unlink()
    assert answers(case) == first  # from the modules that were kept
    for kept in cache_of(case).iterdir():
        kept.write_bytes(b"no pickle")
    assert answers(case) == first
    for kept in cache_of(case).iterdir():
        kept.unlink()
    assert answers(case) == first


def test_a_kept_result_holds_nothing_but_values(case: FrozenUpgrade, tmp_path: Path) -> None:
    cache = AnalysisCache(tmp_path)
    cache.put("key", Inventory((), (), {}))
    assert cache.get("key") == Inventory((), (), {})
    (cache.folder / "evil").write_bytes(b"cos\nsystem\n(S'echo bad'\ntR.")  # a pickle that would run a command
    assert cache.get("evil") is None


def test_another_upstream_commit_is_another_result(case: FrozenUpgrade) -> None:
    answers(case)
    args = [item.replace("vllm=v1.0", "vllm=v2.0") for item in looking(case)]
    case.plugin.afd([*args, "--json"]).ok()
    assert len(list(cache_of(case).glob("inventory-*"))) == 2


def test_what_a_clone_lacks_is_unknown_and_counted(case: FrozenUpgrade) -> None:
    blob = case.vllm("git rev-parse v1.0:vllm/engine.py")
    (case.vllm.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    data = answers(case)
    assert data["coverage"]["blobs_missing"] == {"vllm": 1}
    reasons = {row["unknown"] for row in data["contracts"] if row["kind"] == "import"}
    assert reasons == {"vllm/engine.py cannot be read: its blob is missing in this clone"}
