"""Words for ``git afd root-cause``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from git_afd.core.outcome import Outcome
from git_afd.render.table import columns

_DONE: Final = {"add": "recorded", "amend": "amended", "withdraw": "withdrawn"}
_LINES: Final = (
    ("upstream", "upstream cause"),
    ("invariant", "preserves"),
    ("files", "files"),
    ("tests", "focused tests"),
    ("untested", "untested because"),
    ("removal", "removal or upstream plan"),
    ("out_of_order", "out of order because"),
    ("failure", "failure"),
    ("why", "withdrawn because"),
)


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show one root cause, or all of them."""
    data: Mapping[str, Any] = outcome.data
    if "root_causes" in data:
        yield from _all(data, color=color)
        return
    op = data.get("op", "")
    if op and not data["changed"]:
        yield f"{data['root_cause']} stands there already: nothing changed"
    elif op:
        would = "would be " if data["dry_run"] else ""
        yield f"{data['root_cause']} {would}{_DONE[op]}"
    yield from _one(data)


def _one(data: Mapping[str, Any]) -> Iterator[str]:
    commit = f" as {data['commit']}" if data["commit"] else ""
    layer = f", layer {data['layer']}" if data["layer"] else ""
    yield f"{data['root_cause']} ({data['kind']}, {data['class']}{layer}), {data['status']}{commit}: {data['title']}"
    for name, label in _LINES:
        value = data[name]
        for item in value if isinstance(value, list | tuple) else filter(None, [value]):
            yield f"  {label}: {item}"
    for item, fate in data["disposes"].items():
        yield f"  disposes of {item}: {fate}"


def _all(data: Mapping[str, Any], *, color: bool) -> Iterator[str]:
    if data["root_causes"]:
        rows = (
            (cause["root_cause"], cause["kind"], cause["class"], cause["status"], cause["commit"][:12], cause["title"])
            for cause in data["root_causes"]
        )
        yield columns(("root cause", "kind", "class", "status", "commit", "title"), rows, color=color)
    else:
        yield "No root cause is recorded."
    if data["undisposed"]:
        yield f"not disposed of: {', '.join(data['undisposed'])}"
