"""What a retry after a failure owes before hours are spent on it: one change only, and accuracy's native control."""

from __future__ import annotations

from git_afd.actions.gate.judge import control_of, failed_of
from git_afd.adapters.session import Session
from git_afd.core.evidence.control import HOW, TO_NAME
from git_afd.core.evidence.raw_run import RawRun
from git_afd.core.evidence.retry import judge_retry
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked, Refused


def refuse_retry(session: Session, up: Upgrade, raw: RawRun) -> None:
    """Raise Refused or Blocked when the run that is about to start could not pass, whatever it measures.

    The verdict says the same again from what the run keeps: a bundle comes from elsewhere.
    """
    if raw.diagnostic:
        return
    failed = failed_of(session, up, raw, "")
    for finding in judge_retry(*failed, raw) if failed else ():
        raise Refused(
            finding.message,
            f"{finding.remedy}; a --diagnostic run that fails so is what the next one is compared with",
            code=finding.code,
        )
    if raw.gate != "accuracy":
        return
    control = control_of(session, up, session.policy(up).policy, "")
    if control.failed and not control.run:
        text = f"run {control.failed} failed, and nobody has measured the native control since the freeze"
        raise Blocked(text, HOW if control.offered else TO_NAME, code="native-absent")
