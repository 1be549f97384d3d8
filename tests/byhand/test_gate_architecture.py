from __future__ import annotations

from pathlib import Path
from typing import Any

import pexpect
import pytest
from kit import Kit
from kit_upgrade import UPGRADE, FrozenUpgrade, frozen
from rows import DIFF, with_diff, with_inventory

from git_afd.actions.gate_architecture import Request, gate_architecture

STACK = {"questions": [{"code": "stack-unstated", "place": "cann", "message": "nobody states cann"}]}

QUESTION = """\
[[question]]
question = "stack-unstated:cann"
answer = "9.0.1, as the image of the device family has it"
evidence = "vllm_ascend/worker.py@vllm-ascend.target"
"""

CONDITIONS = "".join(
    f'[[condition]]\nnumber = {number}\nholds = false\nevidence = "engine-step"\nwhy = "it maps one to one"\n'
    for number in range(2, 8)
)

STOP = """\
[stop]
old_architecture = "the engine steps one batch"
new_architecture = "the engine steps through a graph"
why_no_local_patch = "there is no step left to patch"
why_unsafe = "a copy would own the execution engine"
decision_needed = "who owns the step"
directions = ["a hook upstream", "drop dual batches"]
"""


def prepared(kit: Kit, *, class_: str = "BEHAVIORAL", **options: Any) -> FrozenUpgrade:
    """An upgrade whose phases 1 and 2 passed by hand; `class_` is the class of its first impact."""
    case = frozen(kit, **options)
    with_inventory(case)
    with_diff(case, DIFF.replace("BEHAVIORAL", class_))
    return case


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    return prepared(kit)


def gate(case: FrozenUpgrade, answers: str, *more: str) -> Any:
    case.plugin.write(".git/answers.toml", answers)
    return case.plugin.afd(["gate", "architecture", "--json", "--answers", ".git/answers.toml", *more])


GO_ON = ("--decide", "continue", "--why", "all of it maps")
HALT = ("--decide", "stop", "--why", "no seam is left")


def test_the_seven_conditions_are_always_shown(case: FrozenUpgrade) -> None:
    done = case.plugin.afd("gate architecture --json")
    rows = done.json["data"]["conditions"]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert [row["standing"] for row in rows] == ["does not hold", *["unanswered"] * 6]
    assert rows[0]["how"] == "evaluated"
    assert rows[0]["evidence"] == [case.upgrade.freeze.record]
    assert done.code == 6
    assert "2, 3, 4, 5, 6, 7" in done.json["findings"][0]["message"]


def test_whoever_looks_too_early_sees_the_conditions_and_what_comes_first(kit: Kit) -> None:
    case = frozen(kit)
    done = case.plugin.afd("gate architecture --json")
    assert done.code == 3
    assert len(done.json["data"]["conditions"]) == 7
    assert "INVENTORY_AFD_CONTRACTS is not run" in done.json["findings"][0]["message"]
    assert case.plugin.afd(["gate", "architecture", *GO_ON]).code == 3


def test_with_every_answer_the_next_action_is_the_decision(case: FrozenUpgrade) -> None:
    done = gate(case, CONDITIONS).ok()
    assert done.json["next"] == "git afd gate architecture --answers FILE --decide continue --why TEXT"
    assert case.upgrade.decision is None  # the tool may forbid, never approve by itself


# what is replaced in good answers, by what, line, field, a word of the reason
WRONG = (
    ("number = 2", "number = 8", 2, "number", "is no stop condition"),
    ("number = 3", "number = 2", 7, "number", "is answered in row 1 too"),
    ("number = 2\nholds = false", "number = 2", 1, "holds", "is missing"),
    ("number = 2\nholds = false", 'number = 2\nholds = "no"', 3, "holds", "true or false was expected"),
    ('number = 2\nholds = false\nevidence = "engine-step"', "number = 2\nholds = false", 1, "evidence", "is missing"),
    # evidence must name something that exists
    (
        'number = 2\nholds = false\nevidence = "engine-step"',
        'number = 2\nholds = false\nevidence = "trust me"',
        4,
        "evidence",
        "names no impact",
    ),
    (
        'number = 2\nholds = false\nevidence = "engine-step"',
        'number = 2\nholds = false\nevidence = "gone.py@base"',
        4,
        "evidence",
        "gone.py is no file",
    ),
    (
        'number = 2\nholds = false\nevidence = "engine-step"',
        f'number = 2\nholds = false\nevidence = "{"a" * 64}"',
        4,
        "evidence",
        "names no impact",
    ),
)


