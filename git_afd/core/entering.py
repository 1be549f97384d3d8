"""May a phase be entered? The workflow's order, for every command that means to decide a phase."""

from __future__ import annotations

from git_afd.core.phases import Phase, first_unsettled
from git_afd.core.standing import Row, next_action, shown
from git_afd.core.state import Upgrade
from git_afd.errors import Refused, StoppedUpgrade


def refuse_entry(up: Upgrade, rows: tuple[Row, ...], phase: Phase) -> None:
    """Raise Refused when `phase` may not be entered, StoppedUpgrade after a stop; `rows` are what `status` shows."""
    if up.closed:
        raise Refused(f"upgrade {up.id} is closed: {up.closed}", "git afd report", code="closed")
    stopped = next((row for row in rows if row.shown == "STOPPED"), None)
    if stopped is not None:
        raise StoppedUpgrade(
            f"upgrade {up.id} was stopped at {stopped.phase.name}", "git afd close --why WHY", code="stopped"
        )
    earlier = first_unsettled(shown(rows), phase.number)
    if earlier is not None:
        row = rows[earlier.number]
        why = f" ({row.blocker})" if row.blocker else ""
        raise Refused(
            f"{phase.name} may not be entered: {earlier.name} is {row.shown}{why}",
            next_action(up, rows),
            code="phase-order",
        )
