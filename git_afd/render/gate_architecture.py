"""Words for ``git afd gate architecture``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from git_afd.core.outcome import Outcome
from git_afd.render.table import columns

_NAMED: Final = 3
"""How many pieces of evidence, and impacts that no answer cites, are named; --json has all."""


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show the seven conditions, the decision, and after a stop the report."""
    data: Mapping[str, Any] = outcome.data
    if "conditions" not in data:
        yield "Nothing was recorded: answers were refused."
        return
    head = ("#", "stop condition", "standing", "evidence", "why")
    yield columns(head, (_row(row) for row in data["conditions"]), color=color)
    for impact in data["unaddressed"][:_NAMED]:
        yield f"no answer cites {impact}, which is ARCHITECTURAL"
    if len(data["unaddressed"]) > _NAMED:
        yield f"nor {len(data['unaddressed']) - _NAMED} more; evidence may be a pattern (with *), --json names each"
    decision = data["decision"]
    if decision:
        yield ""
        yield f"decided by {decision['by']}: {decision['decide']} ({decision['why']})"
    if "phase" in data:
        done = "recorded" if data["recorded"] else "would be recorded" if data["dry_run"] else "recorded before"
        yield f"{data['phase']['phase']}: {data['phase']['status']} ({done})"
    if "markdown" in data:
        yield ""
        yield data["markdown"].rstrip("\n")


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    how = f"{row['standing']} ({row['how']})" if row["how"] else row["standing"]
    named = [item[:12] if len(item) == 64 else item for item in row["evidence"][:_NAMED]]  # noqa: PLR2004 - a digest
    more = [f"and {len(row['evidence']) - _NAMED} more"] if len(row["evidence"]) > _NAMED else []
    evidence = " ".join([*named, *more])
    return str(row["number"]), f"{row['about']}: {row['question']}", how, evidence, row["why"]
