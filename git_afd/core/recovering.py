"""The way back from a failure: one root-cause fix, then what is run again, from narrow to whole (workflow, Phase 7).

Every step is read from the records: the fix from its commit, a run from what it was asked to do, and both from the
content that HEAD holds now. Nothing is remembered besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from git_afd.core.command import Command
from git_afd.core.failing import native_failure, refuse_repetition, refuse_unclassified
from git_afd.core.state import REPEATABLE, Failure, Run, Upgrade
from git_afd.errors import Refused

_NARROW: Final = ("static", "basic")
"""Gates whose failed tests are run again by themselves first; the others are one request, or hours of measuring."""


def next_step(up: Upgrade, content: str) -> str:
    """Return the command that the first open failure waits for; empty when only gates in their order are left.

    `content` is the digest of what HEAD holds of production and tests. No open failure is undecided.
    """
    if native_failure(up) is not None:
        return "git afd gate native"
    return next((step for failure in up.open_failures if (step := next(_steps(up, failure, content), ""))), "")


def reproduction(failure: Failure, commands: Sequence[Command]) -> tuple[Command, ...]:
    """Return what of a gate's `commands` runs the failure again: those that failed, narrowed to the tests that did."""
    from git_afd.core.evidence.collecting import narrow_command

    failed = [one for one in commands if one.name in failure.commands or not failure.commands]
    return tuple(narrow_command(command, failure.failing) for command in failed)


def runs_again(up: Upgrade, gate: str, only: str) -> bool:
    """Say whether `only` is a command of `gate` that an open failure failed on: then it may run before the others."""
    return any(one.gate == gate and only in one.commands and not one.undecided for one in up.open_failures)


def insist_classified(up: Upgrade, gate: str, content: str) -> None:
    """Raise Refused when a run that counts comes before the class of a failure of `gate`, or before its narrow runs.

    `content` is the digest of what the run vouches for.
    """
    refuse_unclassified(up, gate)
    refuse_repetition(up, gate, content)
    refuse_shortcut(up, gate, content)


def refuse_shortcut(up: Upgrade, gate: str, content: str) -> None:
    """Raise Refused when a complete gate comes before what a fixed failure of it is to be run again with."""
    for failure in up.open_failures:
        step = next(_again(up, failure, content), "") if failure.gate == gate and _fixed(up, failure) else ""
        if step:
            said = "its narrow reproduction" if "--failure" in step else "the command that failed"
            raise Refused(
                f"{failure.name} has a fix, and {said} has not passed with it yet: that comes before the complete gate",
                step,
                code="narrow-first",
            )


def _steps(up: Upgrade, failure: Failure, content: str) -> Iterator[str]:
    if failure.class_ in REPEATABLE:
        return
    causes = [cause for cause in up.root_causes.values() if cause.failure == failure.name]
    waiting = next((cause for cause in causes if cause.status == "open"), None)
    if waiting is not None:
        yield f"git afd commit --root-cause {waiting.name}"
    elif _fixed(up, failure):
        yield from _again(up, failure, content)
    elif up.runs[failure.run].bound.get("content") == content:
        yield _fix(failure)


def _fix(failure: Failure) -> str:
    return f"git afd root-cause add --kind failure-fix --failure {failure.name}"


def _fixed(up: Upgrade, failure: Failure) -> bool:
    return any(cause.failure == failure.name and cause.status == "committed" for cause in up.root_causes.values())


def _again(up: Upgrade, failure: Failure, content: str) -> Iterator[str]:
    """Yield what has not passed on `content` yet: the failed tests alone, then each failed command as a whole.

    A fix with which the failed tests fail again was not all of it.
    """
    if failure.gate not in _NARROW:
        return
    runs = [run for run in up.runs.values() if run.gate == failure.gate and run.bound.get("content") == content]
    tried = [run.status for run in runs if run.failure == failure.name]
    if "PASS" not in tried:
        yield _fix(failure) if "FAIL" in tried else f"git afd gate {failure.gate} --failure {failure.name}"
    if failure.gate == "basic" and failure.failing:
        yield from (f"git afd gate basic --only {name}" for name in failure.commands if not _ran(runs, name))


def _ran(runs: list[Run], command: str) -> bool:
    return any(run.only == command and run.status == "PASS" for run in runs)
