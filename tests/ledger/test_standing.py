"""What `status` shows: a recorded PASS confronted with what is true now."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from chronicle import ADA, Chronicle, cause, commit, passed, phase, run

from git_afd.core.outcome import Json
from git_afd.core.phases import PHASES
from git_afd.core.standing import Now, next_action, shown, standing

TRUE = Now(content="C", whole="W")
STATIC, NATIVE, DOCS, AUDIT = (
    "STATIC_AND_UNIT_GATE",
    "TARGET_NATIVE_NPU_CONTROL",
    "DOCUMENTATION_REFRESH_GATE",
    "FINAL_AUDIT",
)
CONTENT = tuple(item.name for item in PHASES if item.binding == "content")
WHOLE = (DOCS, AUDIT)


def rows(told: Chronicle, now: Now = TRUE) -> dict[str, tuple[str, str]]:
    return {row.phase.name: (row.shown, row.blocker) for row in standing(told.up, now)}


def not_pass(told: Chronicle, now: Now = TRUE) -> dict[str, tuple[str, str]]:
    return {name: row for name, row in rows(told, now).items() if row[0] != "PASS"}


def test_an_upgrade_that_went_all_the_way_shows_twelve_passes() -> None:
    told = passed(12)
    assert not_pass(told) == {}
    assert [row.phase for row in standing(told.up, TRUE)] == list(PHASES)
    assert next_action(told.up, standing(told.up, TRUE)) == "git afd report"


NOW: list[tuple[Now, tuple[str, ...], str, str]] = [
    # a production line or a test moved: the gates that vouch for it, and the ones for the whole tree
    (Now(content="D", whole="X"), (*CONTENT, *WHOLE), "stale", "since commit cccccccccccc"),
    # a docs line moved: accuracy stays valid
    (Now(content="C", whole="X"), WHOLE, "stale", "the tree changed since commit"),
    # raw evidence is gone, or is not what it was
    (Now(content="C", whole="W", lost={"static" * 9: "absent"}), (STATIC,), "BLOCKED", "raw evidence out is absent"),
    (Now(content="C", whole="W", lost={"docs" * 9: "damaged"}), (DOCS,), "BLOCKED", "raw evidence out is damaged"),
    (Now(content="C", whole="W", lost={"1" * 64: "absent"}), (PHASES[1].name,), "BLOCKED", "is absent"),
    (Now(content="C", whole="W", lost={"2" * 64: "absent"}), (PHASES[2].name,), "BLOCKED", "is absent"),
    # an artifact that no pass rests on is nobody's loss
    (Now(content="C", whole="W", lost={"f" * 64: "absent"}), (), "", ""),
    # nothing can be known about HEAD
    (Now(content="", whole=""), (*CONTENT, *WHOLE), "stale", "since commit"),
]


@pytest.mark.parametrize(("now", "names", "status", "why"), NOW)
def test_a_pass_holds_only_as_long_as_what_it_rests_on(now: Now, names: tuple[str, ...], status: str, why: str) -> None:
    found = not_pass(passed(12), now)
    assert set(found) == set(names)
    assert all(row[0] == status and why in row[1] for row in found.values())


@pytest.mark.parametrize("moved", ["commits", "policy"])
def test_a_run_for_other_commits_or_another_policy_proves_nothing_here(moved: str) -> None:
    found = not_pass(passed(12, bound={moved: "other"}))
    assert set(found) == {*CONTENT, *WHOLE}
    assert all("other upstream commits or another policy" in why for _, why in found.values())


def test_simulated_evidence_counts_only_where_the_frozen_policy_accepts_it() -> None:
    told = passed(6)
    bound = dict(told.up.runs["static-1"].bound)
    ran = told.add("run", run("n", "native", bound=bound, simulated=True, artifacts={"run.json": "facts"}))
    told.add("phase", phase(NATIVE, evidence=(ran.id,)))
    assert rows(told)[NATIVE][0] == "BLOCKED"
    assert "simulated" in rows(told)[NATIVE][1]
    assert rows(told, Now("C", "W", simulated=True))[NATIVE] == ("PASS", "")


Body = dict[str, Json]
AGAIN: list[tuple[str, Body, set[int]]] = [
    # what was recorded again, and which passes it takes along: they rest on what was there before
    ("inventory", {"how": "by hand", "items": {}}, {1, 2, 3}),
    ("diff", {"how": "by hand", "items": {}}, {2, 3}),
    ("decision", {"decide": "continue", "why": "again", "conditions": []}, {3}),
]


@pytest.mark.parametrize(("kind", "body", "stale"), AGAIN)
def test_an_analysis_recorded_again_makes_stale_what_rested_on_the_old_one(
    kind: str, body: Body, stale: set[int]
) -> None:
    told = passed(5)
    told.add(kind, body)
    assert {name for name, (status, _) in rows(told).items() if status == "stale"} == {PHASES[n].name for n in stale}


PHASE_4: list[tuple[Callable[[Chronicle], object], str, str]] = [
    (lambda _: None, "not run", "not disposed of: I-1, I-2, I-3 and 1 more"),
    (lambda told: told.add("root-cause", cause(disposes={"I-1": "rebased"})), "not run", "open: RC-1"),
    # an open root cause of docs belongs to phase 9
    (lambda told: told.add("root-cause", cause(kind="docs")), "not run", "not disposed of: I-1, I-2, I-3 and 1 more"),
    # withdrawn disposes of nothing; kept needs no commit; committed disposes
    (
        lambda told: [
            told.add("root-cause", cause("RC-1", disposes={"I-1": "rebased"})),
            told.add("root-cause", {"root_cause": "RC-1", "op": "withdraw", "why": "no"}),
            told.add("root-cause", cause("RC-2", files=[], disposes={"I-2": "kept", "I-3": "stopped"})),
        ],
        "not run",
        "not disposed of: I-1, I-4",
    ),
    (
        lambda told: [
            told.add("root-cause", cause(disposes=dict.fromkeys(("I-1", "I-2", "I-3", "I-4"), "rebased"))),
            told.add("commit", commit()),
        ],
        "PASS",
        "",
    ),
]


@pytest.mark.parametrize(("then", "status", "why"), PHASE_4)
def test_phase_4_is_computed_from_the_records_each_time(
    then: Callable[[Chronicle], object], status: str, why: str
) -> None:
    told = passed(4, items=dict.fromkeys(("I-1", "I-2", "I-3", "I-4"), "BEHAVIORAL"))
    then(told)
    assert rows(told)["IMPLEMENT_ATOMIC_ADAPTATIONS"] == (status, why)


def test_a_pass_recorded_for_phase_4_does_not_outlive_a_new_root_cause() -> None:
    told = passed(12)
    told.add("root-cause", cause("RC-9"))
    assert not_pass(told) == {"IMPLEMENT_ATOMIC_ADAPTATIONS": ("not run", "open: RC-9")}
    assert next_action(told.up, standing(told.up, TRUE)) == "git afd commit --root-cause RC-9"


NEXT: list[tuple[Callable[[Chronicle], object], str]] = [
    (lambda _: None, "git afd inventory"),
    # a phase that has not passed says itself what may be done
    (
        lambda told: told.add(
            "phase", {**phase(PHASES[1].name, "BLOCKED"), "blocker": "b", "next_allowed_action": "git fetch"}
        ),
        "git fetch",
    ),
    (lambda told: told.add("phase", phase(PHASES[1].name, "FAIL")), "git afd inventory"),
    (lambda told: told.add("close", {"why": "enough"}), "git afd report"),
]


@pytest.mark.parametrize(("then", "action"), NEXT)
def test_the_next_action_is_that_of_the_first_phase_that_has_not_passed(
    then: Callable[[Chronicle], object], action: str
) -> None:
    told = passed(1)
    then(told)
    assert next_action(told.up, standing(told.up, TRUE)) == action


def test_every_status_is_shown_by_its_own_name() -> None:
    told = passed(1)
    for status in ("FAIL", "BLOCKED", "STOPPED", "SKIPPED"):
        told.add("phase", phase(PHASES[1].name, status), by=ADA)
        assert shown(standing(told.up, TRUE))[PHASES[1].name] == status
