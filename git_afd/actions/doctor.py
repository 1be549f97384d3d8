"""``git afd doctor``: what in this repository, this git or this host would make git-afd unreliable. Changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from git_afd.actions.hooks import inert
from git_afd.adapters.hook_install import inspect
from git_afd.adapters.objects import open_objects
from git_afd.adapters.session import Session
from git_afd.core.doctoring import rewrites_ledger, too_old
from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.errors import AfdError, Exit


def doctor(session: Session) -> Outcome:
    """Return every check with what it found; exit 1 when something is wrong, notes aside."""
    findings: list[Finding] = []
    checks: dict[str, str] = {}
    for name, check in CHECKS.items():
        said, found = check(session)
        checks[name] = said
        findings += found
    wrong = any(finding.severity == "error" for finding in findings)
    return Outcome(
        verb="doctor",
        data={"checks": checks},
        findings=tuple(findings),
        next=next((finding.remedy for finding in findings if finding.severity == "error"), ""),
        exit=Exit.FAIL if wrong else Exit.DONE,
    )


Answer = tuple[str, tuple[Finding, ...]]


def _git(session: Session) -> Answer:
    said = session.git("version")
    finding = Finding("git-too-old", "git", f"{said} is older than what git-afd was proven with", "install git 2.39")
    return said, (finding,) if too_old(said) else ()


def _library(session: Session) -> Answer:
    name = open_objects(session.git, session.common_dir).name
    if name == "libgit2":
        return "libgit2 opens this repository", ()
    return f"libgit2 cannot open this repository; {name} reads it instead", ()


def _ledger(session: Session) -> Answer:
    reading = replace(session.ledger, keeps=False).read(fresh=True)
    findings = tuple(
        Finding("ledger-unreadable", item.place, f"the ledger is damaged: it {item.reason}", "git afd log --damage")
        for item in reading.open_damage
    )
    return f"{reading.state.count} record(s)" if reading.tip else "none yet", findings


def _pointer(session: Session) -> Answer:
    try:
        up = session.upgrade(session.reading())
    except AfdError as fault:
        lost = fault.exit == Exit.BLOCKED
        return fault.message, (Finding("pointer-lost", session.branch or "", fault.message, fault.fix),) if lost else ()
    return f"{session.branch} runs {up.id}", ()


def _hooks(session: Session) -> Answer:
    hooks = inspect(session)
    silent = [hook.stage for hook in hooks if not hook.active]
    return f"not run by git here: {', '.join(silent)}" if silent else "git runs all three", inert(hooks)


def _rewriting(session: Session) -> Answer:
    result = session.git.run("config", "--null", "--get-all", "notes.rewriteRef")
    bad = [value for value in result.fields() if rewrites_ledger(value)]
    message = "an amend or rebase would copy records to commits that were never judged"
    fix = "git config --unset-all notes.rewriteRef, or name only other refs"
    found = tuple(Finding("notes-rewritten", f"notes.rewriteRef={value}", message, fix) for value in bad)
    return ", ".join(bad) if bad else "the ledger does not follow rewritten commits", found


CHECKS: Final[dict[str, Callable[[Session], Answer]]] = {
    "git": _git,
    "objects": _library,
    "ledger": _ledger,
    "upgrade": _pointer,
    "hooks": _hooks,
    "notes": _rewriting,
}
