"""``git afd approve``: a decision that only a person can take, with name and reason, shown for ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.adapters.guarded import guard_changes
from git_afd.adapters.session import Session
from git_afd.core import shape
from git_afd.core.freezing import PHASE, phase_body
from git_afd.core.outcome import Outcome
from git_afd.core.patch_checks.refused import APPROVAL
from git_afd.core.plan import planned_paths
from git_afd.core.records import Draft, drafted
from git_afd.core.state import DAMAGE_APPROVAL, Approval, State, Upgrade
from git_afd.errors import Refused


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked: the sentences to read, the subject that is approved, the phrase to type."""

    what: str
    upgrade: str
    subject: str
    says: tuple[str, ...]
    phrase: str
    by: str


Ask = Callable[[Question], tuple[str, str]]
"""Asks a person on a terminal and returns what was typed: the phrase and the reason."""


def approve(session: Session, what: str, ask: Ask, *, dry_run: bool = False) -> Outcome:
    """Ask a person to approve `what` (a key of SUBJECTS) and record it; nothing is asked when it is approved already.

    Raises Refused when there is nothing to approve, when the phrase is not the one shown, or without a reason.
    """
    up = session.upgrade(session.reading(strict=what != DAMAGE_APPROVAL))
    question = SUBJECTS[what](session, up)
    given = _given(up, question)
    if given is not None or dry_run:
        return _outcome(up, question, given, "already" if given else "would-ask")
    phrase, reason = ask(question)
    if phrase.strip() != question.phrase:
        raise Refused(f"{phrase.strip()!r} is not the phrase, so nothing was approved", f"type: {question.phrase}")
    if not reason.strip():
        raise Refused("an approval needs a reason, so nothing was approved", "say why in one sentence")
    state, _ = session.ledger.transact(lambda now: _drafts(now, question, session.actor, reason.strip()))
    after = state.upgrades[up.id]
    return _outcome(after, question, _given(after, question), "approved")


def _pair(session: Session, up: Upgrade) -> Question:
    """Ask about the frozen target pair, which nothing in the target vLLM-Ascend speaks of."""
    target = shape.table(shape.table(up.freeze.body, "pair"), "target")
    if shape.text(target, "verdict", "") != "unproven":
        raise Refused(f"the target pair of {up.id} needs no approval", "git afd status")
    vllm, ascend = (up.freeze.revisions[f"{name}.target"] for name in ("vllm", "vllm-ascend"))
    return Question(
        what="pair",
        upgrade=up.id,
        subject=f"vllm {vllm.commit} with vllm-ascend {ascend.commit}",
        says=(
            f"{shape.text(target, 'reason', '')}.",
            f"vllm        {vllm.commit}  {vllm.ref}",
            f"vllm-ascend {ascend.commit}  {ascend.ref}",
            "If you approve, the upgrade goes on with a pair that only you vouch for.",
        ),
        phrase=f"approve pair {up.id}",
        by=session.actor,
    )


def _damage(session: Session, up: Upgrade) -> Question:
    """Ask about the first piece of the ledger's damage that nobody has set aside."""
    left = session.reading().open_damage
    if not left:
        raise Refused("nothing in the ledger is damaged that was not set aside", "git afd status")
    return Question(
        what=DAMAGE_APPROVAL,
        upgrade=up.id,
        subject=left[0].id,
        says=(
            f"What stands at {left[0].place} {left[0].reason}.",
            *([f"line: {left[0].line[:200]!r}"] if left[0].line else []),
            "If you approve, the upgrade goes on without it, and everybody will see that you said so.",
            *([f"{len(left) - 1} more will be asked about one by one."] if left[1:] else []),
        ),
        phrase=f"approve damage {left[0].id[:12]}",
        by=session.actor,
    )


def _push(session: Session, up: Upgrade) -> Question:
    """Ask about publishing what the branch holds now: HEAD and what leads to it, nothing that comes later."""
    if session.head is None or session.head == up.freeze.base:
        raise Refused(f"{up.freeze.branch} holds no commit beyond its base, so a push publishes none", "git afd status")
    count = session.git("rev-list", "--count", f"{up.freeze.base}..{session.head}")
    return Question(
        what="push",
        upgrade=up.id,
        subject=session.head,
        says=(
            f"{count} commit(s) of the open upgrade {up.id} on {up.freeze.branch}, up to {session.head}.",
            "The upgrade is not complete. If you approve, pushes that reach these commits go through;",
            "a commit that comes later asks again.",
        ),
        phrase=f"approve push {session.head[:12]}",
        by=session.actor,
    )


def _guard(session: Session, up: Upgrade) -> Question:
    """Ask about the first guarded value that is not as it was at the freeze, in HEAD or in a planned path on disk."""
    approved = {item.subject for item in up.approvals if item.what == APPROVAL}
    paths = [path for cause in up.open_root_causes for path in planned_paths(cause)]
    left = [item for item in guard_changes(session, up, paths) if item.subject not in approved]
    if not left:
        raise Refused("no guarded value waits for a decision", "git afd next")
    first = left[0]
    word = {"threshold": "threshold", "tolerance": "tolerance"}.get(first.kind, "skip")
    return Question(
        what=APPROVAL,
        upgrade=up.id,
        subject=first.subject,
        says=(
            f"{first.place}: {first.guard} is {first.now!r}; {first.was}.",
            "The workflow forbids to lower a threshold, widen a tolerance or skip a test so that an upgrade passes.",
            "If you approve, this value may be committed and published, and everybody will see that you said so.",
            *([f"{len(left) - 1} more will be asked about one by one."] if left[1:] else []),
        ),
        phrase=f"approve {word} {first.path}",
        by=session.actor,
    )


SUBJECTS: Final[Mapping[str, Callable[[Session, Upgrade], Question]]] = {
    "pair": _pair,
    "push": _push,
    APPROVAL: _guard,
    DAMAGE_APPROVAL: _damage,
}
"""What can be approved, and the question that stands for it."""


def _given(up: Upgrade, question: Question) -> Approval | None:
    found = (item for item in up.approvals if (item.what, item.subject) == (question.what, question.subject))
    return next(found, None)


def _drafts(state: State, question: Question, name: str, reason: str) -> tuple[Draft, ...]:
    up = state.upgrades[question.upgrade]
    if _given(up, question) is not None:
        return ()
    body = {"what": question.what, "subject": question.subject, "name": name, "reason": reason}
    approval = Draft("approval", up.id, body, up.freeze.base)
    if question.what != "pair":
        return (approval,)
    phase = phase_body("PASS", [up.freeze.record, drafted(0)])
    return approval, Draft("phase", up.id, phase, up.freeze.base)


def _outcome(up: Upgrade, question: Question, given: Approval | None, result: str) -> Outcome:
    record = up.phases.get(PHASE.name)
    data = {
        "result": result,
        "what": question.what,
        "subject": question.subject,
        "name": given.name if given else "",
        "reason": given.reason if given else "",
        "phrase": question.phrase,
        "says": list(question.says),
    }
    after_pair = record.next_allowed_action if record else PHASE.command
    return Outcome("approve", data, next=after_pair if question.what == "pair" else "git afd next")
