from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kit import Kit
from kit_upgrade import FrozenUpgrade, frozen
from rows import DIFF, INVENTORY, with_inventory

from git_afd.actions.inventory import Request
from git_afd.actions.inventory import inventory as act


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    return frozen(kit)


def inventory(case: FrozenUpgrade, text: str, *more: str, name: str = "rows.toml") -> Any:
    case.plugin.write(f".git/{name}", text)
    return case.plugin.afd(["inventory", "--json", "--from", f".git/{name}", *more])


# one wrong thing per row: what is replaced in the good file, by what, line of the fault, field, a word of the reason
WRONG = (
    ('patch.py", symbol = "step"', 'gone.py", symbol = "step"', 4, "plugin.path", "is no file at the frozen base"),
    ('symbol = "step"', 'symbol = "leap"', 4, "plugin.symbol", "defines no leap"),
    (
        'symbol = "step" }',
        'symbol = "step", line = 9 }',
        4,
        "plugin.line",
        "outside step, which stands on lines 1 to 2",
    ),
    ('symbol = "Engine.step"', 'symbol = "Engine.leap"', 5, "upstream.symbol", "at vllm.current"),
    # what exists only at the target is not what the plugin relies on now
    ('symbol = "Worker.load"', 'symbol = "Worker.load_model"', 17, "upstream.symbol", "defines no Worker.load_model"),
    ("vllm/engine.py", "/vllm/engine.py", 5, "upstream.path", "is not relative"),
    ('name = "vllm",', 'name = "sglang",', 5, "upstream.name", "'sglang' is not known"),
    ('kind = "call"', 'kind = "friendship"', 15, "kind", "'friendship' is not known"),
    ('invariant = "a batch comes back as it went in"', "", 1, "invariant", "is missing"),  # a patch keeps something
    ("removal =", "removel =", 11, "removel", "is no field"),
    ('id = "worker-load"', 'id = "engine-step"', 14, "id", "is the id of row 1 too"),
    ('id = "worker-load"', 'id = "worker load"', 14, "id", "is no id"),  # it must fit into a command line
    ("tests/test_patch.py::test_step", "tests/test_patch.py::test_leap", 10, "tests", "defines no test_leap"),
    ('"tests/test_patch.py:1"', '"tests/gone.py"', 22, "evidence", "neither a contract nor a file"),
    ('evidence = ["tests/test_patch.py:1", "engine-step"]', "", 19, "evidence", "is missing"),  # a claim needs evidence
    ('status = "unit-only"', 'status = "fine"', 23, "status", "'fine' is not known"),
    ('path = "AGENTS.md"', 'path = "README.md"', 26, "path", "is no document of the freeze"),
    ('by = "Ada', 'blob = "' + "a" * 40 + '"\nby = "Ada', 27, "blob", "another text was read"),
    ("[[read]]", "[[reed]]", 25, "", "is no table of this file"),
    ("tests = [", "tests = [7, ", 10, "tests", "a list of texts was expected"),
    (
        'plugin = { path = "afd_plugin/other.py", symbol = "OTHER" }',
        "plugin = 3",
        16,
        "plugin",
        "an object was expected",
    ),
)


@pytest.mark.parametrize(("old", "new", "line", "field", "word"), WRONG)
def test_a_wrong_row_is_refused_with_its_place_and_nothing_is_recorded(
    case: FrozenUpgrade, old: str, new: str, line: int, field: str, word: str
) -> None:
    assert INVENTORY.count(old) == 1
    before = case.plugin("git rev-parse refs/notes/afd/ledger")
    file = case.plugin.write(".git/rows.toml", INVENTORY.replace(old, new))
    outcome = act(case.session, Request(file, "rows.toml"))
    assert outcome.exit == 3
    found = [item for item in outcome.findings if word in item.message]
    assert found, outcome.findings
    assert found[0].place == f"rows.toml:{line}"
    assert f"{field}: " in found[0].message
    assert found[0].remedy
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == before


def test_all_faults_of_a_file_are_shown_at_once(case: FrozenUpgrade) -> None:
    text = INVENTORY.replace('"step"', '"leap"').replace("Worker.load", "Worker.fly").replace("unit-only", "fine")
    assert len(inventory(case, text).json["findings"]) == 3


