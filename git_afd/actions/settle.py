"""Phase 4 has no command of its own that decides it: its PASS is computed, and recorded at the next boundary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from git_afd.adapters.session import Session
from git_afd.core.phases import PHASES
from git_afd.core.records import Draft
from git_afd.core.standing import implementation
from git_afd.core.state import State, Upgrade

_IMPLEMENT: Final = PHASES[4]


def settle_implementation(session: Session, up: Upgrade) -> Upgrade:
    """Record that phase 4 is passed when the records say so and no phase record does; return the upgrade as it is now.

    Its evidence are the records of the commits, or the decision to go on when nothing had to be committed.
    """
    if not _owed(up):
        return up
    state, _ = session.ledger.transact(lambda state: _drafts(state, up.id, session.head or up.freeze.base))
    return state.upgrades[up.id]


def _drafts(state: State, name: str, commit: str) -> Sequence[Draft]:
    up = state.upgrades[name]
    if not _owed(up):
        return ()
    evidence = [item.record for item in up.commits] or [up.decision.record if up.decision else up.freeze.record]
    body = {
        "phase": _IMPLEMENT.name,
        "status": "PASS",
        "evidence": evidence,
        "blocker": "",
        "next_allowed_action": PHASES[_IMPLEMENT.number + 1].command,
    }
    return (Draft("phase", name, body, commit),)


def _owed(up: Upgrade) -> bool:
    return implementation(up)[0] == "PASS" and up.recorded.get(_IMPLEMENT.name) != "PASS"
