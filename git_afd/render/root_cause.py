"""Words for ``git afd root-cause``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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

_LISTED: Final = 20
"""Up to so many impacts are named one by one; more are counted."""


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
    disposes = data["disposes"]
    shown = dict(disposes if len(disposes) <= _LISTED else ())
    for item, fate in shown.items():
        yield f"  disposes of {item}: {fate}"
    if not shown:
        for fate, number in Counter(disposes.values()).items():
            yield f"  disposes of {number} impacts: {fate} (--json names each)"


def _all(data: Mapping[str, Any], *, color: bool) -> Iterator[str]:
    if data["root_causes"]:
        rows = (
            (cause["root_cause"], cause["kind"], cause["class"], cause["status"], cause["commit"][:12], cause["title"])
            for cause in data["root_causes"]
        )
        yield columns(("root cause", "kind", "class", "status", "commit", "title"), rows, color=color)
    else:
        yield "No root cause is recorded."
    planned = {item for cause in data["root_causes"] if cause["status"] == "open" for item in cause["disposes"]}
    yield from _undisposed([item for item in data["undisposed"] if item not in planned], color=color)
    if planned:
        yield f"{len(planned)} impacts are disposed of once their open root causes are committed."


def _undisposed(items: Sequence[str], *, color: bool) -> Iterator[str]:
    """Name what waits for a root cause; of many, count by file of the plugin (an id ends with ``@path::symbol``)."""
    if len(items) <= _LISTED:
        yield from (f"not disposed of: {item}" for item in items)
        return
    files = Counter(item.rpartition("@")[2].partition("::")[0] for item in items)
    yield ""
    rows = ((path, str(number)) for path, number in files.most_common())
    yield columns(("not disposed of, by file", "impacts"), rows, color=color)
    yield ""
    yield f"{len(items)} impacts are not disposed of; --json has all. Many at once:"
    yield "  git afd root-cause add --disposes '*@PATH*=FATE' …"
