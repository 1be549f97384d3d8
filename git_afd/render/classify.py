"""Words for ``git afd classify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show what was decided, how many still wait, and how the phase stands."""
    data: Mapping[str, Any] = outcome.data
    done = "recorded" if data["recorded"] else "would be recorded" if data["dry_run"] else "stood there already"
    by_class: dict[str, int] = {}
    for class_ in data["classified"].values():
        by_class[class_] = by_class.get(class_, 0) + 1
    told = ", ".join(f"{count} {class_}" for class_, count in sorted(by_class.items()))
    yield f"{told}: {done}."
    yield f"{len(data['open'])} proposals wait for a decision; {data['phase']['phase']} is {data['phase']['status']}."
