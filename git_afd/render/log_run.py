"""Words for everything of one run, in ``git afd log --run``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Json
from git_afd.render.document import Piece, Table

_GONE = "not known"


def run_pieces(run: Mapping[str, Any]) -> Iterator[Piece]:
    """Show a run: what it was, its commands, on what, its verdict with findings, its files, and ends of logs."""
    kinds = [
        run["origin"] if run["origin"] != "here" else "",
        *(one for one in ("simulated", "diagnostic") if run[one]),
    ]
    said = ", ".join(filter(None, (run["status"], *kinds)))
    yield f"Run {run['run']} of upgrade {run['upgrade']}: gate {run['gate']}, {said}"
    if run["reason"]:
        yield f"because: {run['reason']}"
    if run["tests"] or run["cleanup"]:
        yield f"tests: {run['tests']}; cleanup: {run['cleanup']}"
    if run["unreadable"]:
        yield f"its raw facts cannot be read: {run['unreadable']}"
    if run["failure"]:
        yield f"it opened failure {run['failure']}"
    if run["recorded"]:
        yield f"recorded {' and '.join(run['recorded'])} by {run['by']}"
    yield from _commands(run)
    yield from _verdicts(run["verdicts"])
    for name, cell in run["cells"].items():
        yield from _facts(f"cell {name}", _flat(cell))
    yield from _facts("asked for", {**run["asked"], "checks": run["checks"] or ""})
    yield from _facts("what it vouches for", run["identity"])
    yield from _facts("where", {"root": run["root"], "python": run["python"], **run["trees"]})
    yield from _facts("environment", run["environment"])
    yield from _facts("host", _flat(run["host"]))
    yield from (f"disturbed: {text}" for text in run["disturbed"])
    yield from _findings(run["findings"])
    yield from _files(run)
    yield from _excerpts(run)


def _commands(run: Mapping[str, Any]) -> Iterator[Piece]:
    rows = [_command_row(one, "collect ") for one in run["collections"]]
    rows += [_command_row(one, "") for one in run["commands"]]
    if rows:
        yield Table(("command", "exit", "began", "seconds", "printed", "run"), tuple(rows))
    for one in run["commands"]:
        yield from (f"{one['name']}: left behind {item}" for item in one.get("left_behind", ()))
        yield from (f"{one['name']}: outlived by {item}" for item in one.get("survivors", ()))


def _command_row(one: Mapping[str, Any], before: str) -> tuple[str, ...]:
    how = "time was up" if one.get("timed_out") else "interrupted" if one.get("interrupted") else ""
    signal = f"signal {one['signal']}" if one.get("signal") else ""
    code = "" if one.get("exit_code") is None else str(one["exit_code"])
    ended = ", ".join(filter(None, (code, signal, how))) or ("not started" if one.get("missing") else "")
    printed = f"{one['log_bytes']} bytes" if one.get("log_bytes") else ""
    seconds = "" if one.get("seconds") is None else str(one["seconds"])
    line = one.get("missing") or shlex.join(one.get("run", ()))
    return f"{before}{one['name']}", ended, one.get("began", ""), seconds, printed, line


def _verdicts(verdicts: list[Mapping[str, Any]]) -> Iterator[Piece]:
    rows = tuple((one["name"], one["status"], counted(one.get("counts", {}))) for one in verdicts)
    if rows:
        yield Table(("judged", "status", "tests"), rows)


def counted(counts: Mapping[str, int]) -> str:
    """Return how many tests ended in which way; what no test did is not named."""
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count > 0)


def _facts(title: str, facts: Mapping[str, Json]) -> Iterator[Piece]:
    rows = tuple((name, _word(value)) for name, value in facts.items() if value not in ("", None))
    if rows:
        yield Table((title, ""), rows)


def _flat(facts: Mapping[str, Any], before: str = "") -> dict[str, Json]:
    """Return nested facts with dotted names."""
    found: dict[str, Json] = {}
    for name, value in facts.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found


def _word(value: Json) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_word, value)) or "none"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_word(item)}" for name, item in value.items())
    return str(value)


def _findings(findings: list[Mapping[str, Any]]) -> Iterator[Piece]:
    for one in findings:
        word = "note" if one.get("severity") == "note" else "finding"
        place = f" [{one['place']}]" if one.get("place") else ""
        yield f"{word}: {one.get('message', _GONE)}{place}"


def _files(run: Mapping[str, Any]) -> Iterator[Piece]:
    if run["artifacts"]:
        rows = ((one["name"], str(one["bytes"]), one["digest"][:12], one["state"]) for one in run["artifacts"])
        yield Table(("file", "bytes", "SHA-256", "is"), tuple(rows))
        yield f"to read one: git afd log --run {run['run']} --log NAME"


def _excerpts(run: Mapping[str, Any]) -> Iterator[Piece]:
    for one in run["excerpts"]:
        yield ""
        cut = f" after {one['left_out']} bytes" if one["left_out"] else ""
        yield one["unreadable"] or f"end of {one['log']}{cut}:"
        yield from (f"  {line}" for line in one["lines"])
