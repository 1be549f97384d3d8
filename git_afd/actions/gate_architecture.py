"""``git afd gate architecture``: phase 3. Shows the seven stop conditions, takes the primary's decision.

The tool may forbid, never approve: nothing here records PASS without ``--decide continue`` by the primary.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd.actions.analysis import boundary, boundary_drafts, recorded_impacts, recorded_inventory
from git_afd.actions.architecture_answers import Person, Subject, asked, read_answers
from git_afd.actions.present import rows_of
from git_afd.adapters.content import entries
from git_afd.adapters.dirty import dirty_digests
from git_afd.adapters.session import Session
from git_afd.core.entering import refuse_entry
from git_afd.core.few import few
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json, Outcome
from git_afd.core.phases import PHASES
from git_afd.core.primary import insist_primary
from git_afd.core.records import Draft, canonical, drafted
from git_afd.core.state import State, Upgrade
from git_afd.core.stop_conditions import STOP_CONDITIONS, ConditionRow, Judgement, judge
from git_afd.core.stop_report import Stop, as_markdown, stop_report
from git_afd.core.unchanged import WorkTree, edited
from git_afd.core.workbook.answers import STOP_TEXTS, Answers
from git_afd.core.workbook.impacts import Impacts
from git_afd.core.workbook.inventory import Inventory
from git_afd.core.workbook.judge import Verdict
from git_afd.errors import Blocked, Conflict, EnvironmentFault, Exit, Refused, UsageFault

_PHASE: Final = PHASES[3]
_VERB: Final = "gate.architecture"
_AFTER: Final = "git afd root-cause add"
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: a file of answers and how the user named it, the decision, where the stop report goes."""

    answers: Path | None = None
    name: str = ""
    decide: str = ""
    why: str = ""
    output: Path | None = None
    dry_run: bool = False


def gate_architecture(session: Session, request: Request, person: Person | None = None) -> Outcome:
    """Show the seven conditions and, with a decision, record it.

    `person` answers on a terminal what no file does; None when there is no terminal. Exit 0 when nothing forbids
    going on (or PASS was recorded), 6 when answers are missing, 3 when a condition holds, 7 when it was stopped.
    """
    up = session.upgrade(session.reading(strict=True))
    if up.recorded.get(_PHASE.name) == "STOPPED" and not request.decide:
        return _stopped_before(session, up, request.output)
    early = _early(session, up, showing=not request.decide)
    if early is not None:
        return early
    subject = _subject(session, up)
    answers = read_answers(session, subject, request.answers, request.name)
    if isinstance(answers, tuple):
        return Outcome(_VERB, {"recorded": False}, answers, "", Exit.REFUSED)
    if not request.decide:
        return _shown(up, subject, answers, given=request.answers is not None)
    _insist(session, up, request)
    answers = asked(session, subject, answers, person, stop=request.decide == "stop")
    judgement = _judged(subject, answers)
    if request.decide == "stop":
        return _stop(session, subject, request, answers, judgement)
    return _continue(session, subject, request, judgement)


def _early(session: Session, up: Upgrade, *, showing: bool) -> Outcome | None:
    """Raise when the gate may not be entered; whoever only looks sees the seven conditions besides."""
    try:
        refuse_entry(up, rows_of(session, up), _PHASE)
    except Refused as refusal:
        if not showing:
            raise
        rows: list[Json] = [ConditionRow(condition, "unanswered").as_json() for condition in STOP_CONDITIONS]
        data: dict[str, Json] = {"conditions": rows, "unaddressed": [], "decision": None}
        data |= {"recorded": False, "dry_run": False}
        finding = Finding(refusal.code, _PHASE.name, refusal.message, refusal.fix)
        return Outcome(_VERB, data, (finding,), refusal.fix, refusal.exit)
    return None


def _subject(session: Session, up: Upgrade) -> Subject:
    inventory, impacts = recorded_inventory(session, up), recorded_impacts(session, up)
    return Subject(up, inventory or Inventory(), impacts or Impacts())


def _judged(subject: Subject, answers: Answers) -> Judgement:
    freeze = subject.up.freeze.record
    return judge(
        answers.conditions, answers.questions, subject.questions, freeze, subject.architectural, subject.evaluated
    )


