"""``git afd commit --root-cause RC-n``: exactly the planned paths, one signed-off commit, made by git.

Gather, decide, apply: everything is read and judged, the commit is known to the byte, and only then does one of
two ways make it. A way either publishes a commit that equals the plan, or leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from git_afd.actions.commit_record import record_commit
from git_afd.actions.interrupted_commit import Unrecorded, find_unrecorded, sweep, take_up
from git_afd.actions.judge_commit import judge_commit, refusal
from git_afd.actions.present import rows_of
from git_afd.adapters.commit_lock import commit_lock
from git_afd.adapters.commit_object import must_be_signed, signer_of
from git_afd.adapters.committing import Attempt, NotRecorded, Way, announced, attempt
from git_afd.adapters.dirty import under_way
from git_afd.adapters.drawing import draw
from git_afd.adapters.editor import edit, insist_on_terminal
from git_afd.adapters.foreign_hooks import foreign_hooks
from git_afd.adapters.git import decode, encode
from git_afd.adapters.in_place import InPlace
from git_afd.adapters.scratch import Scratch
from git_afd.adapters.session import Session
from git_afd.adapters.signal_forwarding import Forwarding, send_one
from git_afd.adapters.user_index import planned_entries
from git_afd.adapters.work_tree import index_locked, path_facts, read_status
from git_afd.core.blueprint import Blueprint, check_contents
from git_afd.core.commit_rules import (
    MadeCommit,
    commit_faults,
    committable,
    insist_on_person,
    message_faults,
)
from git_afd.core.finding import Finding
from git_afd.core.message import Wording, compose
from git_afd.core.outcome import Json, Outcome
from git_afd.core.path_facts import PathFacts, check_committable, check_repository
from git_afd.core.plan import planned_paths
from git_afd.core.policy import Policy
from git_afd.core.primary import insist_primary
from git_afd.core.standing import next_action, shown
from git_afd.core.state import RootCause, Upgrade
from git_afd.errors import AfdError, Exit, Refused

MESSAGE_FILE: Final = "AFD_EDITMSG"
PATCH_FILE: Final = "afd-hook-changes.patch"
IN_PLACE: Final = "in place"
SCRATCH: Final = "scratch worktree"
TAKEN_UP: Final = "made by an earlier run, recorded now"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for: the root cause, the words to add, whether to edit them, whether only to say what would be.

    `in_place` insists on the user's own work tree although foreign hooks are there.
    """

    root_cause: str
    wording: Wording = field(default_factory=Wording)
    edit: bool = False
    dry_run: bool = False
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class _Case:
    """Who commits what: `heads` are those of the chain of records, `tip` is the ledger's, `parent` is HEAD."""

    up: Upgrade
    cause: RootCause
    policy: Policy
    heads: str
    tip: str
    signer: str
    branch: str
    parent: str


@dataclass(frozen=True, slots=True)
class _Survey:
    """The work tree: facts about the paths to commit, foreign hooks, the way that follows from both."""

    facts: tuple[PathFacts, ...]
    hooks: tuple[str, ...]
    way: str


def commit(session: Session, request: Request) -> Outcome:
    """Commit one root cause, or say what would be committed, or why it cannot be."""
    if request.edit:
        insist_on_terminal()
    case = _gather(session, request.root_cause)
    if request.dry_run:
        return _rehearse(session, case, request)
    with commit_lock(session.ledger.home):
        found = find_unrecorded(session, case.up, case.cause, case.signer)
        if found is not None:
            outcome = _take_up(session, case, found)
            sweep(session)
            return outcome
        sweep(session)
        survey = _survey(session, case, request)
        blueprint = _draw(session, case, survey, keep=True)
        judged = judge_commit(session, case.up, case.policy, blueprint, kept=True)
        if judged.refused:
            return refusal(case.cause.name, judged, survey.way)
        text = _composed(case, blueprint, request.wording)
        if request.edit:
            text = _edited(session, case, text)
        done = _apply(session, case, survey, blueprint, text)
        return replace(done, findings=(*done.findings, *judged.warned))