@pytest.mark.parametrize(("old", "new", "line", "field", "word"), WRONG)
def test_a_wrong_answer_is_refused_with_its_place(
    case: FrozenUpgrade, old: str, new: str, line: int, field: str, word: str
) -> None:
    assert CONDITIONS.count(old) == 1
    file = case.plugin.write(".git/answers.toml", CONDITIONS.replace(old, new))
    outcome = gate_architecture(case.session, Request(file, "answers.toml", "continue", "all of it maps"))
    assert outcome.exit == 3
    found = [item for item in outcome.findings if word in item.message]
    assert found, outcome.findings
    assert found[0].place == f"answers.toml:{line}"
    assert f"{field}: " in found[0].message
    assert case.upgrade.decision is None


def test_going_on_is_recorded_once_and_passes_the_gate(case: FrozenUpgrade) -> None:
    done = gate(case, CONDITIONS, *GO_ON).ok()
    assert done.json["data"]["phase"]["status"] == "PASS"
    decision = case.upgrade.decision
    assert decision is not None
    assert (decision.decide, len(decision.conditions)) == ("continue", 7)
    assert case.upgrade.phases["ARCHITECTURE_GATE"].evidence == (decision.record,)
    tip = case.plugin("git rev-parse refs/notes/afd/ledger")
    gate(case, CONDITIONS, *GO_ON).ok()
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == tip
    shown = case.plugin.afd("gate architecture").ok().out
    assert "decided by Ada Example <ada@example.org>: continue (all of it maps)" in shown


def test_a_dry_run_decides_nothing(case: FrozenUpgrade) -> None:
    tip = case.plugin("git rev-parse refs/notes/afd/ledger")
    done = gate(case, CONDITIONS, *GO_ON, "--dry-run").ok()
    assert done.json["data"]["recorded"] is False
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == tip


HOLDS = CONDITIONS.replace("holds = false", "holds = true", 1)

# answers, options, exit code, a word of the reason
FORBIDDEN = (
    (HOLDS, GO_ON, 3, "stop condition 2 holds"),
    (CONDITIONS[: CONDITIONS.index("[[condition]]\nnumber = 7")], GO_ON, 6, "stop condition 7 has no evidenced answer"),
    (CONDITIONS, ("--decide", "continue"), 2, "a decision needs its reason"),
    (CONDITIONS, HALT, 3, "no stop condition holds"),  # nothing to stop for: close says so
    (HOLDS, HALT, 6, "a stop report must say the architecture at the current commits"),
)


@pytest.mark.parametrize(("answers", "options", "code", "word"), FORBIDDEN)
def test_a_decision_that_the_answers_do_not_carry_is_refused(
    case: FrozenUpgrade, answers: str, options: tuple[str, ...], code: int, word: str
) -> None:
    done = gate(case, answers, *options)
    assert done.code == code
    assert word in done.json["findings"][0]["message"]
    assert case.upgrade.decision is None


def test_only_the_primary_decides(case: FrozenUpgrade) -> None:
    done = case.plugin.afd(["gate", "architecture", *GO_ON], env={"GIT_AFD_ACTOR": "Somebody Else <else@example.org>"})
    assert done.code == 3
    assert "only the primary (Ada Example <ada@example.org>) decides" in done.err


