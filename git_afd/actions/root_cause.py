"""``git afd root-cause add|amend|withdraw|show|list``: the small ledger that comes before each edit batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from git_afd.actions.present import present
from git_afd.actions.settle import settle_implementation
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_paths import check_upstream_paths
from git_afd.adapters.work_tree import path_facts, read_status
from git_afd.core import plan
from git_afd.core.disposing import with_fitting
from git_afd.core.outcome import Json, Outcome
from git_afd.core.path_facts import differing
from git_afd.core.policy import Policy
from git_afd.core.records import Draft
from git_afd.core.standing import Now, next_action, shown, standing
from git_afd.core.state import RootCause, State, Upgrade
from git_afd.errors import Refused

Judge = Callable[[Upgrade], tuple[RootCause, Mapping[str, Json] | None]]
"""Says of an upgrade which root cause is meant, and the body to record; None when it holds already."""


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What was read once, before the transaction decides on it."""

    up: Upgrade
    policy: Policy
    now: Now

    def screen(self, cause: RootCause) -> None:
        """Raise what is wrong with `cause` by itself: its paths can be looked up afterwards."""
        plan.check_form(self.up, cause, self.policy, shown(standing(self.up, self.now)))

    def check(self, up: Upgrade, cause: RootCause) -> None:
        """Raise the first rule that `cause` breaks in `up`."""
        plan.check_plan(up, cause, self.policy, shown(standing(up, self.now)))


def add(session: Session, draft: RootCause, *, dry_run: bool = False) -> Outcome:
    """Record a new root cause under the next free number; the same plan twice is one root cause."""
    found = _gather(session)
    draft = with_fitting(found.up, draft)
    found.screen(draft)
    differs = _differing(session, plan.planned_paths(draft))
    check_upstream_paths(session.git, found.up.freeze, map(plan.parse_upstream, draft.upstream))

    def judge(up: Upgrade) -> tuple[RootCause, Mapping[str, Json] | None]:
        cause = replace(draft, class_=plan.class_for(up, draft.disposes, draft.class_))
        old = plan.same_plan(up, cause)
        if old is not None:
            return old, None
        cause = replace(cause, name=plan.next_name(up))
        found.check(up, cause)
        plan.check_overlap(cause, up.freeze.dirty, differs)
        return cause, plan.body_of(cause, "add")

    return _apply(session, found, "add", judge, dry_run=dry_run)


def amend(session: Session, name: str, changes: Mapping[str, Json], *, dry_run: bool = False) -> Outcome:
    """Record a changed plan of an open root cause; `changes` maps RootCause fields to their new values.

    Paths that the plan has already may hold the work in progress; a path that is new to it must be as in HEAD.
    """
    found = _gather(session)
    wanted = replace(_live(found.up, name), **changes)  # type: ignore[arg-type]  # the fields' own types, by the caller
    if "disposes" in changes:
        wanted = with_fitting(found.up, wanted)
        changes = {**changes, "disposes": dict(wanted.disposes)}
    found.screen(wanted)
    differs = _differing(session, plan.planned_paths(wanted))
    check_upstream_paths(session.git, found.up.freeze, map(plan.parse_upstream, wanted.upstream))

    def judge(up: Upgrade) -> tuple[RootCause, Mapping[str, Json] | None]:
        old = _live(up, name)
        cause = replace(old, **changes)  # type: ignore[arg-type]  # same
        if cause == old:
            return old, None
        found.check(up, cause)
        known = set(plan.planned_paths(old))
        plan.check_overlap(cause, up.freeze.dirty, {path: how for path, how in differs.items() if path not in known})
        return cause, {**plan.body_of(cause, "amend"), "plan": old.record}

    return _apply(session, found, "amend", judge, dry_run=dry_run)


def withdraw(session: Session, name: str, why: str, *, dry_run: bool = False) -> Outcome:
    """Give a root cause up, with the reason; its number is not used again and the work tree is left alone."""
    found = _gather(session)

    def judge(up: Upgrade) -> tuple[RootCause, Mapping[str, Json] | None]:
        plan.check_open(up)
        old = up.root_causes.get(name)
        if old is not None and old.status == "withdrawn":
            return old, None
        old = _live(up, name)
        return old, {"root_cause": name, "op": "withdraw", "why": why, "plan": old.record}

    return _apply(session, found, "withdraw", judge, dry_run=dry_run)


def show(session: Session, name: str) -> Outcome:
    """Return one root cause with everything its plan says."""
    up = session.upgrade(session.reading())
    cause = _known(up, name)
    return Outcome("root-cause.show", data={"upgrade": up.id, **facts_of(cause)}, next=_next(session, up, cause))


def list_all(session: Session) -> Outcome:
    """Return every root cause, in the order of their numbers, and what is not disposed of."""
    up = session.upgrade(session.reading())
    causes = [facts_of(cause) for cause in up.root_causes.values()]
    data = {"upgrade": up.id, "root_causes": causes, "undisposed": list(up.undisposed)}
    return Outcome("root-cause.list", data=data, next=next_action(up, standing(up, present(session, up))))


def facts_of(cause: RootCause) -> dict[str, Json]:
    """Return a root cause for ``--json``."""
    body = {name: value for name, value in plan.body_of(cause, "").items() if name != "op"}
    return {**body, "status": cause.status, "commit": cause.commit, "why": cause.why}


def _gather(session: Session) -> _Gathered:
    up = session.upgrade(session.reading(strict=True))
    return _Gathered(up, session.policy(up).policy, present(session, up))


def _differing(session: Session, paths: Sequence[str]) -> Mapping[str, str]:
    return differing(path_facts(session, read_status(session.git), paths)) if paths else {}


def _apply(session: Session, found: _Gathered, op: str, judge: Judge, *, dry_run: bool) -> Outcome:
    """Judge on exactly the state that is extended, write, and record phase 4 when this settles it."""
    written: list[tuple[RootCause, bool]] = []

    def decide(state: State) -> Sequence[Draft]:
        cause, body = judge(state.upgrades[found.up.id])
        written[:] = [(cause, body is not None)]
        return (Draft("root-cause", found.up.id, body, session.head or found.up.freeze.base),) if body else ()

    if dry_run:
        decide(session.reading(strict=True).state)
        up = found.up
    else:
        state, _ = session.ledger.transact(decide)
        up = settle_implementation(session, state.upgrades[found.up.id])
    cause, changed = written[0]
    cause = up.root_causes.get(cause.name, cause) if not dry_run else cause
    data = {"upgrade": up.id, "op": op, "changed": changed, "dry_run": dry_run, **facts_of(cause)}
    return Outcome(f"root-cause.{op}", data=data, next=_next(session, up, cause))


def _next(session: Session, up: Upgrade, cause: RootCause) -> str:
    if cause.status == "open":
        return f"git afd commit --root-cause {cause.name}"
    return next_action(up, standing(up, present(session, up)))


def _known(up: Upgrade, name: str) -> RootCause:
    cause = up.root_causes.get(name)
    if cause is None:
        raise Refused(f"there is no root cause {name} in {up.id}", "git afd root-cause list")
    return cause


def _live(up: Upgrade, name: str) -> RootCause:
    """Return a root cause whose plan may still change."""
    cause = _known(up, name)
    if cause.status not in ("open", "settled"):
        done = f"has its commit {cause.commit[:12]}" if cause.commit else f"was withdrawn: {cause.why}"
        raise Refused(f"{name} {done}", "git afd root-cause add")
    return cause