def _gather(session: Session, name: str) -> _Case:
    reading = session.reading(strict=True)
    up = session.upgrade(reading)
    insist_primary(up, session.actor, "commits", "leave the change in the work tree for the primary")
    cause = committable(up, name, shown(rows_of(session, up)))
    policy = session.policy(up).policy
    signer = signer_of(session.git, "COMMITTER")
    insist_on_person(signer, signer_of(session.git, "AUTHOR"), policy.bots)
    heads = " ".join(reading.state.heads)
    return _Case(up, cause, policy, heads, reading.tip or "", signer, session.branch or "", session.head or "")


def _survey(session: Session, case: _Case, request: Request) -> _Survey:
    """Read the work tree once and refuse what cannot be committed exactly."""
    status = read_status(session.git)
    check_repository(under_way(session.git_dir), status.conflicts, locked=index_locked(session.git_dir))
    planned = planned_paths(case.cause)
    facts = _to_commit(path_facts(session, status, planned), case.cause)
    check_committable(facts)
    hooks, others = foreign_hooks(session), status.others(planned)
    if request.in_place and hooks and others:
        raise Refused(
            f"{others[0]} is changed and not planned, and the foreign hook {hooks[0]} could touch it",
            "leave out --in-place",
        )
    return _Survey(facts, hooks, SCRATCH if hooks and not request.in_place else IN_PLACE)


def _to_commit(facts: tuple[PathFacts, ...], cause: RootCause) -> tuple[PathFacts, ...]:
    """Leave out tests that are only to be run: a folder, or an id that is no file and was none."""
    files = set(cause.files)
    return tuple(item for item in facts if item.path in files or item.change or item.disk in ("file", "link"))


def _draw(session: Session, case: _Case, survey: _Survey, *, keep: bool) -> Blueprint:
    blueprint = draw(session.git, case.parent, [item.path for item in survey.facts], keep=keep)
    check_contents(blueprint, case.cause, case.policy)
    return blueprint


def _composed(case: _Case, blueprint: Blueprint, wording: Wording) -> str:
    text = compose(case.up, case.cause, blueprint.paths, wording, ledger=case.heads, signer=case.signer)
    return _checked(case, text, "correct the option or the plan that it comes from")


def _edited(session: Session, case: _Case, text: str) -> str:
    file = session.git_dir / MESSAGE_FILE
    file.write_bytes(encode(text))
    edit(session.git, file)
    kept = session.git("stripspace", input=file.read_bytes()) + "\n"
    return _checked(case, kept, f"what you wrote is kept in {file}")


def _checked(case: _Case, text: str, fix: str) -> str:
    faults = message_faults(case.up, case.cause, text, case.signer, parent=case.parent, ledger=case.heads)
    if faults:
        first = faults[0]
        raise Refused(f"the message will not do: {first.message}", f"{first.remedy}; {fix}", code=first.code)
    return text


def _apply(session: Session, case: _Case, survey: _Survey, blueprint: Blueprint, text: str) -> Outcome:
    """Make the commit, compare it with the plan, publish it, record it."""
    signed = must_be_signed(session.git)

    def judge(made: MadeCommit) -> tuple[Finding, ...]:
        said = message_faults(case.up, case.cause, made.message, case.signer, parent=case.parent, ledger=case.heads)
        return (*commit_faults(made, blueprint, case.signer, signed=signed), *said)

    added = [item.path for item in survey.facts if item.change and item.change.intended]
    before = planned_entries(session.git, blueprint.paths, added)
    message = session.git_dir / MESSAGE_FILE
    message.write_bytes(encode(text))
    left: tuple[str, ...] = ()
    up = case.up
    with Forwarding(send_one) as signals, _interruptible(signals):
        make = Scratch.make if survey.way == SCRATCH else InPlace
        way: Way = make(session, case.branch, blueprint, before)
        with announced(way, blueprint.intent(case.up.id, case.cause.name, case.tip)):
            done = attempt(way, message, judge, signals)
            if done.made is not None and done.right:
                left = way.publish(done.made.id, text.partition("\n")[0])
                up = _record(session, case, done.made, blueprint)
    if done.made is None or not done.right:
        if signals.seen:
            raise KeyboardInterrupt
        return _refused(session, case, survey, done)
    message.unlink(missing_ok=True)
    return _finished(session, up, case, done.made, blueprint, survey, left=left)