def _insist(session: Session, up: Upgrade, request: Request) -> None:
    if not request.why:
        raise UsageFault("a decision needs its reason", f"add --why TEXT to --decide {request.decide}")
    insist_primary(up, session.actor, "decides", "let the primary run it")


def _shown(up: Upgrade, subject: Subject, answers: Answers, *, given: bool) -> Outcome:
    judgement = _judged(subject, answers)
    rows: list[Json] = [row.as_json() for row in judgement.rows]
    decided = None if given or not _answers_all(up) else up.decision
    if decided is not None:
        rows = [dict(row) for row in decided.conditions]
    waits = "" if decided else judgement.incomplete
    if decided is not None:
        following = _AFTER
    elif waits:
        following = f"{_PHASE.command} --answers FILE"
    else:
        word = "stop" if judgement.holding else "continue"
        following = f"{_PHASE.command} --answers FILE --decide {word} --why TEXT"
    data: dict[str, Json] = {
        "conditions": rows,
        "unaddressed": [] if decided else list(judgement.unaddressed),
        "decision": {"decide": decided.decide, "why": decided.why, "by": decided.by} if decided else None,
        "recorded": False,
        "dry_run": False,
    }
    findings = (Finding("unanswered", _PHASE.name, waits, following),) if waits else ()
    return Outcome(_VERB, data, findings, following, Exit.BLOCKED if waits else Exit.DONE)


def _continue(session: Session, subject: Subject, request: Request, judgement: Judgement) -> Outcome:
    if judgement.holding:
        raise Refused(f"going on is forbidden: {judgement.forbids}", f"{_PHASE.command} --decide stop --why TEXT")
    if judgement.incomplete:
        raise Blocked(f"going on is forbidden: {judgement.incomplete}", f"{_PHASE.command} --answers FILE")
    policy = session.policy(subject.up).policy
    changed = _edited(session, subject.up, kinds=("production",))
    if changed:
        raise Refused(
            f"production changed before the gate passed: {few(changed, _SHOWN)}",
            "take the change back, or keep it for a root cause after the gate",
            code="production-changed",
        )
    verdict = Verdict("PASS", "", _AFTER)
    up, new = _record(session, subject, request, judgement, verdict, {})
    data = _data(up, request, judgement, verdict, new)
    data["proof"] = f"no production path of policy {policy.name} differs from {_expected(up)[:12]}"
    return Outcome(_VERB, data, (), verdict.next, Exit.DONE)


def _stop(session: Session, subject: Subject, request: Request, answers: Answers, judgement: Judgement) -> Outcome:
    if judgement.incomplete:
        raise Blocked(f"a stop needs every answer: {judgement.incomplete}", f"{_PHASE.command} --answers FILE")
    if not judgement.holding:
        raise Refused("no stop condition holds, so the gate has nothing to stop for", "git afd close --why TEXT")
    missing = [name for name in STOP_TEXTS if name not in answers.stop]
    if missing:
        raise Blocked(f"a stop report must say {STOP_TEXTS[missing[0]]}", f"add {missing[0]} to [stop] in the answers")
    changed = _edited(session, subject.up, kinds=None)
    if changed:
        raise Refused(
            f"the work tree is not as it was at the freeze: {few(changed, _SHOWN)}",
            "bring these paths back to what they were; a stop leaves the tree unchanged",
            code="tree-changed",
        )
    stop = Stop(
        subject.up, request.why, session.actor, judgement, subject.inventory, subject.impacts.rows, answers.stop
    )
    report = stop_report(stop)
    names: dict[str, Json] = {}
    if not request.dry_run:
        texts = (as_markdown(report).encode(), canonical(report).encode() + b"\n")
        kept = session.artifacts.put(texts)
        names = dict(zip(("markdown", "json"), kept, strict=True))
    verdict = Verdict("STOPPED", f"{judgement.forbids}: {request.why}", "git afd close --why WHY")
    up, new = _record(session, subject, request, judgement, verdict, names)
    if request.output and not request.dry_run:
        _write(request.output, report)
    data = _data(up, request, judgement, verdict, new)
    data |= {"report": report, "markdown": as_markdown(report)}
    return Outcome(_VERB, data, (), verdict.next, Exit.STOPPED)


