"""``git afd gate basic``: prerequisites by name, categories in the policy's order, cells of the frozen matrix."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from bench import command, gate, judge_run, npu_host, policy, python, shown, upgrade
from kit import Kit
from kit_upgrade import phase_body

from git_afd.core.command import Command
from git_afd.core.devices import VISIBLE, visible
from git_afd.core.evidence.cells import RanTests, coverage
from git_afd.core.evidence.expectation import Expectation, vacant
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.needs import Wanted, wanted
from git_afd.core.policy import CellTests
from git_afd.core.records import drafted
from git_afd.core.workbook.inventory import Feature

BEFORE = "TARGET_NATIVE_NPU_CONTROL"
PHASE = "NPU_BASIC_E2E_GATE"


def pytest_of(folder: str, **more: str) -> str:
    """Return the command of one category: pytest on one folder of the plugin."""
    run = ("{python}", "-m", "pytest", "-q", f"tests/{folder}", f"--junitxml={{out}}/{folder}.xml")
    return command("basic", folder, *run, junit=f"'{folder}.xml'", category=f"'{folder}'", **more)


NEEDS = """[gates.basic.needs]
tools = ["vllm-of-nowhere", "${AFD_TOOL:-sh}"]
modules = ["pytest", "torch_of_nowhere"]
paths = ["$AFD_MODEL", "${AFD_DATA:-no/data}", "tests"]
"""


def test_every_missing_prerequisite_is_named_before_anything_starts(kit: Kit, tmp_path: Path) -> None:
    table = "[gates.basic]\nnpu = true\ndevices = 2\n" + NEEDS + command("basic", "e2e", *python("print('served')"))
    up = upgrade(kit, policy(table), up_to=BEFORE)
    done = gate(up, "basic", env=npu_host(tmp_path))
    assert done.code == 6
    for said in (
        "the gate needs 2 devices and this host has 1",
        "vllm-of-nowhere is no program on PATH",
        "the variable AFD_MODEL is not set",
        "no/data (AFD_DATA) does not exist",
        f"{sys.executable} has no module named torch_of_nowhere",
    ):
        assert said in done.out
        assert said in shown(up, PHASE)["blocker"]
    assert "named pytest" not in done.out
    assert not up.upgrade.runs.keys() - {f"run-{number}" for number in range(9)}  # nothing started


# what the policy says, environment, what it stands for
WORDS = [
    ("vllm", {}, Wanted("vllm")),
    ("$MODEL", {"MODEL": "/m"}, Wanted("/m", "MODEL")),
    ("${MODEL}", {}, Wanted("", "MODEL")),
    ("${MODEL:-/d}", {}, Wanted("/d", "MODEL")),
    ("${MODEL:-/d}", {"MODEL": ""}, Wanted("/d", "MODEL")),  # as a shell reads it
    ("a$MODEL", {"MODEL": "/m"}, Wanted("a$MODEL")),  # the whole word or nothing
]


@pytest.mark.parametrize(("word", "environment", "value"), WORDS)
def test_a_need_may_be_what_a_variable_says(word: str, environment: Mapping[str, str], value: Wanted) -> None:
    assert wanted(word, environment) == value


# chips of the host, what is made visible, usable
DEVICES = [(4, None, 4), (4, "", 4), (4, "0,1", 2), (4, "0, 1,1", 2), (2, "0,1,2,3", 2)]


@pytest.mark.parametrize(("chips", "said", "usable"), DEVICES)
def test_devices_that_the_environment_hides_do_not_count(chips: int, said: str | None, usable: int) -> None:
    assert visible(chips, {} if said is None else {VISIBLE: said}) == usable


CATEGORIES = "[gates.basic]\nnpu = true\ncategories = ['features', 'models', 'scenarios']\n"
FEATURES = "def test_graph():\n    assert True\n\ndef test_eager():\n    assert {}\n"
ROWS = (
    Feature(
        "graph", "execution-mode", ("tests/features/test_a.py:1",), npu_test="tests/features/test_a.py::test_graph"
    ),
    Feature(
        "eager", "execution-mode", ("tests/features/test_a.py:4",), npu_test="tests/features/test_a.py::test_eager"
    ),
    Feature("DBO", "dbo-ubatch", ("tests/models/test_m.py:3",)),
    Feature("PCP: nothing found", "pcp"),
    Feature("refused: DBO with PCP", "pcp", ("afd_plugin/patch.py:1",), status="unsupported"),
)


def test_categories_run_in_the_policys_order_and_uncovered_cells_are_owed(kit: Kit, tmp_path: Path) -> None:
    files = {
        "tests/features/test_a.py": FEATURES.format("False"),
        "tests/models/test_m.py": "def test_sync():\n    assert True\n",
        "tests/scenarios/test_s.py": "def test_unmarked():\n    assert False\n",
    }
    text = policy(  # written in another order than the categories stand
        CATEGORIES + pytest_of("models"),
        pytest_of("features"),
        pytest_of("scenarios", **{"may-be-empty": "true"}).replace('"-q"', '"-q", "-k", "never"'),
    )
    up = upgrade(kit, text, up_to=BEFORE, files=files)
    artifact = up.session.artifacts.put_bytes(json.dumps({"features": [row_json(row) for row in ROWS]}).encode())
    inventory = {"how": "by hand", "artifact": artifact, "items": {"C-1": "patch"}}
    up.record(("inventory", inventory), ("phase", phase_body("INVENTORY_AFD_CONTRACTS", "PASS", [drafted(0)])))
    for name in ("DIFF_BOTH_UPSTREAMS", "ARCHITECTURE_GATE"):
        up.decide(name, "PASS")
    done = gate(up, "basic", "--json", env=npu_host(tmp_path))
    data = done.json["data"]
    assert "categories" in data, done.out
    assert [(one["name"], one["status"]) for one in data["categories"]] == [
        ("features", "FAIL"),
        ("models", "PASS"),
        ("scenarios", "PASS"),
    ]
    assert data["cells"] == {
        "covered": {"graph": "tests/features/test_a.py::test_graph", "DBO": "tests/models/test_m.py::test_sync"},
        "owed": ["eager", "PCP: nothing found"],  # its test failed; nobody tests it
        "outside": [],
    }
    kept = next(
        one.body for one in up.session.ledger.records() if one.body.get("run") == data["run"] and "cells" in one.body
    )
    assert kept["cells"] == data["cells"]
    assert kept["categories"] == data["categories"]
    assert "nothing-to-run" in {finding["code"] for finding in done.json["findings"]}
    now = up.upgrade
    assert now.inventory is not None
    lost = replace(now, inventory=replace(now.inventory, artifact="0" * 64))
    again = judge_run(up.session, lost, now.runs[data["run"]])
    assert (again.status, again.cells) == ("FAIL", None)  # rows that are gone excuse nothing and are said
    assert "cells-unknown" in {finding.code for finding in again.findings}


def row_json(row: Feature) -> dict[str, object]:
    return {name: list(value) if isinstance(value := getattr(row, name), tuple) else value for name in row.__slots__}


A = "tests/e2e/test_a.py"
RAN = RanTests(
    passed=frozenset({f"{A}::test_x[1-a]", f"{A}::TestC::test_y"}),
    selected=frozenset({f"{A}::test_x[1-a]", f"{A}::TestC::test_y", f"{A}::test_z"}),
    listed=frozenset({f"{A}::test_x[1-a]", f"{A}::test_z", "tests/e2e/test_gpu.py::test_g"}),
)
MAPPED = (CellTests("W8A8*", "tests/e2e/test_a.py::test_x[*"),)

# a row of the matrix, and where it ends
CELLS = [
    (Feature("a", npu_test=f"{A}::test_x"), "covered"),  # whatever its parameters
    (Feature("a", npu_test=f"{A}::test_x[1-a]"), "covered"),
    (Feature("a", npu_test=f"{A}::test_x[2]"), "owed"),  # another one
    (Feature("a", npu_test=f"{A}::test_z"), "owed"),  # selected, and it did not pass
    (Feature("a", npu_test=f"{A}::TestC::test_y"), "covered"),
    (Feature("a", npu_test=A), "covered"),  # the file is all that the row says
    (Feature("a", evidence=("afd_plugin/x.py:3", f"{A}:7")), "covered"),
    (Feature("a", evidence=("recipe/x.sh", "docs/a.md:1")), "owed"),  # said, and not tested
    (Feature("a", npu_test="tests/e2e/test_gpu.py"), "outside"),  # tested on other hardware only
    (Feature("a", evidence=("tests/e2e/test_gpu.py:1", f"{A}:1")), "covered"),
    (Feature("a"), "owed"),
    (Feature("W8A8 + EP"), "covered"),  # by the policy's word
    (Feature("a", npu_test=A, status="unsupported"), ""),  # the plugin refuses it: nothing to cover
]


@pytest.mark.parametrize(("row", "where"), CELLS)
def test_a_cell_is_covered_only_by_a_test_that_passed(row: Feature, where: str) -> None:
    said = coverage([row], RAN, MAPPED)
    assert {name: list(getattr(said, name)) for name in said.__slots__ if getattr(said, name)} == (
        {where: [row.cell]} if where else {}
    )


EMPTY = Command("s", ("pytest",), junit="s.xml", may_be_empty=True)
NONE = Expectation(())

# the command, what was collected before it, how it ended, whether there was nothing to run
VACANT = [
    (EMPTY, NONE, 5, True),
    (replace(EMPTY, may_be_empty=False), NONE, 5, False),  # the policy does not allow it
    (EMPTY, Expectation(("tests/t.py::test_a",)), 5, False),  # something was there and is gone
    (EMPTY, Expectation(None, "BLOCKED"), 5, False),  # nobody knows
    (EMPTY, Expectation((), "FAIL"), 5, False),  # a test file that was lost
    (EMPTY, NONE, 0, False),
    (EMPTY, NONE, None, False),
]


@pytest.mark.parametrize(("one", "expected", "code", "said"), VACANT)
def test_an_empty_selection_is_allowed_only_by_the_policy(
    one: Command, expected: Expectation, code: int | None, said: bool
) -> None:
    assert vacant(one, Ended("s", ("pytest",), code), expected) is said
