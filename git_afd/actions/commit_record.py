"""Recording that a root cause has its commit, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from git_afd.actions.settle import settle_implementation
from git_afd.adapters.session import Session
from git_afd.core.commit_rules import MadeCommit
from git_afd.core.records import Draft
from git_afd.core.state import State, Upgrade
from git_afd.errors import Conflict


def record_commit(session: Session, upgrade: str, name: str, made: MadeCommit, paths: Sequence[str]) -> Upgrade:
    """Record `made` as the commit of root cause `name`, once; return the upgrade as it is now.

    Raises Conflict when another commit was recorded for it meanwhile.
    """

    def decide(state: State) -> Sequence[Draft]:
        cause = state.upgrades[upgrade].root_causes[name]
        if cause.commit == made.id:
            return ()
        if cause.status != "open":
            raise Conflict(f"{name} is {cause.status} by now, and {made.id} stands on the branch", "git afd status")
        body = {
            "root_cause": name,
            "plan": cause.record,
            "commit": made.id,
            "parent": made.parents[0],
            "tree": made.tree,
            "paths": list(paths),
        }
        return (Draft("commit", upgrade, body, made.id),)

    state, _ = session.ledger.transact(decide)
    return settle_implementation(replace(session, head=made.id), state.upgrades[upgrade])
