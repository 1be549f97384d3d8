"""What a test run must have run: frozen by a collection before it, and missed by name where it is not there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.command import Command
from git_afd.core.evidence.collected import deselected, parse_collected
from git_afd.core.evidence.collecting import collect_command, expected_files, placed, selects
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.evidence.status import Status
from git_afd.core.evidence.suite_verdict import AllowedSkip
from git_afd.core.finding import Finding

LOST: Final = "file-not-collected"
"""The code of a test file of the commit from which nothing was collected."""

_NOTHING: Final = 5
_COLLECTED: Final = (0, _NOTHING)
"""pytest's exit codes of a collection: done, and nothing there."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The node ids that a run must report, None when nobody knows them; `status` and `findings` are of the freezing."""

    ids: tuple[str, ...] | None
    status: Status = "PASS"
    findings: tuple[Finding, ...] = ()


def expect(
    command: Command,
    listings: Sequence[Ended],
    files: Mapping[str, bytes],
    tree: Collection[str] | None,
    skips: Sequence[AllowedSkip],
) -> Expectation:
    """Read what was collected before `command` ran, out of the `listings` of the run and the bytes they left.

    `tree` holds the paths of the commit, None when they are not known. Commands that are no pytest run expect
    nothing. A listing that is missing, cut off or ended with errors decides nothing: BLOCKED. A test file of the
    commit, or a test, that the project's own code keeps out is FAIL unless `skips` documents it.
    """
    if collect_command(command) is None:
        return Expectation(None)
    try:
        ids, apart = _listing(command, listings, files, wide=False)
        everything, rest = _listing(command, listings, files, wide=True) if apart else (ids, 0)
    except EvidenceFault as fault:
        return Expectation(None, "BLOCKED", (fault.as_finding(),))
    kept_out = list(_deselected(command, ids, everything, apart, rest, skips))
    lost, unknown = _files(command, everything, tree, skips)
    errors = [*lost, *(finding for finding in kept_out if finding.severity == "error")]
    blocking = any(finding.severity == "error" for finding in unknown)
    return Expectation(ids, "FAIL" if errors else "BLOCKED" if blocking else "PASS", (*lost, *unknown, *kept_out))


def vacant(command: Command, ended: Ended, expected: Expectation) -> bool:
    """Say whether the policy lets `command` select nothing, and it did: before the run and in it."""
    return command.may_be_empty and expected.ids == () and expected.status == "PASS" and ended.exit_code == _NOTHING


def _listing(
    command: Command, listings: Sequence[Ended], files: Mapping[str, bytes], *, wide: bool
) -> tuple[tuple[str, ...], int]:
    """Return the ids of one collection and how many tests it left out. Raises EvidenceFault."""
    asked = collect_command(command, wide=wide)
    found = [one for one in listings if one.name == command.name and asked is not None and asked.made(one.argv)]
    if len(found) != 1:
        wrong = f"the expected tests of {command.name} were not collected before its run"
        raise EvidenceFault("run.json", "", wrong, "one collection in the interpreter that ran them")
    ended = found[0]
    if ended.missing or ended.log not in files:
        raise EvidenceFault(
            ended.log or command.name, "", ended.missing or "is not there any more, or is too long", "the listing"
        )
    ids = parse_collected(files[ended.log], ended.log)
    if ended.exit_code not in _COLLECTED:
        raise EvidenceFault(ended.log, "", f"ended with exit code {ended.exit_code}", "a collection without errors")
    return ids, deselected(files[ended.log])


def _files(
    command: Command, ids: Sequence[str], tree: Collection[str] | None, skips: Sequence[AllowedSkip]
) -> tuple[list[Finding], list[Finding]]:
    """Return the test files of the commit that were not collected, and what keeps from knowing them."""
    wanted = None if tree is None else expected_files(command, tree)
    if tree is None or wanted is None:
        why = "the command names no path of the commit, so the test files it must collect are not known"
        return [], [Finding("expected-files-unknown", command.name, why, "", "note")]
    held = placed(ids, command, tree)
    if held is None:
        why = "tests were collected from files that the commit does not hold"
        return [], [Finding("collected-elsewhere", command.name, why, "Name paths of the commit in the command.")]
    lost = (path for path in wanted if path not in held and not any(skip.names(path, f"{path}::") for skip in skips))
    return [
        Finding(
            LOST,
            path,
            f"{path}: nothing was collected from it (skipped as a whole, ignored or without tests), which the policy "
            "does not allow",
            "Make it run, or get the skip approved.",
        )
        for path in lost
    ], []


def _deselected(
    command: Command,
    ids: Sequence[str],
    everything: Sequence[str],
    apart: int,
    rest: int,
    skips: Sequence[AllowedSkip],
) -> Iterator[Finding]:
    if apart and selects(command):
        yield Finding(
            "outside-selection", command.name, f"{apart} tests are outside the selection of the command", "", "note"
        )
        return
    for node in sorted(set(everything) - set(ids)):
        if not any(skip.names(node, node.partition("[")[0]) for skip in skips):
            text = f"{node}: deselected by the project's own configuration, which the policy does not allow"
            yield Finding("test-deselected", node, text, "Make it run, or get the skip approved.")
    if rest:
        text = f"{rest} tests are deselected by the project's own code"
        yield Finding("test-deselected", "", text, "Let the policy's command select, not the code under test.")