@contextmanager
def _interruptible(signals: Forwarding) -> Iterator[None]:
    """Report what fails after a signal as the interruption it is: the signal reaches our git children too."""
    try:
        yield
    except NotRecorded:
        raise
    except AfdError as fault:
        if signals.seen:
            raise KeyboardInterrupt from fault
        raise


def _record(session: Session, case: _Case, made: MadeCommit, blueprint: Blueprint) -> Upgrade:
    try:
        return record_commit(session, case.up.id, case.cause.name, made, blueprint.paths)
    except AfdError as fault:
        again = f"git afd commit --root-cause {case.cause.name}"
        raise NotRecorded(
            f"{made.id} stands on the branch and could not be recorded: {fault.message}", again
        ) from fault


def _take_up(session: Session, case: _Case, found: Unrecorded) -> Outcome:
    take_up(session, found)
    up = record_commit(session, case.up.id, case.cause.name, found.made, found.blueprint.paths)
    return _finished(session, up, case, found.made, found.blueprint, _Survey((), (), TAKEN_UP))


def _rehearse(session: Session, case: _Case, request: Request) -> Outcome:
    found = find_unrecorded(session, case.up, case.cause, case.signer)
    if found is not None:
        data = _facts(case, found.blueprint, _Survey((), (), TAKEN_UP), found.made.message)
        return Outcome("commit", data={**data, "commit": found.made.id, "dry_run": True})
    survey = _survey(session, case, request)
    blueprint = _draw(session, case, survey, keep=False)
    judged = judge_commit(session, case.up, case.policy, blueprint, kept=False)
    if judged.refused:
        return refusal(case.cause.name, judged, survey.way)
    text = _composed(case, blueprint, request.wording)
    data = {**_facts(case, blueprint, survey, text), "commit": "", "dry_run": True}
    return Outcome("commit", data, judged.warned, f"git afd commit --root-cause {case.cause.name}")


def _finished(  # noqa: PLR0913 - everything that the answer shows
    session: Session,
    up: Upgrade,
    case: _Case,
    made: MadeCommit,
    blueprint: Blueprint,
    survey: _Survey,
    *,
    left: tuple[str, ...] = (),
) -> Outcome:
    here = replace(session, head=made.id)
    data = {**_facts(case, blueprint, survey, made.message), "commit": made.id, "dry_run": False}
    warnings = tuple(f"the index entry of {path} was left as it is: it changed meanwhile" for path in left)
    return Outcome("commit", data=data, next=next_action(up, rows_of(here, up)), warnings=warnings)


def _facts(case: _Case, blueprint: Blueprint, survey: _Survey, text: str) -> dict[str, Json]:
    return {
        "upgrade": case.up.id,
        "root_cause": case.cause.name,
        "parent": blueprint.parent,
        "tree": blueprint.tree,
        "paths": [
            {"path": item.path, "mode": item.mode, "blob": item.blob, "old_blob": item.old_blob}
            for item in blueprint.changes
        ],
        "way": survey.way,
        "foreign_hooks": list(survey.hooks),
        "message": text,
    }


def _refused(session: Session, case: _Case, survey: _Survey, done: Attempt) -> Outcome:
    """Say what stopped it, and show what hooks made of the planned files; nothing is added for the user."""
    faults = done.faults
    if not faults:
        where = " (the hooks ran in a scratch worktree: untracked files are not there)" if survey.way == SCRATCH else ""
        fix = "what it printed is above; correct that, then run the same command again"
        faults = (Finding("commit-refused", "", f"git or a hook refused the commit of {case.cause.name}{where}", fix),)
    if done.patch:
        faults += (_changed_by_hooks(session.git_dir / PATCH_FILE, done.patch, survey),)
    data = {"root_cause": case.cause.name, "commit": "", "way": survey.way, "difference": decode(done.patch)}
    again = f"git afd commit --root-cause {case.cause.name}"
    return Outcome("commit", data=data, findings=faults, next=again, exit=Exit.REFUSED)


def _changed_by_hooks(file: Path, patch: bytes, survey: _Survey) -> Finding:
    file.write_bytes(patch)
    fix = f"git apply {file}, look at it, then run the same command again"
    if survey.way == IN_PLACE:
        fix = "look at it with git diff, then run the same command again"
    return Finding("hook-changes", str(file), "a hook changed planned files, and nothing of it was added", fix)