def _record(
    session: Session,
    subject: Subject,
    request: Request,
    judgement: Judgement,
    verdict: Verdict,
    report: dict[str, Json],
) -> tuple[Upgrade, bool]:
    """Record decision and phase, both or none; nothing when exactly this was decided already."""
    rows: list[Json] = [row.as_json() for row in judgement.rows]
    body: dict[str, Json] = {"decide": request.decide, "why": request.why, "conditions": rows, "report": report}
    name = subject.up.id

    def decide(state: State) -> Sequence[Draft]:
        now = state.upgrades[name]
        if now.diff != subject.up.diff:
            raise Conflict("the diff was recorded again meanwhile", "run the same command again")
        old = now.decision
        said = (old.decide, old.why, [dict(row) for row in old.conditions]) if old else None
        if old and _answers_all(now) and said == (request.decide, request.why, rows):
            return boundary_drafts(now, _PHASE, verdict, old.record)
        commit = now.freeze.base
        return (Draft("decision", name, body, commit), *boundary_drafts(now, _PHASE, verdict, drafted(0)))

    if request.dry_run:
        return subject.up, False
    state, written = session.ledger.transact(decide)
    return state.upgrades[name], bool(written)


def _answers_all(up: Upgrade) -> bool:
    """Say whether the decision came after the newest comparison and the newest architecture finding."""
    return bool(up.decision and up.diff and up.decision.seq > max(up.diff.seq, up.reopened))


def _data(
    up: Upgrade,
    request: Request,
    judgement: Judgement,
    verdict: Verdict,
    new: bool,  # noqa: FBT001 - one fact of five
) -> dict[str, Json]:
    evidence = [up.decision.record] if up.decision else []
    return {
        "conditions": [row.as_json() for row in judgement.rows],
        "unaddressed": list(judgement.unaddressed),
        "decision": {"decide": request.decide, "why": request.why, "by": up.freeze.primary},
        "phase": boundary(_PHASE, verdict, evidence),
        "recorded": new,
        "dry_run": request.dry_run,
    }


def _stopped_before(session: Session, up: Upgrade, output: Path | None) -> Outcome:
    """Show again what was decided; the report comes from its artifact."""
    decision = up.decision
    rows: list[Json] = [dict(row) for row in decision.conditions] if decision else []
    data: dict[str, Json] = {"conditions": rows, "unaddressed": [], "recorded": False, "dry_run": False}
    data["decision"] = {"decide": decision.decide, "why": decision.why, "by": decision.by} if decision else None
    kept = decision.report if decision else {}
    stored = session.artifacts.get(kept.get("json", ""))
    if stored is not None:
        report = json.loads(stored)
        data |= {"report": report, "markdown": as_markdown(report)}
        if output:
            _write(output, report)
    return Outcome(_VERB, data, (), "git afd close --why WHY", Exit.STOPPED)


def _edited(session: Session, up: Upgrade, kinds: tuple[str, ...] | None) -> tuple[str, ...]:
    """Name what is not as it must be: paths of these kinds, or (None) everything that stood there at the freeze.

    A new untracked file of no kind that the policy knows (an answers file, say) changes nothing that was there.
    """
    policy = session.policy(up).policy
    expected = _files(session, _expected(up))
    then = WorkTree(expected, up.freeze.dirty)
    now = WorkTree(_files(session, session.head or up.freeze.base), dirty_digests(session.git, session.root))

    def counts(path: str) -> bool:
        kind = policy.kind_of(path)
        if kinds is not None:
            return kind in kinds
        return kind != "other" or path in expected or path in up.freeze.dirty

    return edited(then, now, counts)


def _expected(up: Upgrade) -> str:
    """Return the commit that the branch must still hold: the base, or what git afd itself committed since."""
    return up.commits[-1].commit if up.commits else up.freeze.base


def _files(session: Session, commit: str) -> dict[str, str]:
    return {entry.path: f"{entry.mode} {entry.id}" for entry in entries(session.git, commit)}


def _write(path: Path, report: dict[str, Json]) -> None:
    text = canonical(report) + "\n" if path.suffix == ".json" else as_markdown(report)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be written: {error.strerror}", "name another file") from None
