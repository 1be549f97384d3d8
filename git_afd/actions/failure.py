"""``git afd failure list|show|classify``: what failed, and somebody's word on what kind of failure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.core.failing import classified_body
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import GATES
from git_afd.core.records import Draft, drafted
from git_afd.core.standing import next_action
from git_afd.core.state import ENVIRONMENT, Failure, RootCause, State, Upgrade
from git_afd.errors import Refused

_GATE: Final = GATES["architecture"]


@dataclass(frozen=True, slots=True)
class Word:
    """Somebody's word on a failure: its class, why, and whether it shows a major change of architecture."""

    failure: str
    class_: str
    why: str
    architecture: bool = False


def list_all(session: Session) -> Outcome:
    """Return every failure of the upgrade with what was kept of it, in the order they were opened."""
    reading = session.reading()
    up = session.upgrade(reading)
    bodies = {one.id: one.body for one in session.ledger.records() if one.kind == "failure"}
    shown = [_whole(bodies.get(one.record, {}), one) for one in up.failures.values()]
    return Outcome("failure.list", {"upgrade": up.id, "failures": shown}, next=next_action(up, rows_of(session, up)))


def show(session: Session, name: str) -> Outcome:
    """Return one failure with everything that was kept of it. Raises Refused when there is none of this name."""
    up = session.upgrade(session.reading())
    known = up.failures.get(name)
    if known is None:
        raise Refused(f"there is no failure {name} in {up.id}", "git afd failure list", code="no-failure")
    body = next((one.body for one in session.ledger.records() if one.id == known.record), {})
    fixes = [one.name for one in _claims(up, name)]
    data = {"upgrade": up.id, **_whole(body, known), "fixes": fixes}
    return Outcome("failure.show", data, next=next_action(up, rows_of(session, up)))


def classify(session: Session, word: Word, *, dry_run: bool = False) -> Outcome:
    """Record what kind of failure it is; the same word again changes nothing.

    An architecture finding takes ARCHITECTURE_GATE back in the same step: it is decided anew, and until then the
    hooks refuse production edits. Raises Refused when the failure is not open, or a root cause claims to fix what is
    now called an environment failure.
    """
    up = session.upgrade(session.reading(strict=True))
    name = word.failure
    changed = _decided(up, word) is not None

    def decide(state: State) -> Sequence[Draft]:
        body = _decided(state.upgrades[up.id], word)
        said: tuple[tuple[str, dict[str, Json]], ...] = (("failure", body),) if body else ()
        if body and word.architecture:
            said = (("failure", body), ("phase", _taken_back(word)))
        return tuple(Draft(kind, up.id, one, session.head or up.freeze.base) for kind, one in said)

    if not dry_run:
        up = session.ledger.transact(decide)[0].upgrades[up.id]
    data: dict[str, Json] = {**facts_of(up.failures[name]), "class": word.class_, "why": word.why}
    data |= {"architecture": word.architecture or data["architecture"]}
    data |= {"upgrade": up.id, "changed": changed, "dry_run": dry_run}
    return Outcome("failure.classify", data, next=next_action(up, rows_of(session, up)))


def facts_of(failure: Failure) -> dict[str, Json]:
    """Return a failure for ``--json``."""
    return {
        "failure": failure.name,
        "gate": failure.gate,
        "run": failure.run,
        "class": failure.class_,
        "why": failure.why,
        "by": failure.by,
        "closed_by": failure.closed_by,
        "commands": list(failure.commands),
        "failing": list(failure.failing),
        "architecture": bool(failure.architecture),
    }


def _whole(body: Mapping[str, Json], failure: Failure) -> dict[str, Json]:
    """Return what was kept of a failure, with what is known of it now."""
    return {**{key: value for key, value in body.items() if key != "op"}, **facts_of(failure)}


def _claims(up: Upgrade, name: str) -> list[RootCause]:
    """Return the root causes that claim to fix a failure."""
    return [one for one in up.root_causes.values() if one.failure == name and one.status != "withdrawn"]


def _taken_back(word: Word) -> dict[str, Json]:
    return {
        "phase": _GATE.name,
        "status": "BLOCKED",
        "evidence": [drafted(0)],
        "blocker": f"{word.failure} is an architecture finding: {word.why}",
        "next_allowed_action": _GATE.command,
    }


def _decided(up: Upgrade, word: Word) -> dict[str, Json] | None:
    name, class_ = word.failure, word.class_
    known = up.failures.get(name)
    if up.closed or known is None or not known.open:
        open_ = ", ".join(one.name for one in up.open_failures) or "none"
        raise Refused(f"{name} is no open failure; open: {open_}", "git afd failure list", code="no-failure")
    if (known.class_, known.why) == (class_, word.why) and not (word.architecture and not known.architecture):
        return None
    claimed = next(iter(_claims(up, name)), None)
    if class_ == ENVIRONMENT and claimed is not None:
        fix = f"git afd root-cause withdraw {claimed.name} --why WHY"
        raise Refused(
            f"{claimed.name} claims to fix {name}, which no change of the plugin may do when the environment failed",
            f"its commit {claimed.commit[:12]} stands: name another class" if claimed.commit else fix,
            code="environment-failure",
        )
    return classified_body(name, class_, word.why, architecture=word.architecture)
