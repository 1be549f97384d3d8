"""``git afd diff --at REF``: compare any commit of the plugin at any target, record nothing, upgrade or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from git_afd.actions.analysis import recorded_inventory
from git_afd.actions.diff import file_tables, listed_contracts
from git_afd.actions.inventory_at import current_upgrade, revisions_of
from git_afd.actions.take_impacts import HOW, Question, question_of, take_impacts
from git_afd.adapters.configuration import policy_at
from git_afd.adapters.revisions import Unresolved, resolve
from git_afd.adapters.session import Session
from git_afd.core.impacts.shown import Filters, impact_rows
from git_afd.core.outcome import Json, Outcome
from git_afd.core.workbook.inventory import Inventory
from git_afd.errors import UsageFault


@dataclass(frozen=True, slots=True)
class Look:
    """Where to look: a ref of the plugin, and, without an upgrade, each upstream's directory and both revisions."""

    ref: str
    sources: Mapping[str, Path] = field(default_factory=dict)
    currents: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, str] = field(default_factory=dict)
    filters: Filters = field(default_factory=Filters)
    markdown: bool = False


def diff_at(session: Session, look: Look) -> Outcome:
    """Return the impacts of a target on a commit of the plugin; nothing is written but the cache. Always exit 0."""
    question = question_at(session, look)
    taken = take_impacts(session, question)
    contracts = {contract.id: contract for contract in taken.contracts}
    data: dict[str, Json] = {
        "impacts": impact_rows(taken.comparison.impacts, contracts, None, look.filters),
        **file_tables(taken.comparison),
        "coverage": taken.comparison.coverage,
        "how": HOW,
        "at": question.commit,
        "current": {name: item.commit for name, item in question.current.items()},
        "target": {name: item.commit for name, item in question.target.items()},
    }
    return Outcome("diff.markdown" if look.markdown else "diff", data)


def question_at(session: Session, look: Look) -> Question:
    """Return what is compared: the freeze's commits where nothing else is said."""
    up = current_upgrade(session)
    if up is not None and not (look.sources or look.currents or look.targets):
        frozen = question_of(session, up)
        if not look.ref:
            return frozen
        return Question(_commit(session, look.ref), frozen.current, frozen.target, frozen.policy)
    commit = _commit(session, look.ref or "HEAD")
    missing = [name for name in look.sources if name not in look.targets]
    if missing or not look.targets:
        name = missing[0] if missing else "vllm"
        raise UsageFault(f"no target of {name} was given", f"add --target {name}=REF")
    policy = session.policy(up).policy if up else policy_at(session.git, commit).policy
    current, target = (revisions_of(session, None, look.sources, refs) for refs in (look.currents, look.targets))
    return Question(commit, current, target, policy)


def _commit(session: Session, ref: str) -> str:
    found = resolve(session.git, ref)
    if isinstance(found, Unresolved):
        raise UsageFault(f"--at {ref} {found.why}", found.fix)
    return found.commit


def show_at(session: Session, look: Look, asked: str) -> Outcome:
    """Show one contract in full; see :func:`show_impact`."""
    from git_afd.actions.show_impact import show_impact

    up = current_upgrade(session)
    question = question_at(session, look)
    frozen = up is not None and up.freeze.base == question.commit
    if up is None or not frozen:
        return show_impact(session, question, asked, (), None)
    inventory = recorded_inventory(session, up) or Inventory()
    return show_impact(session, question, asked, listed_contracts(up, inventory), up.diff)
