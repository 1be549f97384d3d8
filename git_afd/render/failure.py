"""Words for ``git afd failure list|show|classify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from git_afd.core.few import few
from git_afd.core.outcome import Outcome
from git_afd.render.table import visible

_FROZEN: Final = {"vllm": "frozen target vllm", "vllm-ascend": "frozen target vllm-ascend"}
"""What ran is the judgement's to prove; these are the commits that should have run."""


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show each failure with what was kept of it, one with all of it, or what was recorded."""
    data: Mapping[str, Any] = outcome.data
    if outcome.verb == "failure.classify":
        done = "would be recorded" if data["dry_run"] else "recorded" if data["changed"] else "stood there already"
        finding = ", an architecture finding" if data["architecture"] else ""
        yield visible(f"{data['failure']} of gate {data['gate']} is {data['class']} ({data['why']}){finding}: {done}")
        return
    if outcome.verb == "failure.show":
        yield from map(visible, _whole(data))
        return
    if not data["failures"]:
        yield "No gate has failed."
    for one in data["failures"]:
        yield from map(visible, _lines(one))


def _lines(one: Mapping[str, Any]) -> Iterator[str]:
    yield _title(one)
    if one.get("command"):
        yield f"  command: {one['command']}"
    failing = one.get("failing", [])
    if failing:
        yield f"  failing: {few(failing)}"
    yield f"  cleanup: {one.get('cleanup', 'unknown')}"
    yield from (f"  | {line}" for line in str(one.get("traceback", "")).splitlines())


def _title(one: Mapping[str, Any]) -> str:
    state = f"closed by {one['closed_by']}" if one["closed_by"] else "open"
    class_ = f"{one['class']} ({one['why']})" if one["class"] else "not classified"
    finding = ", an architecture finding" if one["architecture"] else ""
    return f"{one['failure']} {state}: gate {one['gate']}, run {one['run']}, {class_}{finding}"


def _whole(one: Mapping[str, Any]) -> Iterator[str]:
    yield _title(one)
    yield f"why: {one.get('blocker', 'unknown')}"
    yield f"fixed by: {', '.join(one['fixes']) or ('no commit' if one['closed_by'] else 'nothing yet')}"
    yield from (f"{_FROZEN.get(name, name)}: {value}" for name, value in one.get("runtime", {}).items())
    for name in ("environment", "resources"):
        yield from _named(name, one.get(name, {}))
    yield from (f"failing: {node}" for node in one["failing"])
    yield f"command: {one.get('command', '')}"
    yield f"by hand: {one['reproduce']}" if one.get("reproduce") else "by hand: as the command"
    yield f"again: git afd gate {one['gate']} --failure {one['failure']}"
    yield f"cleanup: {one.get('cleanup', 'unknown')}"
    for name, said in (("root traceback", "traceback"), ("raised by the test", "raised"), ("log", "excerpt")):
        lines = str(one.get(said, "")).splitlines()
        if lines:
            yield f"{name}:"
        yield from (f"  | {line}" for line in lines)


def _named(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, list):
            yield from (f"{name} {key}: {item}" for item in value)
        else:
            yield f"{name} {key}: {value}"
