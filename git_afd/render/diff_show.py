"""Words for ``git afd diff --show``: old and new side by side, then what changed and how far the plugin is from it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from git_afd.core.outcome import Outcome
from git_afd.render.diff import class_of

_LEAST: Final = 100
_RED, _GREEN, _DIM, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show a contract's impact in full."""
    data: Mapping[str, Any] = outcome.data
    row = data["impact"]
    yield row["id"]
    yield f"{row['state']}{' (breaking)' if row['breaking'] else ''}, {class_of(row)}"
    yield from textwrap.wrap(row["reason"], 100)
    if row["rule"]:
        yield f"rule: {row['rule']}"
    yield f"consumers: {', '.join(row['consumers'])}"
    if row["order"]:
        yield f"order: {row['order']}"
    yield from _side_by_side(data["old"], data["new"], color=color)
    if data["drift"]:
        yield ""
        yield "From the target to the plugin's function:"
        yield from (_painted(line, color=color) for line in data["drift"].split("\n"))
    if data["log"]:
        yield ""
        yield f"Commits to {data['old']['path']} inside the range (first parent):"
        yield from (f"  {item['commit'][:12]} {item['subject']}" for item in data["log"])


def _side_by_side(old: Mapping[str, Any], new: Mapping[str, Any], *, color: bool) -> Iterator[str]:
    width = max(shutil.get_terminal_size((_LEAST, 24)).columns, _LEAST) // 2 - 2
    left, right = (str(side["text"]).expandtabs().split("\n") if side["text"] else [] for side in (old, new))
    yield ""
    yield f"{_place(old):<{width}} | {_place(new)}"
    matcher = SequenceMatcher(None, [line.strip() for line in left], [line.strip() for line in right], autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        rows = max(last - first, end - start)
        for number in range(rows):
            one = left[first + number] if first + number < last else ""
            two = right[start + number] if start + number < end else ""
            mark = "|" if tag == "equal" else ">" if not one and two else "<" if one and not two else "!"
            yield _line(one[:width], two[:width], (mark, width), color=color)


def _line(one: str, two: str, how: tuple[str, int], *, color: bool) -> str:
    mark, width = how
    first, second = f"{one:<{width}}", two
    if color and mark != "|":
        first, second = f"{_RED}{first}{_OFF}", f"{_GREEN}{second}{_OFF}"
    return f"{first} {mark} {second}".rstrip()


def _place(side: Mapping[str, Any]) -> str:
    return f"{side['path']}:{side['line']} {side['symbol']}" if side["path"] else "(not there)"


def _painted(line: str, *, color: bool) -> str:
    if not color:
        return line
    style = {"+": _GREEN, "-": _RED}.get(line[:1], _DIM)
    return f"{style}{line}{_OFF}"
