"""``git afd freeze``: phase 0. Everything is read first, then decided, then made once."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from git_afd.actions.freeze import shown
from git_afd.actions.freeze.apply import make, restore
from git_afd.actions.freeze.asked import Asked
from git_afd.actions.freeze.body import freeze_body, source_rows, worktree_rows
from git_afd.actions.freeze.branch import default_branch, insist_branch, settle, upgrade_of
from git_afd.actions.freeze.decide import Blocked, identify
from git_afd.actions.freeze.host import installed, look
from git_afd.actions.freeze.identity import resolve_given
from git_afd.actions.freeze.places import planned, worktree_folder
from git_afd.actions.freeze.plugin import plugin_facts
from git_afd.actions.freeze.texts import ReadTexts
from git_afd.adapters.making import begun, finish, insist_idle, one_freeze_at_a_time, undo
from git_afd.adapters.revisions import Resolved
from git_afd.adapters.session import Session
from git_afd.adapters.sources import open_source
from git_afd.core.freezing import Request, asked_commits, branch_for, drafts, insist, insist_same, unused_id
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Json, Outcome
from git_afd.core.primary import insist_known
from git_afd.core.state import Upgrade
from git_afd.errors import Conflict, UsageFault


def freeze(session: Session, request: Request, start: Path) -> Outcome:
    """Freeze the identity of an upgrade. `start` is where relative directories of the request start from.

    Exit 0 when FREEZE_IDENTITY is PASS (also when it was already), 6 when it is BLOCKED: with nothing recorded
    when no identity could be decided or the pair is wrong, with a record when only a person can vouch for it.
    """
    insist(request)
    insist_known(session.actor)
    with nullcontext() if request.dry_run else one_freeze_at_a_time(session.ledger.home):
        if not request.dry_run:
            _repair(session)
        return _freeze(session, request, start)


def _repair(session: Session) -> None:
    """Take back what a killed freeze left, or only forget its marker when its record was written."""
    home = session.ledger.home
    making = begun(home)
    if making is None:
        return
    if making.upgrade in session.ledger.read().state.upgrades:
        finish(home)
        return
    insist_idle(making)
    left = undo(home, making)
    if left:
        message = f"{left[0]} stands where a killed freeze was at work, and is not ours to remove"
        raise Conflict(message, "move it away, then run the same command again")


def _freeze(session: Session, request: Request, start: Path) -> Outcome:
    state = session.reading(strict=True).state
    branch = branch_for(request.branch, session.branch, default_branch(session.git))
    up = upgrade_of(session.git, state, branch)
    if up is not None:
        return _again(session, _look(session, request, start), up, branch)
    insist_branch(session.git, branch, session)
    with ThreadPoolExecutor(1) as pool:
        host = pool.submit(look, session)  # it waits for other programs: meanwhile the rest is read
        asked = _look(session, request, start)
        plugin = plugin_facts(session)
        facts = host.result()
    read = ReadTexts(fetch=not request.dry_run)
    identity = identify(plugin, asked, read, installed(facts))
    if isinstance(identity, Blocked):
        return shown.blocked(identity, request)
    upgrade = unused_id(state, branch, plugin.base, identity.commits, plugin.policy.digest)
    making = planned(session, upgrade, asked, identity.revisions)
    more = {
        "sources": source_rows(asked, making),
        "worktrees": worktree_rows(asked.sources, making),
        "host": facts.as_json(),
    }
    body = freeze_body(session, branch, plugin, identity, more)
    if request.dry_run:
        return shown.would(upgrade, body, request)

    def record(proof: Mapping[str, Json]) -> None:
        session.ledger.transact(lambda now: drafts(now, upgrade, {**body, **proof}, plugin.base))

    make(session, making, asked, record)
    settle(session, branch, plugin.base, upgrade)
    return shown.frozen(session.ledger.read().state.upgrades[upgrade], request)


def _look(session: Session, request: Request, start: Path) -> Asked:
    """Open the sources, take their fingerprints, resolve what was named."""
    sources = {name: open_source(name, start / request.sources[name]) for name in UPSTREAMS}
    places = {session.common_dir.resolve(): "the plugin"}
    for name, source in sources.items():
        if source.common_dir in places:
            message = f"the source of {name}, {source.path}, is the same repository as {places[source.common_dir]}"
            raise UsageFault(message, f"name a clone of {name}: --source {name}=DIR")
        places[source.common_dir] = f"the source of {name}"
    folder = start / request.worktrees if request.worktrees else None
    with ThreadPoolExecutor(len(sources)) as pool:
        before, dirty = {}, {}
        for name, source in sources.items():
            before[name] = source.fingerprint()  # before anything reads its index
            dirty[name] = pool.submit(source.dirty)
        return Asked(
            request=request,
            sources=sources,
            before=before,
            targets=resolve_given("target", request.targets, sources),
            currents=resolve_given("current", request.currents, sources),
            folder=worktree_folder(session, folder),
            dirty={name: paths.result() for name, paths in dirty.items()},
        )


def _again(session: Session, asked: Asked, up: Upgrade, branch: str) -> Outcome:
    """Answer a repeated freeze: the same input finishes what a killed one left and puts back a lost worktree."""
    request = asked.request
    paths = {name: str(source.path) for name, source in asked.sources.items()}
    commits = asked_commits(_commits(asked.targets), _commits(asked.currents))
    insist_same(up, commits, paths, str(asked.folder) if request.worktrees else "")
    if request.dry_run:
        return shown.again(up, request, ())
    back = restore(session, up, asked)
    settle(session, branch, up.freeze.base, up.id)
    return shown.again(up, request, back)


def _commits(resolved: Mapping[str, Resolved]) -> dict[str, str]:
    return {name: one.commit for name, one in resolved.items()}
