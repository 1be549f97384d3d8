"""``git afd inventory annotate``: what a person says of a contract, since its sources cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from git_afd.adapters.session import Session
from git_afd.core.outcome import Json, Outcome
from git_afd.core.records import Draft
from git_afd.core.state import State
from git_afd.errors import Refused, UsageFault


def annotate(session: Session, contract: str, said: Mapping[str, str], *, dry_run: bool = False) -> Outcome:
    """Record invariant, state owner, lifetime or removal plan of a recorded contract; what holds already is left.

    `contract` is an id or a part of one that fits exactly one. Raises Refused when it is no contract.
    """
    up = session.upgrade(session.reading(strict=True))
    if not any(said.values()):
        raise UsageFault("nothing is said of the contract", "add --invariant, --state-owner, --lifetime or --removal")
    items = up.inventory.items if up.inventory else {}
    fitting = [contract] if contract in items else [name for name in items if contract in name]
    if len(fitting) != 1:
        how = "no contract" if not fitting else f"{len(fitting)} contracts"
        raise Refused(f"{contract} names {how} of the recorded inventory", "git afd inventory", code="no-contract")
    words = {name: text for name, text in said.items() if text}
    body: dict[str, Json] = {"contract": fitting[0], **words}

    def decide(state: State) -> Sequence[Draft]:
        known = state.upgrades[up.id].annotations.get(fitting[0], {})
        return () if words.items() <= known.items() else (Draft("annotation", up.id, body, up.freeze.base),)

    new = bool(decide(session.reading().state)) if dry_run else bool(session.ledger.transact(decide)[1])
    data: dict[str, Json] = {**body, "recorded": new and not dry_run, "dry_run": dry_run}
    return Outcome("inventory.annotate", data, next="git afd next")
