"""Words for ``git afd inventory annotate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.render.table import visible

_SAID = ("invariant", "state_owner", "lifetime", "removal")


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Say what is known of the contract now, and whether that is new."""
    data: Mapping[str, Any] = outcome.data
    done = "recorded" if data["recorded"] else "would be recorded" if data["dry_run"] else "said already"
    yield visible(f"{data['contract']}: {done}")
    yield from (visible(f"  {name.replace('_', ' ')}: {data[name]}") for name in _SAID if name in data)
