"""What a person sees of a gate at work: where it stands, and what its commands print, never mixed up."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from git_afd.cli.screen import Screen
from git_afd.core.progress import Progress, elapsed, fitted

# what pytest printed, how many of ten tests are done by it
PRINTED = [
    ("....", 4),  # the line is not ended yet
    ("..F.sx\n", 6),
    ("tests/test_a.py ....                 [ 40%]\ntests/test_b.py .\n", 5),
    ("tests/test_a.py::test_b PASSED       [ 10%]\ntests/test_a.py::test_c[x y] FAILED   [ 20%]\n", 2),
    ("tests/test_a.py::test_b ", 0),  # it runs
    ("[gw0] [ 10%] PASSED tests/test_a.py::test_b \n[gw1] [ 20%] SKIPPED tests/test_a.py::test_c \n", 2),
    ("\x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m", 3),  # in colours
    ("................................\n", 10),  # never more than there are
    ("FAILED tests/test_a.py::test_b - assert 1 == 2\nERROR tests/test_c.py\n", 0),  # the summary says it again
    ("=== 3 passed in 0.1s ===\nloading ...\n", 0),
    ("...\r\n", 3),
]


@pytest.mark.parametrize(("text", "done"), PRINTED)
@pytest.mark.parametrize("size", [1, 7, 10_000])  # in pieces of any size
def test_tests_are_counted_as_pytest_prints_them(text: str, done: int, size: int) -> None:
    progress = Progress("static 1/1 unit", 10, 0.0)
    data = text.encode()
    for start in range(0, len(data), size):
        progress.feed(data[start : start + size])
    assert progress.tests == done


# what was printed, the last line that is shown of it
LAST = [
    ("one\ntwo\n", "two"),
    ("one\ntw", "tw"),
    ("one\n\n  \n", "one"),
    ("loading 1%\rloading 2%", "loading 2%"),
    ("loading 2%\r\n", "loading 2%"),
    ("\x1b[31mred\x1b[0m \x1b]0;title\x07text\n", "red text"),
    ("a\tb\x00\x1b[2Jc\u202ed\n", "a b c d"),  # nothing in it moves the cursor
    ("", ""),
]


@pytest.mark.parametrize(("text", "last"), LAST)
def test_the_last_line_is_what_a_terminal_would_show_and_moves_no_cursor(text: str, last: str) -> None:
    progress = Progress("t", 0, 0.0)
    progress.feed(text.encode())
    assert progress.last == last


def test_a_line_without_an_end_takes_no_memory() -> None:
    progress = Progress("t", 5, 0.0)
    for _ in range(200):
        progress.feed(b"x" * 10_000)
    assert len(progress._rest) < 10_000


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0 s"), (59.9, "59 s"), (65, "1:05"), (3600, "1:00:00"), (7384, "2:03:04")]
)
def test_a_time_is_said_as_people_say_it(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [("abc", 3, "abc"), ("abc", 2, "ab"), ("日本語", 5, "日本"), ("日本語", 6, "日本語"), ("e\u0301x", 1, "e\u0301")],
)
def test_a_line_is_cut_by_what_a_terminal_needs_for_it(text: str, cells: int, shown: str) -> None:
    assert fitted(text, cells) == shown


class Desk:
    """A screen with a clock and a window that a test turns by hand."""

    def __init__(self, width: int | None = None, every: float = 60.0) -> None:
        self.now = 0.0
        self.columns = width or 0
        self.written: list[bytes] = []
        window: Callable[[], int] | None = (lambda: self.columns) if width else None
        self.screen = Screen(self.written.append, width=window, every=every, clock=lambda: self.now)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.screen.tick()

    @property
    def text(self) -> str:
        return b"".join(self.written).decode()

    @property
    def lines(self) -> list[str]:
        """What stands on a terminal that was written to: a return goes to the line's beginning, an erase clears it."""
        shown = [""]
        for part in re.findall(r"\r\x1b\[K|\n|[^\r\n\x1b]+", self.text):
            if part == "\n":
                shown.append("")
            else:
                shown[-1] = "" if part.startswith("\r") else shown[-1] + part
        return shown


def test_without_a_terminal_a_plain_line_is_said_once_a_minute() -> None:
    desk = Desk()
    desk.screen.tell("static 1/1 unit: pytest")
    desk.screen.began("static 1/1 unit", 4)
    desk.screen.echo(b"loading\n..")
    for _ in range(600):
        desk.wait(0.2)
    desk.screen.echo(b".F [100%]\n")
    desk.screen.ended()
    desk.wait(100)
    assert desk.text.splitlines() == [
        "git-afd: static 1/1 unit: pytest",
        "loading",
        "git-afd: static 1/1 unit: 1:00, 2 of 4 tests, ..",
        "git-afd: static 1/1 unit: 2:00, 2 of 4 tests, ..",
        "...F [100%]",
    ]


def test_on_a_terminal_the_status_is_the_last_line_and_never_inside_the_output() -> None:
    desk = Desk(40, every=0.2)
    desk.screen.began("static 1/1 unit", 4)
    for piece in (b"one\ntw", b"o\n", b"..", b"..\nend"):
        desk.screen.echo(piece)
        desk.wait(0.3)
        assert desk.lines[-1].startswith("static 1/1 unit: ")
    assert desk.lines == ["one", "two", "....", "static 1/1 unit: 1 s, 4 of 4 tests, end"]
    desk.screen.ended()
    desk.screen.tell("exit code 0")
    assert desk.lines == ["one", "two", "....", "end", "git-afd: exit code 0", ""]


@pytest.mark.parametrize("columns", [200, 40, 20, 10, 5, 1])
def test_a_window_of_any_width_is_never_written_beyond(columns: int) -> None:
    desk = Desk(120, every=0.2)
    desk.screen.began("accuracy 1/2 eager", 0)
    desk.screen.echo("日本語 a long last line ".encode() * 20 + b"\n")
    desk.wait(0.3)
    desk.written.clear()
    desk.columns = columns  # the window was made smaller or larger meanwhile
    desk.wait(0.3)
    assert len(desk.lines[-1]) < columns
    assert bool(desk.lines[-1]) == (columns > 8)
    assert "\n" not in desk.text


def test_output_that_is_no_text_is_passed_on_and_the_status_waits() -> None:
    desk = Desk(80, every=0.2)
    desk.screen.began("t", 0)
    desk.screen.echo(b"x" * 20_000)
    desk.wait(1)
    assert desk.text == "x" * 20_000
    desk.screen.echo(b"y\n")
    desk.wait(1)
    assert desk.lines[0] == "x" * 20_000 + "y"
    assert desk.lines[1].startswith("t: 2 s")


def test_a_screen_that_nobody_reads_any_more_ends_nothing() -> None:
    def gone(_: bytes) -> None:
        raise BrokenPipeError

    screen = Screen(gone, width=None, every=0.0)
    screen.began("t", 0)
    screen.echo(b"one\n")
    screen.tick()
    screen.tell("two")
    screen.ended()