def test_every_question_about_the_stack_must_be_answered(kit: Kit) -> None:
    case = prepared(kit, more={"stack": STACK})
    done = gate(case, CONDITIONS, *GO_ON)
    assert done.code == 6
    assert "stop condition 1 has no evidenced answer" in done.json["findings"][0]["message"]
    gate(case, CONDITIONS + QUESTION, *GO_ON).ok()
    decision = case.upgrade.decision
    assert decision is not None
    assert "9.0.1" in str(decision.conditions[0]["why"])


def test_an_architectural_impact_must_be_cited_by_an_answer(kit: Kit) -> None:
    case = prepared(kit, class_="ARCHITECTURAL")
    elsewhere = CONDITIONS.replace("engine-step", "afd_plugin/patch.py::step@base")
    done = gate(case, elsewhere, *GO_ON)
    assert done.code == 6
    assert "no answer cites ARCHITECTURAL engine-step" in done.json["findings"][0]["message"]
    unknown = gate(case, elsewhere.replace("afd_plugin/patch.py::step@base", "*-stop", 1), "--dry-run")
    assert "'*-stop' names no impact" in unknown.json["findings"][0]["message"]
    gate(case, elsewhere.replace("afd_plugin/patch.py::step@base", "*-step", 1), *GO_ON).ok()
    decision = case.upgrade.decision
    assert decision is not None
    assert decision.conditions[1]["evidence"] == ["engine-step"]  # what was meant is recorded, not the pattern


