"""Which recorded impacts a root cause disposes of: by name, or by a pattern over what waits for a root cause."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from git_afd.core.state import CLASSES, RootCause, Upgrade
from git_afd.errors import Refused, UsageFault


def with_fitting(up: Upgrade, cause: RootCause) -> RootCause:
    """Return `cause` with every pattern (with ``*``) in `disposes` replaced by the recorded impacts that it fits.

    A pattern leaves out what another root cause disposes of, what is named in full beside it, and what weighs more
    than the class that `cause` says (none: BEHAVIORAL, so that nothing ARCHITECTURAL goes along unnoticed).

    Raises Refused when it fits nothing, UsageFault when two patterns disagree on an impact.
    """
    items = up.diff.items if up.diff else {}
    named = {item: fate for item, fate in cause.disposes.items() if item in items or "*" not in item}
    most = CLASSES.index(cause.class_ or "BEHAVIORAL")
    taken = {*taken_by_others(up, cause), *named}
    free = [item for item in items if CLASSES.index(items[item]) <= most and item not in taken]
    found: dict[str, str] = {}
    for pattern, fate in cause.disposes.items():
        if pattern in named:
            continue
        fitting = [item for item in free if fnmatchcase(item, pattern)]
        if not fitting:
            said = f"{pattern} fits no impact up to {CLASSES[most]} that waits for a root cause"
            raise Refused(said, "git afd root-cause list")
        for item in fitting:
            if found.setdefault(item, fate) != fate:
                raise UsageFault(f"{item} would be {found[item]} and {fate}", "--disposes ITEM=FATE for this one")
    return replace(cause, disposes={**found, **named})


def taken_by_others(up: Upgrade, cause: RootCause) -> dict[str, str]:
    """Return what other live root causes dispose of, each with the other's name. A title is one root cause's only."""
    return {
        item: old.name
        for old in up.root_causes.values()
        if old.name != cause.name and old.status != "withdrawn" and (cause.name or old.title != cause.title)
        for item in old.disposes
    }
