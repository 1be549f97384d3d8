"""The hooks' state survives its file, whatever paths and names hold, and a file that is not whole is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.hook_state import HookState, HookStateFault, OpenUpgrade, Plan, read_hook_state, write_hook_state

texts = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12)
words = st.text("abcXYZ-_.0", min_size=1, max_size=8)
ids = st.text("0123456789abcdef", min_size=40, max_size=40)
plans = st.builds(Plan, words, st.dictionaries(texts, words, max_size=3))
upgrades = st.builds(
    OpenUpgrade,
    id=texts,
    branch=texts,
    base=ids,
    primary=texts,
    revisions=st.dictionaries(words, ids, max_size=4),
    phases=st.dictionaries(words, st.sampled_from(["PASS", "not run"]), max_size=3),
    plans=st.dictionaries(words, plans, max_size=3),
    dirty=st.lists(texts, max_size=3),
    words=st.lists(st.text("abcXYZ_", max_size=8), max_size=2),
)
states = st.builds(
    HookState,
    ids,
    st.integers(0, 3),
    st.lists(ids, max_size=3),
    st.lists(upgrades, max_size=2, unique_by=lambda up: up.id),
    st.lists(texts, max_size=2),
)


def _plain(value: object) -> object:
    if isinstance(value, HookState | OpenUpgrade | Plan):
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@given(states)
def test_any_state_survives_the_file(state: HookState) -> None:
    assert _plain(read_hook_state(write_hook_state(state))) == _plain(state)


@given(states, st.data())
def test_a_file_that_was_cut_anywhere_is_refused(state: HookState, data: st.DataObject) -> None:
    text = write_hook_state(state)
    with pytest.raises(HookStateFault):
        read_hook_state(text[: data.draw(st.integers(0, len(text) - 1))])


@pytest.mark.parametrize("word", ["tip", "damage", "heads", "base", "branch"])
def test_a_line_that_is_missing_or_unknown_is_refused(word: str) -> None:
    up = OpenUpgrade(id="U", branch="b", base="1", primary="p", revisions={}, phases={}, plans={}, dirty=[], words=[])
    text = write_hook_state(HookState("1", 0, [], [up], []))
    lines = [line for line in text.split("\n") if not line.startswith(f"{word} ")]
    assert len(lines) == text.count("\n")
    with pytest.raises(HookStateFault):
        read_hook_state("\n".join(lines))
    with pytest.raises(HookStateFault):
        read_hook_state(text.replace(f"{word} ", "other "))
