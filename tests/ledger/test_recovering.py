"""What the records of a failure amount to: what blocks, what closes it, and the order of the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from chronicle import Chronicle, cause, commit, passed, phase, run

from git_afd.core.failing import (
    check_failure,
    closed_by,
    refuse_claim,
    refuse_parity,
    refuse_repetition,
    refuse_unclassified,
)
from git_afd.core.recovering import next_step, refuse_shortcut
from git_afd.core.standing import Now, next_action, standing
from git_afd.core.state import RootCause
from git_afd.errors import Refused

ID = "tests/e2e/test_dbo.py::test_graph"
BROKEN, FIXED = {"content": "broken"}, {"content": "fixed"}


def failed(gate: str = "basic", class_: str = "afd", *, architecture: bool = False) -> Chronicle:
    """An upgrade whose gate failed on content `broken`, and what somebody said of it (empty: nothing)."""
    number = {"static": 5, "native": 6, "basic": 7, "accuracy": 8}[gate]
    told = passed(number, bound=BROKEN)
    fail(told, gate, number)
    if class_:
        body = {"op": "classify", "failure": "F-1", "class": class_, "why": "seen"}
        told.add("failure", {**body, "architecture": True} if architecture else body)
    return told


def fail(told: Chronicle, gate: str, number: int) -> None:
    bad = told.add("run", run("R-1", gate, "FAIL", bound=BROKEN))
    name = {5: "STATIC_AND_UNIT_GATE", 6: "TARGET_NATIVE_NPU_CONTROL", 7: "NPU_BASIC_E2E_GATE"}.get(number)
    told.add("phase", phase(name or "NPU_ACCURACY_GATE", "FAIL", (bad.id,)))
    told.add("failure", {"op": "open", "failure": "F-1", "run": "R-1", "commands": ["models"], "failing": [ID]})


def fixed(gate: str = "basic") -> Chronicle:
    """The same with a committed fix: HEAD holds content `fixed` now."""
    told = failed(gate)
    told.add("root-cause", cause(kind="failure-fix", failure="F-1", tests=["tests/t.py"]))
    told.add("commit", commit())
    return told


def ran(told: Chronicle, name: str, status: str = "PASS", **more: str) -> Chronicle:
    told.add("run", run(name, "basic", status, bound=FIXED, diagnostic=True, **more))
    return told


FIX = "git afd root-cause add --kind failure-fix --failure F-1"

# what stands in the records, what HEAD holds, the next step (empty: the gates in their order)
STEPS: list[tuple[Callable[[], Chronicle], str, str]] = [
    (failed, "broken", FIX),
    (failed, "fixed", ""),  # something else was committed: the gates say whether that was it
    (fixed, "fixed", "git afd gate basic --failure F-1"),
    (lambda: ran(fixed(), "R-2", "FAIL", failure="F-1"), "fixed", FIX),
    (lambda: ran(fixed(), "R-2", failure="F-1"), "fixed", "git afd gate basic --only models"),
    (lambda: ran(ran(fixed(), "R-2", failure="F-1"), "R-3", only="models"), "fixed", ""),
    # another commit since: what passed then says nothing now
    (lambda: ran(fixed(), "R-2", failure="F-1"), "moved on", "git afd gate basic --failure F-1"),
    (lambda: fixed("static"), "fixed", "git afd gate static --failure F-1"),
    # hours of measuring, or one request, are not narrowed: the complete gates come next
    (lambda: fixed("accuracy"), "fixed", ""),
    (lambda: fixed("native"), "fixed", ""),
    (lambda: failed("basic", "environment"), "broken", ""),  # the gate again, on the same content
    (lambda: failed("basic", "native-runtime"), "broken", "git afd gate native"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "content", "step"), STEPS)
def test_the_way_back_goes_from_narrow_to_whole(before: Callable[[], Chronicle], content: str, step: str) -> None:
    told = before()
    assert not told.complaints()
    assert next_step(told.up, content) == step
    assert next_action(told.up, standing(told.up, Now(content, "W"))) == step or not step


def test_a_fix_makes_the_gates_from_static_on_stale() -> None:
    rows = standing(fixed("accuracy").up, Now("fixed", "W"))
    assert [row.shown for row in rows[:9]] == [*["PASS"] * 5, *["stale"] * 3, "FAIL"]


def refusal(act: Callable[..., None], *words: object) -> str:
    try:
        act(*words)
    except Refused as reason:
        return f"{reason.code}: {reason.fix}"
    return ""


def test_the_complete_gate_waits_for_the_narrow_steps() -> None:
    told = fixed()
    assert refusal(refuse_shortcut, told.up, "basic", "fixed") == "narrow-first: git afd gate basic --failure F-1"
    ran(told, "R-2", failure="F-1")
    assert refusal(refuse_shortcut, told.up, "basic", "fixed") == "narrow-first: git afd gate basic --only models"
    ran(told, "R-3", only="models")
    assert refusal(refuse_shortcut, told.up, "basic", "fixed") == ""
    assert refusal(refuse_shortcut, fixed().up, "static", "fixed") == ""  # another gate's failure


# class, is a pass on the content that failed an answer, is one on other content
ANSWERS = [
    ("environment", True, False),  # other code proves nothing about the host
    ("native-runtime", True, True),
    ("afd", False, True),  # a repetition that happened to pass proves nothing about the code
    ("connector-topology", False, True),
    ("accuracy", False, True),
    ("unknown", False, False),
    ("", False, False),
]


@pytest.mark.parametrize(("class_", "same", "other"), ANSWERS)
def test_what_closes_a_failure_depends_on_its_class(class_: str, same: bool, other: bool) -> None:
    for bound, answers in ((BROKEN, same), (FIXED, other)):
        told = failed("static", class_)
        assert bool([*closed_by(told.up, "static", bound["content"], "R-2")]) is answers
        told.add("run", run("R-2", "static", bound=bound))
        told.add("failure", {"op": "close", "failure": "F-1", "run": "R-2"})
        assert bool(told.up.open_failures) is not answers  # and the fold says the same
        assert bool(told.complaints()) is not answers
    repeated = refusal(refuse_repetition, failed("static", class_).up, "static", "broken")
    assert bool(repeated) is (other and not same)


@pytest.mark.parametrize(("class_", "code"), [("", "unclassified-failure"), ("unknown", "unknown-failure")])
def test_what_nobody_knows_blocks_the_gate_and_its_pass(class_: str, code: str) -> None:
    told = failed("static", class_)
    fix = "git afd failure classify F-1 CLASS --why WHY"
    assert refusal(refuse_unclassified, told.up, "static") == f"{code}: {fix}"
    assert next_action(told.up, standing(told.up, Now("fixed", "W"))) == fix
    good = told.add("run", run("R-2", "static", bound=FIXED))
    told.add("failure", {"op": "close", "failure": "F-1", "run": "R-2"})
    told.add("phase", phase("STATIC_AND_UNIT_GATE", evidence=(good.id,)))
    assert ["does not answer F-1" in told.complaints()[0], "F-1 is not classified" in told.complaints()[1]] == [
        True
    ] * 2


TESTED = RootCause("RC-1", "t", "failure-fix", failure="F-1", tests=("tests/t.py",))

# class of the failure, a plan, why it is refused (empty: it is not)
PLANS = [
    ("", RootCause("RC-1", "t", "adaptation"), "unclassified-failure"),  # nothing else before somebody has said
    ("unknown", RootCause("RC-1", "t", "adaptation"), "unknown-failure"),
    ("afd", RootCause("RC-1", "t", "adaptation"), ""),
    ("", RootCause("RC-1", "t", "docs"), ""),  # not code
    ("afd", TESTED, ""),
    ("unknown", TESTED, "unclassified-failure"),
    ("environment", TESTED, "environment-failure"),
    ("afd", replace(TESTED, tests=(), untested="trivial"), "no-regression-test"),
    ("afd", replace(TESTED, failure="F-2"), "no-failure"),
    ("afd", replace(TESTED, failure=""), "no-failure"),
]


@pytest.mark.parametrize(("class_", "plan", "code"), PLANS)
def test_what_may_be_planned_depends_on_what_is_known_of_the_failure(class_: str, plan: RootCause, code: str) -> None:
    assert refusal(check_failure, failed("static", class_).up, plan).partition(":")[0] == code


# what a commit says, is a failure of the environment claimed
WORDS = [("fix F-1", True), ("(F-1).", True), ("F-10", False), ("nothing", False), ("", False)]


@pytest.mark.parametrize(("text", "claimed"), WORDS)
def test_no_commit_claims_a_failure_of_the_environment_by_name(text: str, claimed: bool) -> None:
    up = failed("static", "environment").up
    assert bool(refusal(refuse_claim, up, RootCause("RC-1", "t", "adaptation"), text)) is claimed
    assert refusal(refuse_claim, failed("static", "afd").up, TESTED, text) == ""


def test_a_native_failure_stops_parity_testing_until_the_native_control_passes_again() -> None:
    told = failed("basic", "native-runtime")
    for gate in ("basic", "accuracy"):
        assert refusal(refuse_parity, told.up, gate) == "native-failure: git afd gate native"
    assert refusal(refuse_parity, told.up, "native") == ""
    told.add("run", run("R-2", "native", bound=BROKEN, diagnostic=True))  # a diagnostic decides nothing
    assert refusal(refuse_parity, told.up, "basic")
    told.add("run", run("R-3", "native", bound=BROKEN))
    assert refusal(refuse_parity, told.up, "basic") == ""


def test_an_architecture_finding_needs_a_decision_that_came_after_it() -> None:
    told = failed("static", architecture=True)
    decision = told.up.decision
    assert decision is not None
    assert standing(told.up, Now("broken", "W"))[3].shown == "stale"
    told.add("phase", phase("ARCHITECTURE_GATE", evidence=(decision.record,)))
    assert "decided before the architecture finding F-1" in told.complaints()[0]
    anew = told.add("decision", {"decide": "continue", "why": "it maps still", "conditions": []})
    told.add("phase", phase("ARCHITECTURE_GATE", evidence=(anew.id,)))
    assert standing(told.up, Now("broken", "W"))[3].shown == "PASS"
    assert told.up.open_failures
