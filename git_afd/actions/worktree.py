"""``git afd worktree list`` and ``remove``: the target worktrees of all upgrades, and taking exactly ours away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from git_afd.actions.freeze.places import lock_reason
from git_afd.adapters.git import Git
from git_afd.adapters.making import one_freeze_at_a_time
from git_afd.adapters.session import Session
from git_afd.adapters.sources import open_source
from git_afd.adapters.worktrees import insist_removable, registered, remove_worktree, unclean
from git_afd.core.freezing import source_path
from git_afd.core.names import UPSTREAMS, revision_key
from git_afd.core.outcome import Outcome
from git_afd.core.state import Upgrade
from git_afd.errors import AfdError, Refused


@dataclass(frozen=True, slots=True)
class Place:
    """A target tree of an upgrade: where, of which source directory, at which commit (full id)."""

    upgrade: str
    upstream: str
    path: str
    source: str
    commit: str


def worktree_list(session: Session) -> Outcome:
    """List every upgrade's target trees and their state: present, dirty, absent, unregistered, provided or unknown."""
    state = session.reading().state
    rows = [
        {**_row(place), "closed": bool(up.closed), "state": _state(place)}
        for up in state.upgrades.values()
        for place in _places(up)
    ]
    return Outcome("worktree.list", {"worktrees": rows}, next="git afd status")


def worktree_remove(session: Session, names: tuple[str, ...], upgrade: str, *, dry_run: bool = False) -> Outcome:
    """Remove target worktrees of an upgrade (this branch's, or `upgrade`), of all upstreams or those in `names`.

    Each must be registered and locked by us, name its registration, and hold nothing but its commit. A provided
    checkout is never removed. Raises Refused naming what is in the way; nothing is forced.
    """
    reading = session.reading(strict=True)
    up = reading.state.upgrades.get(upgrade) if upgrade else session.upgrade(reading)
    if up is None:
        raise Refused(f"there is no upgrade {upgrade}", "git afd worktree list")
    chosen = [place for place in _places(up) if (not names or place.upstream in names) and place.path != place.source]
    if not chosen:
        raise Refused(f"{up.id} has no worktree of its own there", "git afd worktree list")
    with nullcontext() if dry_run else one_freeze_at_a_time(session.ledger.home):
        for place in chosen:
            source = open_source(place.upstream, Path(place.source))
            reason = lock_reason(session, up.id, place.upstream)
            insist_removable(source, Path(place.path), reason)
            if not dry_run:
                remove_worktree(source, Path(place.path), reason)
        if not dry_run:
            with suppress(OSError):
                (session.ledger.home / "worktrees").rmdir()  # ours by default, and empty when these were the last
    data = {"result": "would" if dry_run else "removed", "worktrees": [_row(place) for place in chosen]}
    return Outcome("worktree.remove", data, next="git afd worktree list" if dry_run else "git afd status")


def _places(up: Upgrade) -> Iterator[Place]:
    for name in UPSTREAMS:
        path = up.freeze.worktrees.get(name, "")
        if path:
            commit = up.freeze.revisions[revision_key(name, "target")].commit
            yield Place(up.id, name, path, source_path(up.freeze, name), commit)


def _row(place: Place) -> dict[str, str]:
    return {"upgrade": place.upgrade, "upstream": place.upstream, "path": place.path, "commit": place.commit}


def _state(place: Place) -> str:
    if place.path == place.source:
        return "provided"
    if not Path(place.path).is_dir():
        return "absent"
    try:
        source = open_source(place.upstream, Path(place.source))
        if registered(source.common_dir, Path(place.path)) is None:
            return "unregistered"
        return "dirty" if unclean(Git(Path(place.path), config=source.git.config)) else "present"
    except AfdError:
        return "unknown"  # its source is gone or cannot be read: nothing can be said of it
