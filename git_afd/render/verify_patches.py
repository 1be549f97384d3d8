"""Words for ``git afd verify --patches``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.table import visible


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Say what was looked at, against which commits, and what could not be."""
    data: Mapping[str, Any] = outcome.data
    yield f"{len(data['files'])} files, {data['functions']} patch functions"
    for name, commit in data["upstreams"].items():
        yield visible(f"{name} {commit[:12]}")
    if data["not_checked"]:
        yield f"{len(data['not_checked'])} checks could not be made; they do not count as passed"
