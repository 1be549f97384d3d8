from __future__ import annotations

import pytest

from git_afd.core.impacts.conditions import evaluations
from git_afd.core.stop_conditions import Answer, judge
from git_afd.core.workbook.impacts import Impact
from git_afd.core.workbook.inventory import Contract, PluginPlace, UpstreamPlace


def impact(name: str, rule: str, class_: str = "ARCHITECTURAL") -> Impact:
    return Impact(name, name, "removed", breaking=True, class_=class_, reason="gone", rule=f"{rule}: because")


def contract(name: str, kind: str, path: str = "plugin/a.py") -> Contract:
    return Contract(name, kind, PluginPlace(path), UpstreamPlace("vllm"))


# kind of the contract, rule of its impact, the conditions that nothing speaks for
CASES = [
    ("monkeypatch", "body", {2, 3}),  # a changed body is a local matter
    ("monkeypatch", "seam-gone", {2}),
    ("copied-body", "class-gone", {2}),
    ("attribute-read", "class-gone", {2, 3}),  # no patch is lost
    ("inherited-read", "base-changed", {3}),
]


@pytest.mark.parametrize(("kind", "rule", "clear"), CASES)
def test_the_comparison_clears_only_what_nothing_speaks_for(kind: str, rule: str, clear: set[int]) -> None:
    found = evaluations("D-1", [impact("i", rule)], {"i": contract("i", kind)})
    assert {item.number for item in found if item.clear} == clear
    assert {item.number for item in found} == {2, 3, 4, 5, 6}  # pair and environment are not its business


def test_what_is_cleared_names_the_comparison_as_evidence() -> None:
    found = {item.number: item for item in evaluations("D-1", [], {})}
    rows = {row.condition.number: row for row in judge([], [], [], "F-1", [], tuple(found.values())).rows}
    assert (rows[2].standing, rows[2].how, rows[2].evidence) == ("does not hold", "evaluated", ("D-1",))
    assert [number for number, row in rows.items() if row.standing == "unanswered"] == [4, 5, 6, 7]


def test_what_speaks_for_a_condition_is_asked_and_an_answer_decides() -> None:
    rows = [impact("i", "seam-gone")]
    told = evaluations("D-1", rows, {"i": contract("i", "monkeypatch")})
    asked = judge([], [], [], "F-1", ["i"], told)
    assert asked.rows[2].standing == "unanswered"
    assert asked.rows[2].evidence == ("i",)
    assert asked.unaddressed == ("i",)  # what only the tool shows was not answered
    answered = judge([Answer(3, holds=True, evidence=("i",), why="no seam")], [], [], "F-1", ["i"], told)
    assert answered.rows[2].standing == "holds"
    assert answered.holding == (3,)
    assert answered.unaddressed == ()


def test_impacts_in_several_parts_of_the_plugin_are_shown_for_the_condition_about_subsystems() -> None:
    rows = [impact("i", "class-gone"), impact("j", "class-gone")]
    apart = {"i": contract("i", "call", "plugin/a/x.py"), "j": contract("j", "call", "plugin/b/y.py")}
    together = {name: contract(name, "call") for name in "ij"}
    assert [item.evidence for item in evaluations("D", rows, apart) if item.number == 5] == [("i", "j")]
    assert [item.evidence for item in evaluations("D", rows, together) if item.number == 5] == [()]
