"""The checks of the static gate that are no commands, each with a verdict of its own: pure tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from git_afd.core.evidence.checks import CheckQuestion, CheckVerdict, environment_doubt, judge_checks
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.focused import Focused, Suite, judge_focused, not_run
from git_afd.core.evidence.junit import Case, parse_junit
from git_afd.core.evidence.registration import SCHEMA, judge_registration, parse_registration
from git_afd.core.finding import Finding
from git_afd.core.patch_checks.model import Checked, NotChecked
from git_afd.core.policy_keys import PolicyFault
from git_afd.core.policy_reading import parse_policy
from git_afd.core.runtime_rule import FOCUSED, IDENTITY, PATCHES, REGISTRATION, RuntimeRule

COMMIT = "a" * 40
HERE = "/src/plugin/afd_plugin/__init__.py"
SITE = "/venv/site-packages/afd_plugin/__init__.py"


def entry(origin: str = HERE, **more: Any) -> dict[str, Any]:
    said = {"value": "afd_plugin:register_afd", "distribution": "vllm-afd-plugin", "place": "/venv/site-packages"}
    return {**said, "origin": origin, "called": True, **more}


def facts(*entries: Mapping[str, Any], **more: Any) -> bytes:
    said = {"schema": SCHEMA, "python": "python", "reason": "", "root": "/src/plugin", "runtime": True, "origin": HERE}
    return json.dumps({**said, "entries": list(entries), **more}).encode()


def fault(kind: str, text: str, lacks: str = "") -> dict[str, str]:
    return {"kind": kind, "text": text, "lacks": lacks, "at": "/x.py:3"}


def at(commit: str, *dirty: str) -> dict[str, Any]:
    return {"root": "/other", "commit": commit, "dirty": list(dirty), "ignored": [], "fault": ""}


NO_VLLM = fault("ModuleNotFoundError", "No module named 'vllm'", "vllm")

REGISTRATIONS = [
    # imported from the tree under test, found by its entry point, called
    (facts(entry()), "PASS", ""),
    # a clean tree of the same commit is the same code: a gate in a worktree of its own
    (facts(entry("/other/afd_plugin/__init__.py", checkout=at(COMMIT))), "PASS", "a clean tree of the same commit"),
    (facts(entry("/other/afd_plugin/__init__.py", checkout=at("b" * 40))), "FAIL", "a checkout of bbbbbbbbbbbb"),
    (facts(entry("/other/afd_plugin/__init__.py", checkout=at(COMMIT, "x (changed)"))), "FAIL", "not from the tree"),
    # a copy that was installed once, reached by either way
    (facts(entry(SITE)), "FAIL", f"resolves to code from {SITE}, a copy, not from the tree under test /src/plugin"),
    (facts(entry(), origin=SITE), "FAIL", f"afd_plugin is imported from {SITE}, a copy"),
    (facts(entry("/src/plugin-old/afd_plugin/__init__.py")), "FAIL", "a copy, not from the tree under test"),
    # a folder of that name beside the tree is not the tree
    (facts(), "BLOCKED", "it does not find the entry point afd of vllm.general_plugins"),
    (facts(fault=fault("ModuleNotFoundError", "", "afd_plugin"), origin=""), "BLOCKED", "not find afd_plugin nor the"),
    # an import that fails is a failure, whoever's fault it is
    (facts(entry(), fault=NO_VLLM, origin=""), "FAIL", "importing afd_plugin failed: ModuleNotFoundError: No module"),
    (facts(entry("", fault=NO_VLLM, called=False)), "FAIL", "cannot be loaded: ModuleNotFoundError"),
    (facts(entry(fault=fault("ValueError", "no such model"), called=False)), "FAIL", "was called and failed: ValueErr"),
    # nothing to register with: found, and no more than that
    (facts(entry(called=False), runtime=False), "BLOCKED", "found and not called: there is no vllm in python"),
    (facts(entry(), entry()), "FAIL", "installed more than once"),
    (facts(reason="python did not answer (exit code -11)"), "BLOCKED", "did not answer"),
]


@pytest.mark.parametrize(("data", "status", "text"), REGISTRATIONS)
def test_only_the_tree_under_test_registers(data: bytes, status: str, text: str) -> None:
    verdict = judge_registration(parse_registration(data), RuntimeRule(), COMMIT)
    assert verdict.status == status, verdict.findings
    assert text in " ".join(finding.message for finding in verdict.findings)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", facts(entry())[:-1], facts(entry(called="yes")), b"\xff"])
def test_facts_of_a_registration_that_cannot_be_read_block(data: bytes) -> None:
    with pytest.raises(EvidenceFault, match=r"runtime/registration\.json"):
        parse_registration(data)
    names = (REGISTRATION,)
    (verdict,) = judge_checks(CheckQuestion(names), {"runtime/registration.json": data}, ())
    assert verdict.status == "BLOCKED"


def case(node: str, outcome: Any = "passed", reason: str = "", *, collection: bool = False) -> Case:
    path, _, name = node.partition("::")
    module = path.removesuffix(".py").replace("/", ".")
    return Case(f"{'' if collection else module}::{name}", node, outcome, reason, collection=collection)


SUITE = Suite(
    "unit",
    (
        case("tests/test_a.py::test_one"),
        case("tests/test_a.py::test_two[x-1]"),
        case("tests/test_a.py::test_two[x-2]", "skipped", "no device"),
        case("tests/test_b.py::test_bad", "failed", "assert 0"),
        case("tests/test_c.py", "skipped", "collection skipped: could not import 'torch'", collection=True),
        case("tests/test_d.py", "error", "No module named 'vllm'", collection=True),
    ),
)

FOCUSED_TESTS = [
    # a file, a test, a test with its parameters: passed only when everything of it passed
    (Focused("RC-1", "tests/test_a.py::test_one"), "passed", ""),
    (Focused("RC-1", "tests/test_a.py::test_two[x-1]"), "passed", ""),
    (Focused("RC-1", "tests/test_a.py::test_two"), "skipped", "it was skipped (skipped: no device)"),
    (Focused("RC-1", "tests/test_a.py"), "skipped", "a focused test of RC-1: it was skipped"),
    (Focused("RC-1", "tests/test_b.py"), "failed", "it failed (failed: assert 0)"),
    # a name that only begins alike is another test
    (Focused("RC-1", "tests/test_a.py::test_o"), "did not run", "it did not run in any suite of this gate"),
    (Focused("RC-1", "tests/test_c.py"), "did not run", "tests/test_c.py was skipped (collection skipped: could"),
    (Focused("RC-1", "tests/test_d.py::test_x"), "did not run", "tests/test_d.py was not imported (No module"),
    (Focused("RC-1", "tests/gone.py", there=False), "did not run", "the commit holds no tests/gone.py"),
    # what only a later gate collects is its business, as long as the commit holds it
    (Focused("RC-1", "tests/e2e/test_x.py", gate="basic"), "left to gate basic", ""),
    (Focused("RC-1", "tests/e2e/test_x.py", there=False, gate="basic"), "did not run", "holds no tests/e2e"),
    (Focused("RC-1", "", why="words only"), "none planned: words only", ""),
]


@pytest.mark.parametrize(("focused", "outcome", "text"), FOCUSED_TESTS)
def test_a_focused_test_has_run_and_passed_or_fails_by_name(focused: Focused, outcome: str, text: str) -> None:
    verdict = judge_focused([focused], [SUITE])
    assert verdict.rows[0]["outcome"] == outcome
    assert verdict.status == ("FAIL" if text else "PASS")
    assert text in " ".join(finding.message for finding in verdict.findings if finding.severity == "error")


def test_ids_that_begin_at_a_root_folder_below_are_found_from_the_trees_root() -> None:
    listed = ("test_a.py::TestX::test_one",)
    suite = Suite("unit", (Case("test_a.TestX::test_one", "guessed", "passed"),), listed, "tests/unit/")
    focused = [Focused("RC-1", "tests/unit/test_a.py::TestX")]
    assert judge_focused(focused, [suite]).status == "PASS"
    assert judge_focused(focused, []).status == "FAIL"  # no report at all


def test_a_suite_that_stopped_while_collecting_is_named_as_the_reason() -> None:
    stopped = Suite("unit", tuple(case for case in SUITE.cases if case.collection))
    (finding,) = judge_focused([Focused("RC-1", "tests/test_a.py")], [stopped]).findings
    assert "1 module of unit could not be imported, at which pytest stops" in finding.message


def test_what_did_not_run_is_listed_by_file_reason_and_what_it_needs() -> None:
    assert [tuple(row.values()) for row in not_run([SUITE], ["tests/test_c.py", "tests/test_e.py"])] == [
        ("tests/test_a.py", "no device", 1, ""),
        ("tests/test_c.py", "collection skipped: could not import 'torch'", None, "torch"),
        ("tests/test_d.py", "No module named 'vllm'", None, "vllm"),
        ("tests/test_e.py", "nothing was collected from it", None, ""),
    ]


def test_the_reason_of_a_module_that_skips_itself_is_whole() -> None:
    text = "('/x/test_a.py', 9, &quot;Skipped: could not import 'torch': No module named 'torch'&quot;)"
    xml = f"""<testsuite tests="1" errors="0" failures="0" skipped="1"><testcase classname="" name="tests.test_a">
    <skipped message="collection skipped">{text}</skipped></testcase></testsuite>"""
    (found,) = parse_junit(xml.encode(), "unit.xml").cases
    assert found.reason == "collection skipped: could not import 'torch': No module named 'torch'"


LEFT = NotChecked("signature", "p.py:3", "step: no upstream function is patched")
WRONG = Finding("signature-different", "p.py:3", "the signature of step is not Engine.step's")
PATCH_CHECKS: list[tuple[Checked | str, str, str]] = [
    (Checked((), (), 3), "PASS", ""),
    (Checked((Finding("marker-unlabelled", "p.py:9", "no label", "", "note"),), (), 3), "PASS", "no label"),
    (Checked((WRONG,), (LEFT,), 3), "FAIL", "not Engine.step's"),
    (Checked((), (LEFT,), 3), "BLOCKED", "signature not checked: step"),  # what was not looked at is no pass
    ("the source of vllm is no longer there", "BLOCKED", "the source of vllm is no longer there"),
]


@pytest.mark.parametrize(("checked", "status", "text"), PATCH_CHECKS)
def test_patches_pass_only_when_all_of_them_were_looked_at(checked: Checked | str, status: str, text: str) -> None:
    (verdict,) = judge_checks(CheckQuestion((PATCHES,), patches=checked), {}, ())
    assert verdict.status == status
    assert text in " ".join(finding.message for finding in verdict.findings)


def test_a_check_without_its_raw_file_or_of_an_unknown_name_blocks() -> None:
    verdicts = judge_checks(CheckQuestion((IDENTITY, REGISTRATION, "from-the-future")), {}, ())
    assert [one.status for one in verdicts] == ["BLOCKED"] * 3
    assert "runtime/identity.json: is not there" in verdicts[0].findings[0].message
    (focused,) = judge_checks(CheckQuestion((FOCUSED,)), {}, ())
    assert (focused.status, focused.facts) == ("PASS", [])  # no root cause planned one


TORCHLESS = {"file": "tests/test_c.py", "reason": "skipped", "tests": None, "needs": "torch"}
BROKEN = Finding("collection-error", "tests/test_d.py", "No module named 'vllm'")

DOUBTS: list[tuple[tuple[str, ...], list[Finding], list[dict[str, Any]], str]] = [
    ((IDENTITY,), [BROKEN], [], "tests/test_d.py could not import vllm"),
    ((IDENTITY,), [BROKEN], [TORCHLESS], "2 files could not import torch, vllm"),
    # a module that skips itself for want of another is an import that failed
    ((IDENTITY,), [], [TORCHLESS], "tests/test_c.py could not import torch"),
    ((IDENTITY,), [Finding("plugin-import", "afd_plugin", "failed")], [], "afd_plugin could not be imported"),
    # a test that ran, and one that was skipped for another reason
    ((IDENTITY,), [Finding("test-failed", "tests/test_a.py::test", "assert 0")], [], ""),
    ((IDENTITY,), [], [{**TORCHLESS, "needs": ""}], ""),
    ((), [BROKEN], [], ""),  # a policy that does not ask for the identity is told nothing of it
]


@pytest.mark.parametrize(("names", "findings", "absent", "said"), DOUBTS)
def test_a_failed_import_is_an_environment_failure_until_the_runtime_is_proven(
    names: tuple[str, ...], findings: list[Finding], absent: list[dict[str, Any]], said: str
) -> None:
    checks = judge_checks(CheckQuestion(names), {}, ())
    found = list(environment_doubt(CheckQuestion(names), checks, findings, absent))
    assert [item.code for item in found] == (["environment-failure"] if said else [])
    text = f"{said}: an environment or version failure until the runtime is proven ("
    assert all(item.message.startswith(text) for item in found)


PROVEN = [
    # what the frozen pair itself needs is the runtime's to bring
    (
        Finding("collection-error", "tests/test_d.py", "No module named 'regex'"),
        "tests/test_d.py could not import regex",
    ),
    (Finding("plugin-registration", "afd", "called and failed: No module named 'regex'"), "afd could not import regex"),
    # what is gone from the frozen pair, or was never in the plugin, is the upgrade's to adapt
    (Finding("collection-error", "tests/test_d.py", "No module named 'vllm.gone'"), ""),
    (Finding("collection-error", "tests/test_d.py", "No module named 'afd_plugin.gone'"), ""),
    (Finding("collection-error", "tests/test_d.py", "ImportError: cannot import name 'x' from 'vllm'"), ""),
    (Finding("plugin-registration", "afd", "called and failed: ValueError"), ""),
]


@pytest.mark.parametrize(("finding", "said"), PROVEN)
def test_once_the_runtime_is_proven_only_foreign_modules_excuse_an_import(finding: Finding, said: str) -> None:
    found = list(environment_doubt(CheckQuestion(), (CheckVerdict(IDENTITY, "PASS", ()),), [finding], []))
    assert [item.message.partition(":")[0] for item in found] == ([said] if said else [])


POLICY = {"schema": 1, "name": "x", "paths": {"lessons": "l"}, "accuracy": {"task": "t", "metric": "m"}}


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"gates": {"static": {"checks": ["patchs"]}}}, "gates.static.checks: patchs is no check"),
        ({"gates": {"static": {"checks": "patches"}}}, "gates.static.checks: a list of texts"),
        ({"runtime": {"entrypoint": "afd"}}, "runtime.entrypoint: is not known here"),
        ({"runtime": {"package": 3}}, "runtime.package: a text was expected"),
    ],
)
def test_a_misspelt_check_is_refused_with_its_key(more: dict[str, Any], key: str) -> None:
    rule = {"task": "t", "metric": "m", "expected-size": 1, "modes": [], "threshold": 0.2}
    with pytest.raises(PolicyFault, match=key.replace(".", r"\.")):
        parse_policy({**POLICY, "accuracy": rule, **more})
