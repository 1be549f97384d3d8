from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.intent import Intent, IntentFault, Planned, read_intent, write_intent

PATHS = st.text(min_size=1).filter(lambda text: "\0" not in text)


@given(st.lists(PATHS, max_size=4))
def test_any_path_survives_the_file(paths: list[str]) -> None:
    intent = Intent("U-1", "RC-1", "c" * 40, "a" * 40, "b" * 40, [Planned("100644", "d" * 40, path) for path in paths])
    again = read_intent(write_intent(intent))
    assert [item.path for item in again.paths] == paths
    assert (again.upgrade, again.root_cause, again.parent, again.tree) == ("U-1", "RC-1", "a" * 40, "b" * 40)


# text, what is wrong with it
BROKEN = [
    ("", "empty"),
    ("afd-intent 1\nupgrade U\n", "cut off before its end"),
    ("afd-intent 2\nend\n", "another version"),
    ("afd-intent 1\nupgrade U\nend\n", "lines missing"),
    ("afd-intent 1\nupgrade U\nupgrade V\nroot_cause R\nledger l\nparent p\ntree t\nend\n", "a line twice"),
    (
        "afd-intent 1\nupgrade U\nroot_cause R\nledger l\nparent p\ntree t\npath 100644\nend\n",
        "a path without its path",
    ),
]


@pytest.mark.parametrize(("text", "why"), BROKEN)
def test_a_damaged_intent_announces_nothing(text: str, why: str) -> None:
    with pytest.raises(IntentFault):
        read_intent(text)
