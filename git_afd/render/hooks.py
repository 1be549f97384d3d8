"""Words for ``git afd hooks``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from git_afd.core.outcome import Outcome
from git_afd.render.table import columns

_DONE: Final = {
    "installed": "installed",
    "chained": "installed; the hook that was there is kept and still runs",
    "renewed": "renewed",
    "unchanged": "stands there already",
    "removed": "removed",
    "restored": "removed; the hook from before stands there again",
    "absent": "was not installed",
    "foreign": "is another tool's and was left alone",
    "framework": "is the pre-commit framework's and was left alone",
}


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show where git looks, and each stage."""
    data: Mapping[str, Any] = outcome.data
    if outcome.verb == "hooks.status":
        set_by = data["hooks_path"]
        why = f" (core.hooksPath, {set_by['scope']}: {set_by['value']})" if set_by else ""
        yield f"git looks for hooks in {data['folder']}{why}"
        rows = ((stage, _running(hook), hook["file"]) for stage, hook in data["stages"].items())
        yield columns(("stage", "", "file"), rows, color=color)
        return
    would = "would be in" if data["dry_run"] else "in"
    yield f"Hooks {would} {data['folder']}:"
    yield from (f"  {stage:<10} {_DONE[word]}" for stage, word in data["stages"].items())


def _running(hook: Mapping[str, Any]) -> str:
    chained = ", then the hook from before" if hook["chained"] else ""
    return f"runs{chained}" if hook["active"] else f"inert ({hook['kind']})"