def test_good_rows_pass_the_phase_and_fill_in_what_the_commits_say(case: FrozenUpgrade) -> None:
    done = inventory(case, INVENTORY).ok()
    data = done.json["data"]
    first = data["contracts"][0]
    assert first["plugin"] == {"path": "afd_plugin/patch.py", "symbol": "step", "line": 1, "end_line": 2}
    assert first["upstream"]["module"] == "vllm.engine"
    assert {"signature", "markers", "writers", "unknown"} <= first.keys()
    assert data["reads"][0]["blob"] == case.upgrade.freeze.body["documents"]["AGENTS.md"]  # type: ignore[index]
    assert data["coverage"]["unknown_axes"][0] == "runner-generation"  # an omitted cell is unknown, never excluded
    assert data["how"] == "by hand"
    phase = case.upgrade.phases["INVENTORY_AFD_CONTRACTS"]
    assert (phase.status, phase.next_allowed_action) == ("PASS", "git afd diff")
    assert case.upgrade.inventory is not None
    assert phase.evidence == (case.upgrade.inventory.record,)
    assert case.upgrade.inventory.items == {"engine-step": "monkeypatch", "worker-load": "call"}


def test_the_same_file_again_changes_nothing(case: FrozenUpgrade) -> None:
    inventory(case, INVENTORY).ok()
    before = case.plugin("git rev-parse refs/notes/afd/ledger")
    again = inventory(case, INVENTORY).ok()
    assert again.json["data"]["recorded"] is False
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == before


def test_json_says_the_same_as_toml(case: FrozenUpgrade) -> None:
    import tomllib

    inventory(case, INVENTORY).ok()
    document = tomllib.loads(INVENTORY)
    assert inventory(case, json.dumps(document, indent=1), name="rows.json").ok().json["data"]["recorded"] is False
    document["contract"][1]["plugin"]["symbol"] = "NOBODY"
    finding = inventory(case, json.dumps(document, indent=1), name="rows.json").json["findings"][0]
    line = int(finding["place"].rpartition(":")[2])
    assert "NOBODY" in json.dumps(document, indent=1).split("\n")[line - 1]


# a file that is no table at all: its name and text, the word that is said
UNREADABLE = (
    ("rows.toml", "[[contract]\n", "rows.toml:1 is no TOML"),
    ("rows.json", '{\n "contract": [,]}', "rows.json:2 is no JSON"),
    ("rows.json", "[]", "holds no object"),
    ("rows.json", '{"contract": [], "contract": []}', "stands twice"),
    ("rows.json", '{"contract": NaN}', "NaN is not a JSON number"),
)


@pytest.mark.parametrize(("name", "text", "word"), UNREADABLE)
def test_an_unreadable_file_is_a_usage_fault_that_names_it(
    case: FrozenUpgrade, name: str, text: str, word: str
) -> None:
    done = inventory(case, text, name=name)
    assert done.code == 2
    assert word in done.json["findings"][0]["message"]


def test_a_missing_file_is_named(case: FrozenUpgrade) -> None:
    done = case.plugin.afd("inventory --from nowhere.toml")
    assert done.code == 2
    assert "nowhere.toml cannot be read" in done.err


def test_the_phase_waits_until_everything_was_read(case: FrozenUpgrade) -> None:
    unread = INVENTORY[: INVENTORY.index("[[read]]")]
    done = inventory(case, unread)
    assert done.code == 6
    assert done.json["next"] == "git afd inventory --read AGENTS.md"
    assert case.upgrade.recorded["INVENTORY_AFD_CONTRACTS"] == "BLOCKED"
    assert "not recorded as read: AGENTS.md" in case.plugin.afd("status").out
    assert case.plugin.afd("inventory --read README.md").code == 2
    assert case.plugin.afd("inventory --read AGENTS.md").code == 0
    assert case.upgrade.recorded["INVENTORY_AFD_CONTRACTS"] == "PASS"


