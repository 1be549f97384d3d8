"""Expected tests: frozen by a collection before the run, their files by the tree, each skip by its document."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench import UNIT, command, gate, policy, upgrade
from kit import Kit
from kit_upgrade import TEST

from git_afd.core.command import Command
from git_afd.core.evidence.collecting import collect_command, expected_files, placed, selects
from git_afd.core.evidence.documented import documented
from git_afd.core.evidence.expectation import expect
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.evidence.suite_verdict import AllowedSkip
from git_afd.core.finding import Finding
from git_afd.core.policy import Skip
from git_afd.render.text import grouped

LIST = ("--collect-only", "--verbosity=-1", "--color=no")

COMMANDS = [
    # the report and the folders of its own are the run's, not the collection's
    (
        ("{python}", "-m", "pytest", "t", "--junitxml={out}/u.xml", "--basetemp={out}/x"),
        ("{python}", "-m", "pytest", "t"),
    ),
    (("pytest", "--junit-xml", "{out}/u.xml", "t", "--basetemp", "{out}/x"), ("pytest", "t")),
    # what selects stays
    (("/opt/bin/pytest", "-m", "npu and e2e", "t"), ("/opt/bin/pytest", "-m", "npu and e2e", "t")),
    (("{python}", "-X", "dev", "-m", "pytest", "t"), ("{python}", "-X", "dev", "-m", "pytest", "t")),
    (("{python}", "-m", "unittest", "pytest"), None),  # the first -m decides
    (("{python}", "run_tests.py"), None),
    (("sh", "-c", "pytest t"), None),  # nobody reads a shell line
]


@pytest.mark.parametrize(("run", "kept"), COMMANDS)
def test_the_collection_is_the_command_without_its_report(run: tuple[str, ...], kept: tuple[str, ...] | None) -> None:
    listing = collect_command(Command("unit", run, junit="u.xml"))
    assert (listing.run if listing else None) == ((*kept, *LIST) if kept else None)
    assert collect_command(Command("unit", run)) is None  # a command without a report is judged by its exit code


TREE = frozenset(
    {
        "tests/unit/test_a.py",
        "tests/unit/deep/b_test.py",
        "tests/unit/conftest.py",
        "tests/unit/build/test_no.py",
        "tests/e2e/test_e.py",
        "tests/check.py",
        "test_top.py",
        "README.md",
    }
)

FILES = [
    (("tests/unit",), {"tests/unit/test_a.py", "tests/unit/deep/b_test.py"}),  # build/ is never entered
    (("{plugin}/tests/unit/",), {"tests/unit/test_a.py", "tests/unit/deep/b_test.py"}),
    (("tests/check.py",), {"tests/check.py"}),  # named itself, whatever its name
    (("tests/unit/test_a.py::test_x",), {"tests/unit/test_a.py"}),
    (("tests", "--ignore=tests/e2e", "--ignore-glob", "*/deep/*"), {"tests/unit/test_a.py"}),  # the policy's own word
    (("tests/e2e", "-k", "tests/unit"), {"tests/e2e/test_e.py"}),  # an option's value is no path
    ((".",), {"tests/unit/test_a.py", "tests/unit/deep/b_test.py", "tests/e2e/test_e.py", "test_top.py"}),
    ((), None),  # the project's own configuration says where: nobody knows
]


@pytest.mark.parametrize(("words", "files"), FILES)
def test_the_expected_files_come_from_the_tree(words: tuple[str, ...], files: set[str] | None) -> None:
    found = expected_files(Command("unit", ("pytest", *words), junit="u.xml"), TREE)
    assert (None if found is None else set(found)) == files


PLACES = [
    (("tests/unit/test_a.py::t",), {"tests/unit/test_a.py"}),
    (("unit/test_a.py::t[x::y]",), {"tests/unit/test_a.py"}),  # pytest's root folder is tests/
    (("test_a.py::t",), {"tests/unit/test_a.py"}),
    (("site/test_a.py::t",), None),  # not of this commit
    ((), set()),
]


@pytest.mark.parametrize(("ids", "files"), PLACES)
def test_listed_ids_are_found_in_the_tree(ids: tuple[str, ...], files: set[str] | None) -> None:
    found = placed(ids, Command("unit", ("pytest", "tests/unit"), junit="u.xml"), TREE)
    assert (None if found is None else set(found)) == files


def test_who_deselects_is_told_from_the_command() -> None:
    rows = {("-m", "npu"): True, ("-mnpu",): True, ("--deselect=t.py::a",): True, ("--maxfail=1",): False}
    assert {words: selects(Command("u", ("{python}", "-m", "pytest", "t", *words))) for words in rows} == rows


UNITS = Command("unit", ("pytest", "tests/unit"), junit="u.xml")
BOTH = b"tests/unit/test_a.py::t\ntests/unit/deep/b_test.py::u\n\n2 tests collected in 0.1s\n"
ONE = b"tests/unit/test_a.py::t\n\n1 test collected in 0.1s\n"
APART = b"tests/unit/test_a.py::t\n\n1/2 tests collected (1 deselected) in 0.1s\n"
NOISY = b"[W] torch: no NPU\n\n" + BOTH
SELECTED = replace(UNITS, run=(*UNITS.run, "-k", "t"))
LOST = "tests/unit/deep/b_test.py"

# command, the listing, the listing without selection, documented skips, status, code and place that must be found
EXPECTATIONS = [
    (UNITS, BOTH, None, (), "PASS", None),
    (UNITS, NOISY, None, (), "PASS", None),  # an import printed something first
    (UNITS, ONE, None, (), "FAIL", ("file-not-collected", LOST)),
    (UNITS, ONE, None, (AllowedSkip(LOST),), "PASS", None),
    (UNITS, ONE, None, (AllowedSkip(f"{LOST}::*"),), "PASS", None),
    (UNITS, ONE, None, (AllowedSkip("tests/unit/deep"),), "FAIL", ("file-not-collected", LOST)),  # no prefix
    # kept out by the project's configuration: the trick of an addopts line
    (UNITS, APART, BOTH, (), "FAIL", ("test-deselected", f"{LOST}::u")),
    (UNITS, APART, BOTH, (AllowedSkip(f"{LOST}::u"),), "PASS", None),
    (UNITS, APART, APART, (), "FAIL", ("test-deselected", "")),  # by code: not even without a selection is it named
    (SELECTED, APART, BOTH, (), "PASS", ("outside-selection", "unit")),  # kept out by the policy's own command
    (SELECTED, APART, ONE, (), "FAIL", ("file-not-collected", LOST)),
    (UNITS, APART, None, (), "BLOCKED", ("evidence-unreadable", None)),  # the second collection is owed
    (UNITS, BOTH[:-8], None, (), "PASS", None),
    (UNITS, BOTH[:20], None, (), "BLOCKED", ("evidence-unreadable", None)),  # cut off
    (UNITS, b"tests/unit/test_a.py: 2\n\n", None, (), "BLOCKED", ("evidence-unreadable", None)),  # counts, no ids
    (UNITS, b"x/test_z.py::t\n\n1 test collected\n", None, (), "BLOCKED", ("collected-elsewhere", "unit")),
    (UNITS, None, None, (), "BLOCKED", ("evidence-unreadable", None)),
]


@pytest.mark.parametrize(("run", "narrow", "wide", "skips", "status", "found"), EXPECTATIONS)
def test_what_is_kept_out_of_a_collection_is_named(
    run: Command,
    narrow: bytes | None,
    wide: bytes | None,
    skips: tuple[AllowedSkip, ...],
    status: str,
    found: tuple[str, str | None] | None,
) -> None:
    files = {name: data for name, data in (("n", narrow), ("w", wide)) if data is not None}
    argv = {"n": collect_command(run), "w": collect_command(run, wide=True)}
    listings = [Ended("unit", argv[name].run, 0, log=name) for name in files]  # type: ignore[union-attr]  # all are pytest
    said = expect(run, listings, files, TREE, skips)
    assert said.status == status, said.findings
    assert found is None or any(one.code == found[0] and found[1] in (None, one.place) for one in said.findings), (
        said.findings
    )


SKIP = Skip("t.py::a", "docs/skips.md", "310p has no a2a")

DOCUMENTS = [
    ({"docs/skips.md": b"We know: 310p has no a2a kernels."}, SKIP, ""),
    ({"docs/skips.md": b"Nothing."}, SKIP, "does not say '310p has no a2a'"),
    ({"docs/skips.md": None}, SKIP, "is not in the base commit"),  # written during the upgrade: too late
    ({}, SKIP, "is not in the base commit"),
    ({"docs/skips.md": b"x"}, replace(SKIP, quote=""), "without a quote"),
]


@pytest.mark.parametrize(("texts", "skip", "why"), DOCUMENTS)
def test_a_skip_is_documented_only_by_what_stood_at_the_freeze(
    texts: dict[str, bytes | None], skip: Skip, why: str
) -> None:
    allowed, notes = documented([skip], texts)
    assert bool(allowed) == (not why)
    assert [why in note.message for note in notes] == ([True] if why else [])


def test_many_skips_of_one_reason_are_one_line_for_a_person() -> None:
    same = [Finding("skip-not-allowed", f"t.py::t{n}", f"unit: t.py::t{n}: skipped: no NPU") for n in range(100)]
    other = Finding("skip-not-allowed", "t.py::z", "unit: t.py::z: skipped: slow")
    said = [one.message for one in grouped([*same, other])]
    assert said == [
        "unit: t.py::t0, t.py::t1, t.py::t2 and 97 more (100 in all): skipped: no NPU",
        "unit: t.py::z: skipped: slow",
    ]
    assert list(grouped(same[:3])) == same[:3]


def test_a_module_that_vanishes_and_an_undocumented_skip_are_named_by_a_real_run(kit: Kit) -> None:
    """The suite's own configuration says -q, leaves one file out and deselects a test; a module skips itself."""
    files = {
        TEST: "def test_step():\n    assert True\n",
        "pytest.ini": "[pytest]\naddopts = -q -m 'not slow' --ignore=tests/test_ignored.py\nmarkers = slow: slow\n",
        "tests/test_ignored.py": "def test_gone():\n    assert False\n",
        "tests/test_slow.py": "import pytest\n@pytest.mark.slow\ndef test_late():\n    assert False\n",
        # the suite that the gate judges: these skips are the ones it must name
        "tests/test_module.py": "import pytest\npytest.skip('no NPU here', allow_module_level=True)\n",
        "tests/test_many.py": "import pytest\n@pytest.mark.parametrize('n', range(60))\n"
        "@pytest.mark.skip(reason='why')\ndef test_n(n):\n    pass\n",
    }
    up = upgrade(kit, policy(command("static", "unit", *UNIT, junit="'unit.xml'")), files=files)
    done = gate(up, "static", "--json")
    assert done.code == 1
    found = {(one["code"], one["place"]) for one in done.json["findings"] if one["severity"] == "error"}
    assert {place for code, place in found if code == "file-not-collected"} == {"tests/test_ignored.py"}
    assert ("test-deselected", "tests/test_slow.py::test_late") in found
    assert ("skip-not-allowed", "tests/test_module.py") in found
    assert len([one for one in found if one[0] == "skip-not-allowed"]) == 61  # every one, for programs
    run = up.upgrade.runs["R-1"]
    assert {"collect/unit.txt.gz", "collect/unit.all.txt.gz"} <= set(run.artifacts)