# what happens to production before the gate, by name
EDITS = {
    "edited": lambda plugin: plugin.write("afd_plugin/patch.py", "x = 1\n"),
    "untracked": lambda plugin: plugin.write("afd_plugin/new.py", "x = 1\n"),
    "deleted": lambda plugin: (plugin.path / "afd_plugin/patch.py").unlink(),
    "committed": lambda plugin: plugin.commit("sneak", {"afd_plugin/patch.py": "x = 1\n"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_production_that_changed_since_the_base_forbids_going_on(case: FrozenUpgrade, edit: str) -> None:
    EDITS[edit](case.plugin)
    done = gate(case, CONDITIONS, *GO_ON)
    assert done.code == 3
    assert "production changed before the gate passed: afd_plugin/" in done.json["findings"][0]["message"]


def test_the_users_own_changes_from_before_the_freeze_are_no_obstacle(kit: Kit) -> None:
    case = prepared(kit, dirty={"afd_plugin/other.py": "OTHER = 2\n"})
    gate(case, CONDITIONS, *GO_ON).ok()
    assert (case.plugin.path / "afd_plugin/other.py").read_text() == "OTHER = 2\n"


def test_a_stop_writes_the_report_and_lets_nothing_but_close_happen(case: FrozenUpgrade, tmp_path: Path) -> None:
    report = tmp_path / "stop.md"
    done = gate(case, HOLDS + STOP, *HALT, "--output", str(report))
    assert done.code == 7
    body = done.json["data"]["report"]
    assert body["interfaces"][0]["upstream"] == "vllm: vllm/engine.py::Engine.step"
    assert body["files"] == ["afd_plugin/patch.py", "afd_plugin/patch.py::step"]
    assert body["features"] == ["eager"]
    assert body["production_edits"] == []
    text = report.read_text()
    assert "there is no step left to patch" in text
    assert "## Production edits\n\nnone" in text
    assert case.upgrade.recorded["ARCHITECTURE_GATE"] == "STOPPED"
    later = (
        "inventory --from .git/rows.toml",
        "diff --from .git/diff.toml",
        "gate architecture --decide continue --why x",
    )
    for command in later:
        refused = case.plugin.afd(command)
        assert refused.code == 7, command
        assert "fix: git afd close --why WHY" in refused.err
    again = case.plugin.afd("gate architecture --json")
    assert again.code == 7
    assert again.json["data"]["report"] == body
    closed = case.plugin.afd(["close", "--why", "waits for a decision upstream", "--json"]).ok()
    assert closed.json["data"]["complete"] is False
    assert closed.json["data"]["owed"][0].startswith("ARCHITECTURE_GATE is STOPPED: stop condition 2 holds")
    assert case.upgrade.closed == "waits for a decision upstream"


def test_a_stop_that_cannot_prove_the_tree_unchanged_is_refused(kit: Kit) -> None:
    case = prepared(kit, dirty={"notes.txt": "mine\n"})
    case.plugin.write("unrelated.txt", "new, and nothing that was there\n")
    case.plugin.write("notes.txt", "changed since\n")
    done = gate(case, HOLDS + STOP, *HALT)
    assert done.code == 3
    assert done.json["findings"][0]["message"].endswith("as it was at the freeze: notes.txt")
    case.plugin.write("notes.txt", "mine\n")
    assert gate(case, HOLDS + STOP, *HALT).json["data"]["report"]["preserved"] == ["notes.txt"]


def test_nothing_written_after_a_stop_counts(case: FrozenUpgrade) -> None:
    gate(case, HOLDS + STOP, *HALT)
    case.record(("decision", {"decide": "continue", "why": "changed my mind", "conditions": []}))
    assert case.upgrade.recorded["ARCHITECTURE_GATE"] == "STOPPED"
    assert case.upgrade.decision is not None
    assert case.upgrade.decision.decide == "stop"
    assert case.session.ledger.read().state.findings


def test_a_person_answers_on_a_terminal(case: FrozenUpgrade) -> None:
    case.plugin.write(".git/answers.toml", CONDITIONS[: CONDITIONS.index("[[condition]]\nnumber = 7")])
    child = pexpect.spawn(
        "git-afd",
        ["gate", "architecture", "--answers", ".git/answers.toml", *GO_ON],
        cwd=str(case.plugin.path),
        encoding="utf-8",
        timeout=30,
    )
    child.expect("7. Is it impossible to build")
    child.expect("does it hold")
    child.sendline("n")
    child.expect("evidence")
    child.sendline("trust me")
    child.expect("no: 'trust' names no impact")
    child.expect("evidence")
    child.sendline("vllm/engine.py@vllm.target")
    child.expect("why")
    child.sendline("the image builds")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    decision = case.upgrade.decision
    assert decision is not None
    assert decision.conditions[6]["why"] == "the image builds"


def test_without_a_terminal_nothing_is_asked_and_the_flag_is_named(case: FrozenUpgrade) -> None:
    done = case.plugin.afd(["gate", "architecture", *GO_ON], stdin="y\n")
    assert done.code == 6
    assert "fix: git afd gate architecture --answers FILE" in done.err


def test_a_frozen_policy_that_this_version_no_longer_takes_leaves_a_way_out(kit: Kit) -> None:
    old = {"digest": "0" * 64, "text": "schema = 1\n\n[gates.basic]\nchecks = ['of old']\n"}
    plugin = frozen(kit, more={"policy": old}).plugin
    refused = plugin.afd("inventory")
    assert (refused.code, f"the policy frozen with {UPGRADE}:" in refused.err) == (5, True)
    assert "fix: use the git-afd that froze it; or correct afd.toml, git afd close --why WHY" in refused.err
    closed = plugin.afd("close --why later --json").ok().json["data"]
    assert "INVENTORY_AFD_CONTRACTS is not run" in closed["owed"]


def test_close_needs_the_primary_and_holds_once(case: FrozenUpgrade) -> None:
    other = case.plugin.afd(["close", "--why", "bored"], env={"GIT_AFD_ACTOR": "else"})
    assert other.code == 3
    case.plugin.afd(["close", "--why", "later", "--dry-run"]).ok()
    assert not case.upgrade.closed
    first = case.plugin.afd(["close", "--why", "later"]).ok()
    assert "owed: ARCHITECTURE_GATE is not run" in first.out
    tip = case.plugin("git rev-parse refs/notes/afd/ledger")
    case.plugin.afd(["close", "--why", "later"]).ok()
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == tip
