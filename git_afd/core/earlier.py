"""What the runs before a run say about it, in the ledger's order: so it is judged the same whenever it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from git_afd.core.command import NATIVE
from git_afd.core.state import Run, Upgrade

_DECIDED = ("PASS", "FAIL")


def before(up: Upgrade, name: str) -> Iterator[Run]:
    """Yield the runs before the one called `name`, oldest first; all of them when none is called so."""
    return takewhile(lambda run: run.name != name, up.runs.values())


def last_failed(up: Upgrade, gate: str, name: str) -> Run | None:
    """Return the newest complete run of `gate` before `name` that failed, None when the gate passed since or never ran.

    A diagnostic that failed after the gate did counts: who moves to another host reproduces the failure there first.
    """
    found: Run | None = None
    for run in before(up, name):
        if run.gate != gate or run.status not in _DECIDED or run.only or run.failure or run.cell:
            continue
        if run.status == "FAIL":
            found = run if found or not run.diagnostic else None
        elif not run.diagnostic:
            found = None
    return found


def native_controls(up: Upgrade, name: str) -> tuple[Run, ...]:
    """Return the runs before `name` that measured accuracy without the plugin and could be judged, newest first."""
    found = [run for run in before(up, name) if (run.gate, run.cell, run.status) == ("accuracy", NATIVE, "PASS")]
    return tuple(reversed(found))
