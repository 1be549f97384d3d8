"""Words for ``git afd demo``: the narration came as it happened; what is left is how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show how many steps were taken, and where the repositories are."""
    data: Mapping[str, Any] = outcome.data
    yield ""
    yield f"{len(data['steps'])} steps taken, each ended as it must."
    if data["folder"]:
        yield f"The three repositories are in {data['folder']}; put its bin folder on PATH to go on there."
