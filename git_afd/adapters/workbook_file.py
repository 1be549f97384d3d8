"""Reading a workbook file (TOML or JSON) and telling the line on which a row or one of its fields stands."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.workbook.row import RowFault
from git_afd.errors import UsageFault


@dataclass(frozen=True, slots=True)
class WorkbookFile:
    """A file's tables. `name` is the path as given; `rows` maps (table, row from 1) to its first and last line."""

    name: str
    document: Mapping[str, Json]
    lines: tuple[str, ...]
    rows: Mapping[tuple[str, int], tuple[int, int]]

    def findings(self, faults: Sequence[RowFault]) -> tuple[Finding, ...]:
        """Return the faults of its rows as findings, each with file, line, row and field."""
        return tuple(self._finding(fault) for fault in sorted(faults, key=lambda item: (self._line(item), item)))

    def _finding(self, fault: RowFault) -> Finding:
        row = f"{fault.table} row {fault.row}" if fault.row else fault.table
        field = f", {fault.field}" if fault.field else ""
        return Finding("workbook-row", f"{self.name}:{self._line(fault)}", f"{row}{field}: {fault.reason}", fault.fix)

    def _line(self, fault: RowFault) -> int:
        """Find the line of a field at the best: each word of its dotted name inside its row, in order; else the row."""
        first, last = self.rows.get((fault.table, fault.row), (1, len(self.lines)))
        at = first
        for word in fault.field.split(".") if fault.field else [fault.table]:
            key = re.compile(rf"(?:^|[\s{{,\[.\"']){re.escape(word)}[\"']?\s*[=:.\]]")
            numbers = range(at, min(last, len(self.lines)) + 1)
            at = next((number for number in numbers if key.search(self.lines[number - 1])), at)
        return at


def read_workbook(path: Path, name: str) -> WorkbookFile:
    """Read a file; `name` is how the user named it. Raises UsageFault with file and line when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageFault(f"{name} cannot be read: {reason}", "name a TOML or JSON file") from None
    if path.suffix == ".json":
        return _json(text, name)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = found.group(1) if (found := re.search(r"line (\d+)", str(error))) else "1"
        raise UsageFault(f"{name}:{line} is no TOML: {error}", f"correct {name}") from None
    lines = tuple(text.split("\n"))
    return WorkbookFile(name, document, lines, _toml_rows(lines))


def _toml_rows(lines: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]:
    rows: dict[tuple[str, int], tuple[int, int]] = {}
    counts: dict[str, int] = {}
    current: tuple[tuple[str, int], int] | None = None
    for number, line in enumerate(lines, start=1):
        head = re.match(r"\s*\[\[\s*[\"']?([\w-]+)[\"']?\s*\]\]", line)
        if head:
            if current:
                rows[current[0]] = (current[1], number - 1)
            counts[head.group(1)] = counts.get(head.group(1), 0) + 1
            current = ((head.group(1), counts[head.group(1)]), number)
    if current:
        rows[current[0]] = (current[1], len(lines))
    return rows


def _json(text: str, name: str) -> WorkbookFile:
    try:
        document = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise UsageFault(f"{name}:{error.lineno} is no JSON: {error.msg}", f"correct {name}") from None
    except (ValueError, RecursionError) as error:
        raise UsageFault(f"{name} is no JSON that can be used: {error}", f"correct {name}") from None
    if not isinstance(document, dict):
        raise UsageFault(f"{name}:1 holds no object of tables", "write one object with a list per table")
    return WorkbookFile(name, document, tuple(text.split("\n")), _json_rows(text))


def _json_rows(text: str) -> dict[tuple[str, int], tuple[int, int]]:
    """Find the lines of each element of the document's lists. The text is known to be one JSON object."""
    decoder = json.JSONDecoder()
    rows: dict[tuple[str, int], tuple[int, int]] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        table, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if text[at] == "[":
            number, at = 0, _skip(text, at + 1)
            while text[at] != "]":
                start, number = at, number + 1
                _, at = decoder.raw_decode(text, at)
                rows[(table, number)] = (text.count("\n", 0, start) + 1, text.count("\n", 0, at) + 1)
                at = _skip(text, at, ",")
            at += 1
        else:
            _, at = decoder.raw_decode(text, at)
        at = _skip(text, at, ",")
    return rows


def _skip(text: str, at: int, also: str = "") -> int:
    while at < len(text) and (text[at] in " \t\r\n" or text[at] in also):
        at += 1
    return at


def _without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    names = [name for name, _ in pairs]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(f"the name {repeated!r} stands twice in one object")
    return dict(pairs)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
