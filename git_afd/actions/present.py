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
    return Now(content=content, whole=whole, lost={}, simulated=policy.simulated)


def rows_of(session: Session, up: Upgrade) -> tuple[Row, ...]:
    """Return the twelve rows that `status` shows."""
    return standing(up, present(session, up))
