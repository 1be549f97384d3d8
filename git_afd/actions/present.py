"""Gathering what is true at this moment, for the pure rules that confront the records with it."""

from __future__ import annotations

from git_afd.adapters.content import digests
from git_afd.adapters.session import Session
from git_afd.core.standing import Now, Row, standing
from git_afd.core.state import Upgrade


def present(session: Session, up: Upgrade) -> Now:
    """Return the digests of HEAD and which of the upgrade's artifacts are not there."""
    policy = session.policy(up).policy
    content, whole = digests(session.git, session.head, policy) if session.head else ("", "")
    return Now(content=content, whole=whole, lost=_lost(session, up), simulated=policy.simulated)


def _lost(session: Session, up: Upgrade) -> dict[str, str]:
    """Return the artifacts behind a recorded PASS that are absent or damaged: a look at each, no reading of large ones.

    Gates, push and audit read them whole when they judge again.
    """
    cited = {name for record in up.phases.values() if record.status == "PASS" for name in record.evidence}
    runs = (run.artifacts.values() for run in up.runs.values() if run.record in cited)
    analyses = (item.artifact for item in (up.inventory, up.diff) if item and item.artifact)
    store = session.artifacts
    states = {digest: store.state(digest, deep=False) for digest in {*analyses, *(one for run in runs for one in run)}}
    return {digest: state for digest, state in states.items() if state != "present"}


def rows_of(session: Session, up: Upgrade) -> tuple[Row, ...]:
    """Return the twelve rows that `status` shows."""
    return standing(up, present(session, up))
