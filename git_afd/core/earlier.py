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
    """Return the run of `gate` before `name` that decided last, when it failed; None when it passed or none did."""
    decided = [run for run in before(up, name) if run.gate == gate and run.status in _DECIDED and not run.diagnostic]
    return decided[-1] if decided and decided[-1].status == "FAIL" else None


def native_controls(up: Upgrade, name: str) -> tuple[Run, ...]:
    """Return the runs before `name` that measured accuracy without the plugin and could be judged, newest first."""
    found = [run for run in before(up, name) if (run.gate, run.cell, run.status) == ("accuracy", NATIVE, "PASS")]
    return tuple(reversed(found))
