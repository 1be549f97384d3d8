"""Columns for a terminal: nothing is cut, nothing runs over, nothing moves a cursor."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.render.document import Piece, Table
from git_afd.render.markup import markdown, page
from git_afd.render.table import _size, columns, visible


def test_columns_are_as_wide_as_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert columns(("a", "name"), [("1", "x"), ("22", "long")]) == "a   name\n1   x\n22  long"


def test_long_cells_wrap_at_spaces_and_long_words_where_the_column_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert columns(("a", "text"), [("1", "some words and supercalifragilistic")]).splitlines() == [
        "a  text",
        "1  some words and",
        "   supercalifragilis",
        "   tic",
    ]


def test_wide_characters_take_two_cells_and_combining_ones_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert columns(("k", "v"), [("\u5347\u7ea7", "x"), ("e\u0301", "y")]).splitlines()[1:] == [
        "\u5347\u7ea7  x",
        "e\u0301     y",
    ]


def test_colour_stands_around_the_word_only() -> None:
    assert columns(("s",), [("PASS",), ("else",)], color=True) == "\x1b[1ms\x1b[0m\n\x1b[32mPASS\x1b[0m\nelse"


def test_control_characters_and_turned_writing_are_spelled_out() -> None:
    assert visible("a\x1b[2J\r\u202eb\x85") == r"a\x1b[2J\r\u202eb\x85"
    assert columns(("h",), [("one\ntwo",)]) == "h\none two"


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=4), st.integers(16, 90))
def test_every_character_of_a_cell_is_shown_and_no_line_is_too_wide(rows: list[tuple[str, str]], width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        shown = columns(("a", "b"), rows)
    assert all(_size(line) <= width for line in shown.split("\n"))
    for row in rows:
        for cell in row:
            missing = set(re.sub(r"\s", "", visible(cell.replace("\n", " ")))) - set(shown)
            assert not missing


def test_markup_is_quoted_in_both_documents() -> None:
    pieces: list[Piece] = ["<b> & *x*", Table(("|",), (("a|b\n`c`",),))]
    assert markdown("t", pieces) == "# t\n\n\\<b\\> \\& \\*x\\*  \n\n| \\| |\n| --- |\n| a\\|b\\\\n\\`c\\` |\n"
    assert "<p>&lt;b&gt; &amp; *x*</p>" in page("t", pieces)
