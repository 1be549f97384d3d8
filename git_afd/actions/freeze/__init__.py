"""``git afd freeze``: phase 0. Everything is read first, then decided, then made once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from git_afd.actions.freeze import shown
from git_afd.actions.freeze.apply import insist_branch, make, settle
from git_afd.actions.freeze.body import freeze_body, source_rows, worktree_rows
from git_afd.actions.freeze.decide import Blocked, identify
from git_afd.actions.freeze.identity import resolve_given
from git_afd.actions.freeze.places import planned, worktree_folder
from git_afd.actions.freeze.plugin import default_branch, plugin_facts
from git_afd.actions.freeze.texts import ReadTexts
from git_afd.adapters.making import begun, finish, one_freeze_at_a_time, undo
from git_afd.adapters.revisions import Resolved
from git_afd.adapters.session import Session
from git_afd.adapters.sources import Source, open_source
from git_afd.adapters.surroundings import python_environment
from git_afd.core.freezing import (
    Request,
    asked_commits,
    branch_for,
    drafts,
    existing,
    insist,
    insist_same,
    upgrade_id,
)
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Outcome
from git_afd.errors import UsageFault


def freeze(session: Session, request: Request, start: Path) -> Outcome:
    """Freeze the identity of an upgrade. `start` is where relative directories of the request start from.

    Exit 0 when FREEZE_IDENTITY is PASS (also when it was already), 6 when it is BLOCKED: with nothing recorded
    when no identity could be decided or the pair is wrong, with a record when only a person can vouch for it.
    """
    insist(request)
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
    else:
        undo(home, making)


def _freeze(session: Session, request: Request, start: Path) -> Outcome:
    state = session.reading(strict=True).state
    branch = branch_for(request.branch, session.branch, default_branch(session.git))
    sources = _sources(request, start)
    before = {name: source.fingerprint() for name, source in sources.items()}
    targets = resolve_given("target", request.targets, sources)
    currents = resolve_given("current", request.currents, sources)
    asked = start / request.worktrees if request.worktrees else None
    folder = worktree_folder(session, asked)
    up = existing(state, branch)
    if up is not None:
        paths = {name: str(source.path) for name, source in sources.items()}
        commits = asked_commits(_commits(targets), _commits(currents))
        insist_same(up, commits, paths, str(folder) if asked else "")
        if not request.dry_run:
            settle(session, branch, up.freeze.base, up.id)
        return shown.again(up, request)
    insist_branch(session.git, branch, session)
    plugin = plugin_facts(session)
    identity = identify(plugin, sources, request, targets, currents, ReadTexts(fetch=not request.dry_run))
    if isinstance(identity, Blocked):
        return shown.blocked(identity, request)
    upgrade = upgrade_id(branch, plugin.base, identity.commits, plugin.policy.digest)
    making = planned(session, upgrade, sources, identity.revisions, folder)
    more = {
        "sources": source_rows(sources, making),
        "worktrees": worktree_rows(sources, making),
        "python": python_environment(),
    }
    body = freeze_body(session, branch, plugin, identity, more)
    if request.dry_run:
        return shown.would(upgrade, body, request)

    def record(proof: object) -> None:
        full = {**body, **(proof if isinstance(proof, dict) else {})}
        session.ledger.transact(lambda now: drafts(now, upgrade, full, plugin.base))

    trees = {name: targets[name].tree for name in UPSTREAMS}
    make(session, making, sources, trees, before, record)
    settle(session, branch, plugin.base, upgrade)
    return shown.frozen(session.ledger.read().state.upgrades[upgrade], request)


def _sources(request: Request, start: Path) -> dict[str, Source]:
    sources = {name: open_source(name, start / request.sources[name]) for name in UPSTREAMS}
    if len({source.common_dir for source in sources.values()}) != len(sources):
        raise UsageFault("both sources are the same repository", "name one clone for each upstream")
    return sources


def _commits(resolved: Mapping[str, Resolved]) -> dict[str, str]:
    return {name: one.commit for name, one in resolved.items()}
