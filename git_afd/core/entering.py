"""May a phase be entered? The workflow's order, for every command that means to decide a phase."""

from __future__ import annotations

from typing import Final

from git_afd.core.phases import BY_NAME, PHASES, Phase, first_unsettled
from git_afd.core.standing import Row, next_action, shown
from git_afd.core.state import Upgrade
from git_afd.errors import Refused, StoppedUpgrade

_STALE_ENOUGH: Final = ("PASS", "stale")


def refuse_entry(up: Upgrade, rows: tuple[Row, ...], phase: Phase, *, again: bool = False) -> None:
    """Raise Refused when `phase` may not be entered, StoppedUpgrade after a stop; `rows` are what `status` shows.

    `again` is for a diagnostic of what failed before: the gates before it have passed once, on other content maybe.
    """
    if up.closed:
        raise Refused(f"upgrade {up.id} is closed: {up.closed}", "git afd report", code="closed")
    stopped = next((row for row in rows if row.shown == "STOPPED"), None)
    if stopped is not None:
        raise StoppedUpgrade(
            f"upgrade {up.id} was stopped at {stopped.phase.name}", "git afd close --why WHY", code="stopped"
        )
    said = shown(rows)
    if again:
        said = {name: "PASS" if _enough(rows[BY_NAME[name].number]) else status for name, status in said.items()}
    earlier = first_unsettled(said, phase.number)
    if earlier is not None:
        row = rows[earlier.number]
        why = f" ({row.blocker})" if row.blocker else ""
        raise Refused(
            f"{phase.name} may not be entered: {earlier.name} is {row.shown}{why}",
            next_action(up, rows),
            code="phase-order",
        )


def _enough(row: Row) -> bool:
    """Say whether a row lets a diagnostic pass: passed, be it on other content; adapting may be under way."""
    return row.shown in _STALE_ENOUGH or (row.phase is PHASES[4] and row.shown == "not run")
