"""Acting once: worktrees and pins in the sources, the proof that nothing else moved, the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from git_afd.actions.freeze.asked import Asked
from git_afd.actions.freeze.places import absent_folders, is_gone, lock_reason
from git_afd.actions.freeze.texts import insist_present
from git_afd.adapters.making import Making, Target, begin, finish, one_interrupt, undo
from git_afd.adapters.pins import pin
from git_afd.adapters.session import Session
from git_afd.adapters.sources import Source
from git_afd.adapters.untouched import differences
from git_afd.adapters.worktrees import add_worktree, registered, take_back, verify_worktree
from git_afd.core.names import PIN_PREFIX, revision_key
from git_afd.core.outcome import Json
from git_afd.core.state import Upgrade
from git_afd.errors import Conflict, Refused

Record = Callable[[Mapping[str, Json]], None]
"""Writes the freeze's record, given what the making of the worktrees proved."""


def make(session: Session, making: Making, asked: Asked, record: Record) -> None:
    """Make the worktrees and pins, prove the sources untouched, record it; on any failure before that, take all back.

    Raises Conflict when something else changed in a source meanwhile; whatever stops it (a signal too) passes on.
    """
    home = session.ledger.home
    with one_interrupt():
        try:
            begin(home, making)
            record({"untouched": _carry_out(making, asked)})
        except BaseException as stop:
            if making.upgrade not in session.ledger.read().state.upgrades:
                _tell(stop, undo(home, making))
            raise
        finish(home)


def restore(session: Session, up: Upgrade, asked: Asked) -> tuple[str, ...]:
    """Put back the recorded worktrees whose directories are gone; return their paths."""
    freeze = up.freeze
    lost = [
        Target(name, str(source.path), freeze.revisions[revision_key(name, "target")].commit, path, reason)
        for name, source in asked.sources.items()
        for path, reason in ((freeze.worktrees.get(name, ""), lock_reason(session, up.id, name)),)
        if path and path != str(source.path) and is_gone(Path(path))
    ]
    if not lost:
        return ()
    folders = {folder: None for target in lost for folder in absent_folders(Path(target.path).parent)}
    making = Making(
        "", {name: str(source.path) for name, source in asked.sources.items()}, tuple(lost), {}, tuple(folders)
    )
    home = session.ledger.home
    with one_interrupt():
        try:
            begin(home, making)
            for target in lost:
                take_back(asked.sources[target.upstream], target.commit, Path(target.path), target.reason)
            for target in lost:
                _add(making, asked, target.upstream)
        except BaseException as stop:
            _tell(stop, undo(home, making))
            raise
        finish(home)
    return tuple(target.path for target in lost)


def _carry_out(making: Making, asked: Asked) -> dict[str, Json]:
    """Serve all sources at once, each in a thread that waits for its own git processes; return the proof of each."""

    def serve(upstream: str) -> dict[str, Json]:
        pin(asked.sources[upstream].git, making.pins[upstream])
        reader = _add(making, asked, upstream)
        return {**_untouched(making, asked, upstream), "verified_by": reader}

    with ThreadPoolExecutor(len(asked.sources)) as pool:
        done = {upstream: pool.submit(serve, upstream) for upstream in asked.sources}
        return {upstream: future.result() for upstream, future in done.items()}


def _add(making: Making, asked: Asked, upstream: str) -> str:
    """Add the worktree of an upstream's target and verify it; return who read it, empty when none is to be made."""
    source = asked.sources[upstream]
    for target in making.targets:
        if target.upstream == upstream:
            insist_present(source, target.commit, _all_blobs(source, target.commit), fetch=True)
            add_worktree(source, target.commit, Path(target.path), target.reason)
            return verify_worktree(source, target.commit, asked.targets[upstream].tree, Path(target.path))
    return ""


def _all_blobs(source: Source, commit: str) -> list[str]:
    return [entry.id for entry in source.objects.entries(commit)] if source.promisor else []


def _untouched(making: Making, asked: Asked, upstream: str) -> dict[str, Json]:
    """Compare a source with its fingerprint from before; only our registration and pins may have appeared."""
    source, before = asked.sources[upstream], asked.before[upstream]
    added = [f"git:{PIN_PREFIX}{making.upgrade}"]
    for target in making.targets:
        mine = registered(source.common_dir, Path(target.path)) if target.upstream == upstream else None
        if mine is not None:
            added.append(f"git:worktrees/{mine.admin.name}")
    after = source.fingerprint()
    moved = differences(before, after, tuple(added))
    if moved:
        more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
        message = f"{source.path} changed while it was being frozen: {moved[0].partition(':')[2]}{more}"
        raise Conflict(message, "let nothing else work in it meanwhile, then run the same command again")
    digest = after.without(tuple(added)).digest  # they are equal, so one digest is that of both
    return {"before": digest, "after": digest, "paths": len(after.facts), "added": added}


def _tell(stop: BaseException, left: tuple[str, ...]) -> None:
    """Say with the error what could not be taken back."""
    if left and isinstance(stop, Conflict | Refused):
        stop.fix = f"{stop.fix}; {', '.join(left)} is left over and not ours to remove".lstrip("; ")