@pytest.mark.parametrize("table", ["contract", "feature"])
def test_a_file_without_contracts_or_cells_does_not_pass(case: FrozenUpgrade, table: str) -> None:
    import tomllib

    document = {name: rows for name, rows in tomllib.loads(INVENTORY).items() if name != table}
    for feature in document.get("feature", []):
        feature["evidence"] = ["AGENTS.md"]
    done = inventory(case, json.dumps(document), name="rows.json")
    assert done.code == 6
    assert "is listed" in done.json["findings"][0]["message"]


def test_a_dry_run_writes_nothing_at_all(case: FrozenUpgrade) -> None:
    case.plugin.write(".git/rows.toml", INVENTORY)
    before = everything(case.plugin.path)
    done = case.plugin.afd("inventory --from .git/rows.toml --dry-run").ok()
    assert "would be recorded" in done.out
    assert everything(case.plugin.path) == before


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a repository but the state cache, which any reader may write."""
    found = (path for path in folder.rglob("*") if path.is_file() and "afd/cache" not in str(path))
    return {str(path): path.read_bytes() for path in found}


def test_rows_that_later_phases_rest_on_are_replaced_only_with_a_reason(case: FrozenUpgrade) -> None:
    inventory(case, INVENTORY).ok()
    case.plugin.write(".git/diff.toml", DIFF)
    case.plugin.afd("diff --from .git/diff.toml").ok()
    changed = INVENTORY.replace("one call", "one step")
    refused = inventory(case, changed)
    assert refused.code == 3
    assert "would become stale" in refused.json["findings"][0]["message"]
    assert refused.json["findings"][0]["remedy"] == "git afd inventory --from FILE --replace WHY"
    inventory(case, changed, "--replace", "the lifetime was wrong").ok()
    status = {row["phase"]: row["status"] for row in case.plugin.afd("status --json").json["data"]["phases"]}
    assert status["INVENTORY_AFD_CONTRACTS"] == "PASS"
    assert status["DIFF_BOTH_UPSTREAMS"] == "stale"
    case.plugin.afd("diff --from .git/diff.toml").ok()  # the same rows, compared with the new inventory
    status = {row["phase"]: row["status"] for row in case.plugin.afd("status --json").json["data"]["phases"]}
    assert status["DIFF_BOTH_UPSTREAMS"] == "PASS"


def test_the_recorded_inventory_is_shown_without_options(case: FrozenUpgrade) -> None:
    assert case.plugin.afd("inventory").code == 6
    inventory(case, INVENTORY).ok()
    shown = case.plugin.afd("inventory").ok().out
    assert "engine-step" in shown
    assert "gap:" not in shown
    assert "read: AGENTS.md" in shown


def test_a_source_that_is_gone_blocks(case: FrozenUpgrade) -> None:
    case.vllm.path.rename(case.vllm.path.with_name("elsewhere"))
    done = inventory(case, INVENTORY)
    assert done.code == 6
    assert "source of vllm is no longer at" in done.json["findings"][0]["message"]


def test_the_order_of_phases_is_kept(case: FrozenUpgrade) -> None:
    case.plugin.write(".git/diff.toml", DIFF)
    done = case.plugin.afd("diff --from .git/diff.toml")
    assert done.code == 3
    assert "INVENTORY_AFD_CONTRACTS is not run" in done.err
    assert "fix: git afd inventory" in done.err


def test_rows_whose_artifact_is_lost_block_until_the_file_is_read_again(case: FrozenUpgrade) -> None:
    with_inventory(case)
    assert case.upgrade.inventory is not None
    digest = case.upgrade.inventory.artifact
    stored = case.plugin.path / ".git/afd/artifacts" / digest[:2] / digest
    stored.unlink()
    case.plugin("git update-ref -d refs/afd/artifacts")
    status = {row["phase"]: row for row in case.plugin.afd("status --json").json["data"]["phases"]}
    assert status["INVENTORY_AFD_CONTRACTS"]["status"] == "BLOCKED"
    assert case.plugin.afd("inventory").code == 6
    inventory(case, INVENTORY).ok()
    assert stored.exists()
    assert case.plugin.afd("status").ok().out.count("PASS") == 2
