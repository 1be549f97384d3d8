"""What a failed command broke on: the first useful traceback, the innermost cause, and the log around it.

A test's own error is often only the symptom: the server that it started printed the cause before. So what a test
captured of its children comes first, then the test's own innermost exception, then the log. What happened while
tearing down, what was only warned about and what a destructor could not do caused nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Final

LINES: Final = 40
CHARACTERS: Final = 4000
"""How much of a traceback is kept: its end, where the error stands; and how much of the log around it."""

_AROUND: Final = 10
_MESSAGE: Final = 8
_BEGINS: Final = "Traceback (most recent call last):"
_TEARDOWN: Final = "failed on teardown"
_CHAINED: Final = re.compile(
    r"^.*(?:The above exception was the direct cause of the following exception|"
    r"During handling of the above exception, another exception occurred):.*$",
    re.MULTILINE,
)
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STAMP: Final = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s")
"""A time before a whole line, as containers print it: it differs from line to line of one traceback."""

_CHILD: Final = re.compile(r"^\(\w+ [^)]*pid=\d+[^)]*\)")
"""How vLLM and Ray mark the lines of their processes."""

_MILD: Final = re.compile(r"\b(?:DEBUG|INFO|WARNING|WARN)\b")
_QUOTE: Final = re.compile(r"[\"'`]")
"""A line of source that speaks of tracebacks is none."""

_IGNORED: Final = "Exception ignored in"
_GROUP: Final = "Exception Group "
_TEST: Final = re.compile(r"^_{3,} (.+?) _{3,}$")
_RULE: Final = re.compile(r"^={3,} .*={3,}$")
_CAPTURED: Final = re.compile(r"^-{3,} ?Captured \w+ (\w+) ?-{3,}$")
_ERRORS: Final = (
    re.compile(r"^E {2,}\S"),
    re.compile(r"Fatal Python error|terminate called after|Segmentation fault|\bOut of memory\b|\bE[A-Z]\d{4}: "),
)
"""Signs of an error in a log without any traceback: pytest's own lines; ends of a process, Ascend's error codes."""


@dataclass(frozen=True, slots=True)
class Root:
    """`traceback` is the first useful one; `raised` what the test itself raised, when that is something else.

    `excerpt` is the log around the traceback, or its end when it stands nowhere in the log.
    """

    traceback: str = ""
    raised: str = ""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A traceback in a log: its lines without what they share, and where it begins and ends."""

    lines: tuple[str, ...]
    start: int
    end: int
    child: bool = False

    @property
    def text(self) -> str:
        return _bounded(self.lines)


def root_of(report: bytes, log: str) -> Root:
    """Return what a failed command broke on, from its JUnit report (empty: none) and its log."""
    name, raised = _raised(report)
    lines = _clean(log)
    found = _child_of(lines, name) if raised else _first(lines, 0, len(lines))
    inner = _inner(raised)
    if found is None and not inner:
        found = _error_in(lines)
    traceback = found.text if found else inner
    place = (found.start, found.end) if found else _place_of(lines, traceback)
    return Root(traceback, inner if inner != traceback else "", _excerpt(lines, place))


def _raised(data: bytes) -> tuple[str, str]:
    """Return the first test that failed (dotted), on teardown only when none did otherwise, and its whole text."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import iterparse

    later, text = ("", ""), ""
    try:
        for _, element in iterparse(BytesIO(data), ("end",), forbid_dtd=True):
            if element.tag in ("failure", "error") and (element.text or "").strip():
                text = text or f"{element.get('message', '')}\0{element.text}"
            elif element.tag == "testcase":
                message, _, said = text.partition("\0")
                name = f"{element.get('classname', '')}.{element.get('name', '')}"
                if said and not message.startswith(_TEARDOWN):
                    return name, said
                later = later if later[1] else (name, said)
                text = ""
                element.clear()
    except (ParseError, ValueError, LookupError):  # the verdict says what is wrong with the report
        return later
    return later


def _inner(text: str) -> str:
    """Return the innermost cause of what a test raised; a child's log inside its message is further in still."""
    first = _CHAINED.split(text)[0].strip("\n").splitlines()
    found = _first(first, 0, len(first))
    return found.text if found else _bounded(first)


