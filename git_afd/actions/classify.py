"""``git afd classify``: somebody decides on proposed classes, one by one or many with one reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from git_afd.actions.analysis import boundary, boundary_drafts, recorded_impacts, recorded_inventory
from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.core.classifying import with_decisions
from git_afd.core.entering import refuse_entry
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import PHASES
from git_afd.core.records import Draft
from git_afd.core.state import Analysis, Classified, State, Upgrade
from git_afd.core.workbook.impacts import Impacts
from git_afd.core.workbook.inventory import Inventory
from git_afd.core.workbook.judge import Verdict, judge_impacts
from git_afd.errors import Refused, UsageFault

_PHASE = PHASES[2]


@dataclass(frozen=True, slots=True)
class Request:
    """What is decided: one impact (an id or a part of one) or every open one that fits, the class, and why.

    `pattern` (with ``*``) and `proposed` choose many at once; a `class_` that is empty confirms what was proposed.
    """

    item: str
    class_: str
    why: str
    pattern: str = ""
    proposed: str = ""
    dry_run: bool = False


def classify(session: Session, request: Request) -> Outcome:
    """Record decisions on proposed classes, and judge phase 2 anew. What is decided so already is left alone.

    Raises Refused when the comparison is not the tool's own, or nothing fits.
    """
    up = session.upgrade(session.reading(strict=True))
    refuse_entry(up, rows_of(session, up), _PHASE)
    if up.diff is None or not up.diff.proposed:
        why = "no comparison is recorded" if up.diff is None else "nothing was proposed: rows given by hand say a class"
        raise Refused(f"there is nothing to classify: {why}", "git afd diff", code="nothing-proposed")
    chosen = _chosen(up.diff, request)
    tables = (recorded_impacts(session, up) or Impacts(), recorded_inventory(session, up) or Inventory())
    new = {item: class_ for item, class_ in chosen.items() if _says_more(up.diff, item, class_, request)}
    if not new:
        return _outcome(up, chosen, _judged(up.diff, tables), recorded=False, dry_run=request.dry_run)
    future = _with(up.diff, new, session.actor, request)
    verdict = _judged(future, tables)
    if not request.dry_run:
        up = _written(session, up, new, request, verdict)
    return _outcome(up, new, verdict, recorded=not request.dry_run, dry_run=request.dry_run)


def _chosen(diff: Analysis, request: Request) -> dict[str, str]:
    """Return the impacts that are meant, each with its class."""
    if request.item:
        return {_one(diff, request.item): request.class_}
    fitting = [
        item
        for item, proposed in diff.proposed.items()
        if (not request.proposed or proposed == request.proposed)
        and (not request.pattern or fnmatchcase(item, request.pattern))
        and (item not in diff.decided or bool(request.pattern))
    ]
    if not fitting:
        raise Refused("no impact that waits for a decision fits", "git afd diff --changed", code="no-impact")
    classes = {item: request.class_ or diff.proposed[item] for item in fitting}
    open_ = [item for item, class_ in classes.items() if not class_]
    if open_:
        raise UsageFault(f"nothing was proposed for {open_[0]}, so there is nothing to confirm", "say a class")
    return classes


def _one(diff: Analysis, asked: str) -> str:
    fitting = [asked] if asked in diff.proposed else [item for item in diff.proposed if asked in item]
    if len(fitting) == 1:
        return fitting[0]
    how = "no impact that needs a class" if not fitting else f"{len(fitting)} impacts"
    raise Refused(f"{asked} names {how}", "git afd diff --changed", code="no-impact")


def _says_more(diff: Analysis, item: str, class_: str, request: Request) -> bool:
    known = diff.decided.get(item)
    return known is None or (known.class_, known.why) != (class_, request.why)


def _with(diff: Analysis, new: dict[str, str], actor: str, request: Request) -> Analysis:
    bulk = not request.item
    fresh = {item: Classified(c, diff.proposed[item], actor, request.why, "", bulk) for item, c in new.items()}
    decided = {**diff.decided, **fresh}
    items = with_decisions(diff.items, decided)
    return Analysis(diff.record, diff.how, diff.artifact, items, diff.seq, diff.proposed, decided)


def _judged(diff: Analysis, tables: tuple[Impacts, Inventory]) -> Verdict:
    return judge_impacts(tables[0], tables[1], diff)


def _written(session: Session, up: Upgrade, new: dict[str, str], request: Request, verdict: Verdict) -> Upgrade:
    record = up.diff.record if up.diff else ""
    body: dict[str, Json] = {"diff": record, "items": new, "why": request.why, "bulk": not request.item}

    def decide(state: State) -> Sequence[Draft]:
        now = state.upgrades[up.id]
        return (Draft("classification", up.id, body, up.freeze.base), *boundary_drafts(now, _PHASE, verdict, record))

    state, _ = session.ledger.transact(decide)
    return state.upgrades[up.id]


def _outcome(up: Upgrade, items: dict[str, str], verdict: Verdict, *, recorded: bool, dry_run: bool) -> Outcome:
    left = up.diff.unclassified if up.diff else ()
    data: dict[str, Json] = {
        "classified": items,
        "open": [item for item in left if item not in items],
        "recorded": recorded,
        "dry_run": dry_run,
        "phase": boundary(_PHASE, verdict, [up.diff.record] if up.diff else []),
    }
    return Outcome("classify", data, next=verdict.next)
