"""A threshold or tolerance that moves inside an upgrade is named with its file and line (workflow, Phase 8; U3)."""

from __future__ import annotations

import pytest
from kit import Repo

from git_afd.adapters.configuration import policy_at
from git_afd.adapters.git import Git
from git_afd.adapters.guarded import guarded_at
from git_afd.adapters.objects import open_objects
from git_afd.core.guards import Guarded, bar, guarded_in, moved, new_skips, words_of
from git_afd.core.policy import Guard

THRESHOLD = Guard("bar", "tests/e2e/**/*.py", r"GSM8K_THRESHOLD *= *([0-9.]+)", "threshold")
TOLERANCE = Guard("slack", "tests/e2e/**/*.py", r"TOLERANCE *= *([0-9.]+)", "tolerance")
GUARDS = (THRESHOLD, TOLERANCE)
PATH = "tests/e2e/accuracy/test_gsm8k.py"
THEN = "GSM8K_THRESHOLD = 0.27\nTOLERANCE = 0.05\n"


def values(text: str, path: str = PATH) -> tuple[Guarded, ...]:
    return tuple(guarded_in(GUARDS, path, text))


MOVED = [
    (THEN, []),  # the same
    ("import os\n\n" + THEN, []),  # lines may move
    ("GSM8K_THRESHOLD = 0.2\nTOLERANCE = 0.05\n", [("guard-relaxed", f"{PATH}:1")]),  # lowered
    ("GSM8K_THRESHOLD = 0.3\nTOLERANCE = 0.05\n", [("guard-moved", f"{PATH}:1")]),  # raised: still not ours to do
    ("GSM8K_THRESHOLD = 0.27\nTOLERANCE = 0.1\n", [("guard-relaxed", f"{PATH}:2")]),  # widened
    ("GSM8K_THRESHOLD = 0.27\n", [("guard-moved", f"{PATH}:2")]),  # gone: named where it stood
    (THEN + "GSM8K_THRESHOLD = 0.01\n", [("guard-moved", f"{PATH}:1")]),  # a second one that may win
    ("GSM8K_THRESHOLD = 0.2.7\nTOLERANCE = 0.05\n", [("guard-moved", f"{PATH}:1")]),  # no number any more
]


@pytest.mark.parametrize(("text", "expected"), MOVED)
def test_what_moved_is_named_by_file_and_line(text: str, expected: list[tuple[str, str]]) -> None:
    found = moved(values(THEN), values(text), ("threshold", "tolerance"))
    assert [(finding.code, finding.place) for finding in found] == expected


def test_exactly_the_approved_value_is_a_note() -> None:
    lower = values(THEN.replace("0.27", "0.2"))
    (found,) = moved(values(THEN), lower, ("threshold",), {f"bar in {PATH}: 0.2": "Ada"})
    assert (found.code, found.severity, "Ada approved it" in found.message) == ("guard-approved", "note", True)
    lowest = values(THEN.replace("0.27", "0.1"))
    assert [item.code for item in moved(values(THEN), lowest, ("threshold",), {f"bar in {PATH}: 0.2": "Ada"})] == [
        "guard-relaxed"
    ]


SKIP = Guard("skips", "tests/**/*.py", r"(pytest\.mark\.(?:skip|xfail)\b.*)", "skip")

# the skips before, those now, what is new
SKIPS = [
    (["pytest.mark.skip"], ["pytest.mark.skip"], []),
    ([], ["pytest.mark.skip"], ["pytest.mark.skip"]),
    (["pytest.mark.skip"], ["pytest.mark.skip"] * 2, ["pytest.mark.skip"]),  # a second one of the same words
    (["pytest.mark.skip"], ["pytest.mark.skip(reason='x')"], ["pytest.mark.skip(reason='x')"]),  # for another reason
    (["pytest.mark.skip( reason)"], ["pytest.mark.skip(  reason)"], []),  # formatted anew
    (["pytest.mark.skip"], [], []),  # one that goes is welcome
]


@pytest.mark.parametrize(("then", "now", "new"), SKIPS)
def test_a_skip_is_new_when_nothing_accounts_for_it(then: list[str], now: list[str], new: list[str]) -> None:
    before = [item for line in then for item in guarded_in([SKIP], "tests/a.py", line)]
    after = [item for line in now for item in guarded_in([SKIP], "tests/moved.py", line)]  # it may move to another file
    assert [item.now for item in new_skips(before, after)] == new


# patterns, the words that the hook looks for
WORDS = [
    ((THRESHOLD,), ("GSM8K_THRESHOLD",)),
    ((SKIP,), ("skip", "xfail")),  # not `pytest` and `mark`, which stand in every test
    ((Guard("odd", "x", r"([0-9.]+)", "threshold"),), ("",)),  # no word at all: every file is looked at
]


@pytest.mark.parametrize(("guards", "words"), WORDS)
def test_the_hook_looks_for_the_words_of_the_patterns(guards: tuple[Guard, ...], words: tuple[str, ...]) -> None:
    assert words_of(guards) == words


def test_a_value_that_moves_to_another_file_is_no_longer_the_frozen_one() -> None:
    found = moved(values(THEN), values(THEN, "tests/e2e/other.py"), ("threshold",))
    assert [finding.code for finding in found] == ["guard-moved", "guard-moved"]


def test_the_bar_is_never_lower_than_what_stood_at_the_freeze() -> None:
    assert bar(values(THEN), "bar", 0.20) == 0.27
    assert bar(values(THEN), "bar", 0.50) == 0.50
    assert bar(values(THEN), "another guard", 0.20) == 0.20


def test_values_are_read_from_the_commit_and_not_from_the_work_tree(repo: Repo) -> None:
    commit = repo.commit("base", {"tests/e2e/a.py": "x\nAFD_GSM8K_THRESHOLD = 0.31\n", "tests/unit/b.py": THEN})
    repo.write("tests/e2e/a.py", "AFD_GSM8K_THRESHOLD = 0.01\n")
    git = Git(repo.path)
    found = guarded_at(open_objects(git, repo.path), commit, policy_at(git, commit).policy)
    assert [(item.guard, item.place, item.value) for item in found] == [("gsm8k threshold", "tests/e2e/a.py:2", "0.31")]
