"""What the fold accepts is what the workflow allows; the rest is kept, reported and without effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from chronicle import ADA, BASE, BOB, FREEZE, Chronicle, cause, commit, passed, phase, run

from git_afd.core.outcome import Json
from git_afd.core.phases import PHASES

Body = dict[str, Json]


def last(told: Chronicle) -> str:
    return told.records[-1].id


def with_cause(until: int = 4) -> Chronicle:
    told = passed(until)
    told.add("root-cause", cause())
    return told


# what stands before, who writes which record, and why it does not count
ILLEGAL: list[tuple[Callable[[], Chronicle], str, Body, str, str]] = [
    # an upgrade begins with its freeze, once
    (Chronicle, "phase", phase("FREEZE_IDENTITY"), ADA, "no freeze comes before it"),
    (lambda: passed(1), "freeze", FREEZE, ADA, "this upgrade is frozen already"),
    (Chronicle, "freeze", {**FREEZE, "primary": " "}, ADA, "primary: it must not be empty"),
    (Chronicle, "freeze", {**FREEZE, "base": "abc"}, ADA, "base: a full commit id was expected"),
    (Chronicle, "freeze", {**FREEZE, "revisions": {}}, ADA, "revisions.vllm.current: a full commit id"),
    # a phase record has the workflow's five fields, no more, no fewer
    (lambda: passed(1), "phase", {**phase("FREEZE_IDENTITY"), "note": "x"}, ADA, "exactly the workflow's five fields"),
    (lambda: passed(1), "phase", phase("REST"), ADA, "phase: one of FREEZE_IDENTITY"),
    (lambda: passed(1), "phase", phase("FREEZE_IDENTITY", "OK"), ADA, "status: one of PASS"),
    # no phase passes before the ones before it
    (lambda: passed(0), "phase", phase("DIFF_BOTH_UPSTREAMS"), ADA, "cannot pass while FREEZE_IDENTITY has not"),
    (lambda: passed(3), "phase", phase("NPU_ACCURACY_GATE"), ADA, "cannot pass while ARCHITECTURE_GATE has not"),
    # nothing passes by word: the record that it rests on must be there and named
    (lambda: passed(1), "phase", phase("INVENTORY_AFD_CONTRACTS"), ADA, "does not name the newest record it rests on"),
    (lambda: passed(2), "phase", phase("DIFF_BOTH_UPSTREAMS"), ADA, "does not name the newest record it rests on"),
    (lambda: passed(3), "phase", phase("ARCHITECTURE_GATE"), ADA, "the primary has not decided to go on"),
    (lambda: passed(5), "phase", phase("STATIC_AND_UNIT_GATE"), ADA, "names no passed run of gate static"),
    (with_cause, "phase", phase("IMPLEMENT_ATOMIC_ADAPTATIONS"), ADA, "cannot pass: open: RC-1"),
    (
        lambda: passed(4, items={"I-1": "BEHAVIORAL"}),
        "phase",
        phase("IMPLEMENT_ATOMIC_ADAPTATIONS"),
        ADA,
        "cannot pass: not disposed of: I-1",
    ),
    # only the primary decides, commits and closes
    (lambda: passed(3), "decision", {"decide": "continue", "why": "w"}, BOB, f"only the primary ({ADA}) may"),
    (with_cause, "commit", commit(), BOB, f"only the primary ({ADA}) may"),
    (lambda: passed(1), "close", {"why": "enough"}, BOB, f"only the primary ({ADA}) may"),
    # a decision and an ending say why; an approval says who and why
    (lambda: passed(3), "decision", {"decide": "continue", "why": ""}, ADA, "why: it must not be empty"),
    (lambda: passed(3), "decision", {"decide": "maybe", "why": "w"}, ADA, "decide: one of continue, stop"),
    (lambda: passed(1), "close", {"why": " "}, ADA, "why: it must not be empty"),
    (lambda: passed(1), "approval", {"what": "pair", "name": "", "reason": "r"}, ADA, "name: it must not be empty"),
    (lambda: passed(1), "approval", {"what": "pair", "name": "n", "reason": ""}, ADA, "reason: it must not be empty"),
    # a root cause keeps its number for ever, and what is over is over
    (with_cause, "root-cause", cause(), ADA, "RC-1 is taken; add it again"),
    (lambda: passed(4), "root-cause", cause(op="amend"), ADA, "RC-1 is not open"),
    (lambda: passed(4), "root-cause", cause("RC-01"), ADA, "'RC-01' is no RC-n"),
    (lambda: passed(4), "root-cause", cause(disposes={"I-1": "gone"}), ADA, "'gone' is no fate"),
    # no commit before the architecture gate, for no root cause, or for somebody else's plan
    (lambda: with_cause(3), "commit", commit(), ADA, "nothing is committed before ARCHITECTURE_GATE passes"),
    (lambda: passed(4), "commit", commit(), ADA, "RC-1 is not open"),
    (with_cause, "commit", commit(plan="0" * 64), ADA, "it was written for another plan of RC-1"),
    (with_cause, "commit", commit(commit="abc"), ADA, "commit: a full commit id was expected"),
    # a class is one of three, or NONE
    (lambda: passed(2), "diff", {"how": "h", "items": {"I-1": "HARMLESS"}}, ADA, "'HARMLESS' is no class"),
    # a gate has a name
    (lambda: passed(5), "run", run("r", "vibes"), ADA, "gate: one of architecture"),
]


@pytest.mark.parametrize(("before", "kind", "body", "by", "why"), ILLEGAL)
def test_a_record_that_the_workflow_does_not_allow_is_reported_and_changes_nothing(
    before: Callable[[], Chronicle], kind: str, body: Body, by: str, why: str
) -> None:
    told = before()
    was = told.state
    told.add(kind, body, by=by)
    assert why in told.complaints()[0]
    assert told.state.findings[0].place == last(told)
    assert told.state.upgrades == was.upgrades
    assert (told.state.seq, told.state.count, told.state.heads) == (was.seq + 1, was.count + 1, (last(told),))


@pytest.mark.parametrize("until", range(13))
def test_the_phases_pass_in_order_when_each_rests_on_its_record(until: int) -> None:
    assert list(passed(until).up.phases) == [item.name for item in PHASES[:until]]


def test_a_later_fail_takes_a_pass_back() -> None:
    told = passed(6)
    told.add("phase", phase("STATIC_AND_UNIT_GATE", "FAIL"))
    told.add("phase", phase("TARGET_NATIVE_NPU_CONTROL"))
    assert told.up.phases["STATIC_AND_UNIT_GATE"].status == "FAIL"
    assert "cannot pass while STATIC_AND_UNIT_GATE has not" in told.complaints()[0]


@pytest.mark.parametrize(
    "more",
    [
        {"status": "FAIL"},  # it ran and failed
        {"diagnostic": True},  # passed, but with fewer questions: never final (workflow, Phase 8)
        {"gate": "basic"},  # passed, but another gate
    ],
)
def test_a_gate_passes_on_a_passed_run_of_its_own_only(more: Body) -> None:
    told = passed(5)
    ran = told.add("run", {**run("r", "static"), **more})
    told.add("phase", phase("STATIC_AND_UNIT_GATE", evidence=(ran.id,)))
    assert "names no passed run of gate static" in told.complaints()[0]


def test_a_finished_run_cannot_be_finished_again() -> None:
    told = passed(5)
    told.add("run", run("r", "static", "FAIL"))
    told.add("run", run("r", "static", "PASS"))
    assert told.up.runs["r"].status == "FAIL"
    assert told.complaints() == ["run r is finished already"]


def test_an_amended_root_cause_keeps_its_number_and_a_withdrawn_number_is_not_used_again() -> None:
    told = with_cause()
    amended = told.add("root-cause", cause(op="amend", title="better"))
    assert [(c.name, c.title, c.record) for c in told.up.root_causes.values()] == [("RC-1", "better", amended.id)]
    told.add("root-cause", {"root_cause": "RC-1", "op": "withdraw", "why": "a duplicate"})
    told.add("root-cause", cause())
    assert told.up.root_causes["RC-1"].status == "withdrawn"
    assert told.complaints() == ["RC-1 is taken; add it again to get the next free number"]


def test_nothing_counts_after_the_end() -> None:
    told = passed(1)
    told.add("close", {"why": "the target was withdrawn"})
    told.add("approval", {"what": "pair", "name": "n", "reason": "r"})
    assert told.up.closed == "the target was withdrawn"
    assert told.complaints() == ["the upgrade was closed before it"]


def test_two_people_who_took_the_same_number_never_commit_for_each_other() -> None:
    ada = passed(4)
    bob = ada.fork()
    mine = ada.add("root-cause", cause(title="Ada's", files=["a.py"]))
    other = bob.add("root-cause", cause(title="Bob's", files=["b.py"]))
    first, second = sorted((mine, other), key=lambda record: record.key)
    both = ada.merged(bob)
    assert both.up.root_causes["RC-1"].title == first.body["title"]
    both.add("commit", commit(plan=second.id))
    assert both.up.root_causes["RC-1"].status == "open"
    assert both.complaints() == [
        "RC-1 is taken; add it again to get the next free number",
        "it was written for another plan of RC-1",
    ]


@pytest.mark.parametrize(
    ("kind", "v"),
    [("celebration", 1), ("close", 2)],  # a kind, and a version, that a later tool may write
)
def test_what_a_later_tool_writes_is_kept_and_blocks_nothing(kind: str, v: int) -> None:
    told = passed(1)
    told.records.append(replace(told.add(kind, {"anything": BASE}), v=v, id="f" * 64))
    del told.records[-2]
    assert told.state.findings == ()
    assert told.state.count == 3
    assert not told.up.closed
