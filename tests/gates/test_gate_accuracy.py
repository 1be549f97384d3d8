"""``git afd gate accuracy``: recomputed from the result files of this very run, against the frozen bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench import MEASURE, accuracy_policy, command, gate, judge_run, measuring, npu_host, python, shown, upgrade
from kit import Done, Kit
from kit_upgrade import FrozenUpgrade

BEFORE = "NPU_BASIC_E2E_GATE"
PHASE = "NPU_ACCURACY_GATE"
BAR = "tests/e2e/test_accuracy.py"


def accuracy(up: FrozenUpgrade, folder: Path, *options: str, **env: str) -> Done:
    return gate(up, "accuracy", *options, env={**npu_host(folder), **env})


def test_full_accuracy_in_both_modes_passes_and_says_its_numbers(kit: Kit, tmp_path: Path) -> None:
    up = upgrade(kit, accuracy_policy(), up_to=BEFORE)
    done = accuracy(up, tmp_path, "--json").ok()
    metrics = done.json["data"]["metrics"]
    assert {mode: (one["value"], one["effective"], one["full"]) for mode, one in metrics.items()} == {
        "eager": (0.5, 1319, True),
        "graph": (0.5, 1319, True),
    }
    run = up.upgrade.runs[done.json["data"]["run"]]
    assert {"eager/results_1.json", "graph/results_1.json", "host/npu-smi.before.txt"} <= set(run.artifacts)
    assert shown(up, PHASE)["status"] == "PASS"


COPY = """import glob, os, shutil, sys
os.makedirs(sys.argv[1])
shutil.copy(sorted(glob.glob(sys.argv[2]))[0], sys.argv[1])
"""
TWICE = MEASURE + "json.dump(body, open(out + '/results_2.json', 'w'))\n"
CUT = MEASURE + "p = out + '/results_1.json'; os.truncate(p, 40)\n"
NAN = MEASURE.replace("value}", "float('nan')}")


def graph(code: str, *words: str) -> str:
    run = (*python(code), "{out}/graph", *(words or ("0.5", "1319", "1319")))
    return command("accuracy", "graph", *run, mode="'graph'", results="'graph/results*.json'")


TRICKS = [
    (measuring("graph", 0.1), 1, "below the frozen threshold 25.00 %"),
    (graph(NAN), 6, "a fraction from 0 to 1"),
    (graph(CUT), 6, "lm-eval's result file, one JSON object"),
    (graph(COPY, "{out}/eager/*.json"), 6, "the same file"),  # one file for both modes
    (graph(TWICE), 6, "is one of 2 results of mode graph"),
    (graph("pass"), 6, "was not measured in mode graph"),
]


@pytest.mark.parametrize(("table", "code", "text"), TRICKS)
def test_a_result_that_is_not_one_full_run_of_its_mode_does_not_count(
    kit: Kit, tmp_path: Path, table: str, code: int, text: str
) -> None:
    up = upgrade(kit, accuracy_policy(measuring("eager"), table), up_to=BEFORE)
    done = accuracy(up, tmp_path)
    assert done.code == code
    assert text in done.out
    assert shown(up, PHASE)["status"] == {1: "FAIL", 6: "BLOCKED"}[code]


def test_seven_samples_are_kept_as_a_diagnostic_and_the_gate_says_what_full_would_be(kit: Kit, tmp_path: Path) -> None:
    """Scenario U1."""
    up = upgrade(kit, accuracy_policy(measuring("eager"), measuring("graph", 1.0, 7)), up_to=BEFORE)
    data: dict[str, Any] = accuracy(up, tmp_path, "--json").json["data"]
    assert (data["status"], data["diagnostic"]) == ("BLOCKED", True)
    assert "7 of 1319 samples" in data["blocker"]
    assert "7 of 1319 samples" in shown(up, PHASE)["blocker"]


REPLAYED = """import os, shutil, sys
if os.path.exists(sys.argv[2]):
    shutil.copytree(sys.argv[2], sys.argv[1])
    sys.exit()
sys.argv[2:3] = []
"""


def test_a_result_of_an_earlier_run_is_foreign(kit: Kit, tmp_path: Path) -> None:
    held = str(tmp_path / "held")
    code = REPLAYED + MEASURE + f"import shutil; shutil.copytree(out, {held!r})\n"
    up = upgrade(kit, accuracy_policy(measuring("eager"), graph(code, held, "0.5", "1319", "1319")), up_to=BEFORE)
    first = accuracy(up, tmp_path, "--json").ok().json["data"]["run"]
    done = accuracy(up, tmp_path)
    assert done.code == 6
    assert f"the result of graph is that of run {first}" in done.out
    # The run that measured it stays what it was when somebody replays its result later.
    assert judge_run(up.session, up.upgrade, up.upgrade.runs[first]).status == "PASS"


LOWERS = ["AFD_GSM8K_LIMIT", "AFD_GSM8K_THRESHOLD", "AFD_SERVER_GSM8K_TOLERANCE"]


@pytest.mark.parametrize("name", LOWERS)
def test_a_variable_that_lowers_anything_is_refused_by_name(kit: Kit, tmp_path: Path, name: str) -> None:
    up = upgrade(kit, accuracy_policy(), up_to=BEFORE)
    done = accuracy(up, tmp_path, **{name: "all"})
    assert done.code == 3
    assert name in done.err
    assert f"fix: unset {name}" in done.err
    assert accuracy(up, tmp_path, "--diagnostic", "--dry-run", **{name: "7"}).code == 0  # it decides nothing


MOVED = [
    ("GSM8K_THRESHOLD = 0.2\n", 1, f"{BAR}:1 is 0.2; at the freeze it was 0.3"),  # lowered
    ("# gone\n", 6, f"{BAR}:1 is nothing; at the freeze it was 0.3"),
    ("\n\nGSM8K_THRESHOLD = 0.3\n", 0, ""),  # only moved down
]


@pytest.mark.parametrize(("text", "code", "said"), MOVED)
def test_a_threshold_that_moved_in_the_tree_is_named_by_file_and_line(
    kit: Kit, tmp_path: Path, text: str, code: int, said: str
) -> None:
    up = upgrade(kit, accuracy_policy(), files={BAR: "GSM8K_THRESHOLD = 0.3\n"})
    up.plugin.commit("an upgrade that helps itself", {BAR: text})
    up.pass_up_to(BEFORE)
    done = accuracy(up, tmp_path)
    assert done.code == code, done.out + done.err
    assert said in done.out


def test_the_bar_is_the_frozen_value_of_the_plugin_where_it_is_higher_than_the_policys(
    kit: Kit, tmp_path: Path
) -> None:
    up = upgrade(kit, accuracy_policy(), up_to=BEFORE, files={BAR: "GSM8K_THRESHOLD = 0.6\n"})
    done = accuracy(up, tmp_path)
    assert done.code == 1
    assert "below the frozen threshold 60.00 %" in done.out
    assert f"the bar is 60.00 %; bar stands in {BAR}:1" in done.out
