from __future__ import annotations

import pytest

from git_afd.core.names import is_full_id, literal_path_fault, root_cause_number

# path, whether it may stand in a plan
PATHS = [
    ("afd_plugin/envs.py", True),
    ("a file with spaces.py", True),
    ("glob*[chars]?.py", True),  # taken literally
    ("-leading-dash", True),
    ("new\nline", True),
    ("", False),
    ("/absolute", False),
    ("folder/", False),
    ("./x", False),
    ("a//b", False),
    ("../outside", False),
    (".git/config", False),
    ("sub/.GIT/config", False),  # case-insensitive file systems
    ("nul\0byte", False),
]


@pytest.mark.parametrize(("path", "fine"), PATHS)
def test_planned_paths_are_literal_and_inside(path: str, fine: bool) -> None:
    assert (literal_path_fault(path) is None) is fine


def test_full_ids_are_lower_case_hex_of_either_length() -> None:
    assert is_full_id("a" * 40)
    assert is_full_id("0" * 64)
    assert not is_full_id("a" * 39)
    assert not is_full_id("A" * 40)
    assert not is_full_id("a" * 40 + "\n")


@pytest.mark.parametrize(
    ("name", "number"), [("RC-1", 1), ("RC-12", 12), ("RC-0", None), ("rc-1", None), ("RC-1x", None)]
)
def test_root_causes_are_numbered_from_one(name: str, number: int | None) -> None:
    assert root_cause_number(name) == number