def _clean(log: str) -> list[str]:
    return [_STAMP.sub("", _COLOUR.sub("", line)) for line in log.splitlines()]


def _child_of(lines: Sequence[str], name: str) -> _Found | None:
    """Return what a child process of the failed test `name` (dotted) raised: as captured, else in live output."""
    start = next((at for at, title in _titles(lines) if f".{name}".endswith(f".{title}")), None)
    if start is not None:
        end = next((at for at in range(start + 1, len(lines)) if _ends(lines[at])), len(lines))
        captured = next((at for at in range(start, end) if _CAPTURED.match(lines[at])), end)
        return _first(lines, captured, end) if captured < end else None
    found = _first(lines, 0, len(lines))
    return found if found and found.child else None


def _titles(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for at, line in enumerate(lines):
        match = _TEST.match(line)
        if match:
            yield at, match[1].rpartition(" of ")[2]


def _ends(line: str) -> bool:
    return bool(_TEST.match(line) or _RULE.match(line))


def _first(lines: Sequence[str], start: int, end: int) -> _Found | None:
    """Return the first traceback between two lines that caused something, else the first of any kind."""
    mild: _Found | None = None
    teardown = False
    for at in range(start, end):
        captured = _CAPTURED.match(lines[at])
        if captured or _ends(lines[at]):
            teardown = captured is not None and captured[1] == "teardown"
        prefix, begins, _ = lines[at].partition(_BEGINS)
        if not begins or prefix.endswith(_GROUP) or _QUOTE.search(prefix):
            continue
        if not (teardown or _MILD.search(prefix) or _destructor(lines, at, prefix)):
            return _taken(lines, at, end, prefix)
        mild = mild or _taken(lines, at, end, prefix)
    return mild


def _destructor(lines: Sequence[str], at: int, prefix: str) -> bool:
    return at > 0 and lines[at - 1].removeprefix(prefix).startswith(_IGNORED)


def _taken(lines: Sequence[str], start: int, limit: int, prefix: str) -> _Found:
    """Return the traceback that begins at `start`: the lines of its process only, up to the end of its message."""
    found = [_BEGINS]
    after = 0
    end = start + 1
    for at in range(start + 1, limit):
        line = lines[at]
        if not line.startswith(prefix) or (not prefix and _CHILD.match(line)):
            if after:
                break
            continue
        rest = line.removeprefix(prefix)
        if after and (not prefix.strip() or not rest.strip() or after > _MESSAGE or _BEGINS in rest):
            break
        after += bool(after or (rest and not rest[0].isspace()))
        found.append(rest)
        end = at + 1
    return _Found(tuple(found), start, end, bool(_CHILD.match(prefix)))


def _error_in(lines: Sequence[str]) -> _Found | None:
    """Return the surroundings of the first sign of an error in a log without a traceback."""
    for sign in _ERRORS:
        at = next((at for at, line in enumerate(lines) if sign.search(line)), None)
        if at is not None:
            end = next((to for to in range(at, len(lines)) if not lines[to].strip()), len(lines))
            begin, end = max(at - _AROUND, 0), min(end, at + _AROUND)
            return _Found(tuple(lines[begin:end]), begin, end)
    return None


def _place_of(lines: Sequence[str], text: str) -> tuple[int, int] | None:
    last = text.splitlines()[-1:]
    at = next((at for at, line in enumerate(lines) if last and line == last[0]), None)
    return None if at is None else (at, at + 1)


def _excerpt(lines: Sequence[str], place: tuple[int, int] | None) -> str:
    if place is None:
        return _bounded(lines[-LINES // 2 :])
    start, end = max(place[0] - _AROUND, 0), min(place[1] + _AROUND, len(lines))
    return _bounded(lines[max(start, end - 2 * LINES) : end], 2 * LINES)


def _bounded(lines: Sequence[str], limit: int = LINES) -> str:
    return "\n".join(line.rstrip() for line in lines[-limit:]).strip("\n")[-CHARACTERS:]
