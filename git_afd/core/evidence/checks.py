"""The checks of a gate that are no commands: the runtime's identity, the plugin in it, patches, focused tests.

Each has a name and a verdict of its own. They are judged from raw files and from the commit, never from what was
said of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

from git_afd.core.evidence import registration, runtime_facts
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.focused import Focused, Suite, judge_focused
from git_afd.core.evidence.registration import judge_registration, parse_registration
from git_afd.core.evidence.runtime_facts import parse_runtime
from git_afd.core.evidence.runtime_identity import Contents, judge_runtime
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.patch_checks.model import Checked
from git_afd.core.records import canonical
from git_afd.core.runtime_rule import FOCUSED, IDENTITY, PATCHES, REGISTRATION, RuntimeRule

Status = Literal["PASS", "FAIL", "BLOCKED"]

PatchAnswer = Checked | str
"""What the patch checks say of a commit, or why they cannot say anything."""

PATCHES_FILE: Final = "patches.json"
"""Name of the artifact that keeps what the patch checks said when the run took place, for readers."""

NATURE: Final = "environment or version"
"""What a failed import counts as until the runtime is proven (workflow, Phase 5)."""

_IMPORTS: Final = frozenset({"collection-error", *registration.BROKEN})


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """What the checks are judged by: their names in order, the frozen pair and its files, the tree under test.

    `wanted` maps each upstream to the full id of its frozen target; `commit` is that of the tree under test.
    `patches` is the answer of the patch checks on it, or why there is none.
    """

    names: tuple[str, ...] = ()
    wanted: Mapping[str, str] = field(default_factory=dict)
    frozen: Contents = field(default_factory=dict)
    commit: str = ""
    rule: RuntimeRule = field(default_factory=RuntimeRule)
    patches: PatchAnswer = "they were not looked at"
    focused: tuple[Focused, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The verdict of one check; `facts` go into the gate's answer under `key`."""

    name: str
    status: Status
    findings: tuple[Finding, ...]
    key: str = ""
    facts: Json = None


def judge_checks(
    question: CheckQuestion, files: Mapping[str, bytes], suites: Sequence[Suite]
) -> tuple[CheckVerdict, ...]:
    """Judge the checks that the policy names. `files` are the run's artifacts by name, `suites` its reports."""
    return tuple(_judged(name, question, files, suites) for name in question.names)


def _judged(name: str, question: CheckQuestion, files: Mapping[str, bytes], suites: Sequence[Suite]) -> CheckVerdict:
    try:
        if name == IDENTITY:
            runtime = judge_runtime(parse_runtime(_kept(files, runtime_facts.FILE)), question.wanted, question.frozen)
            return CheckVerdict(name, runtime.status, runtime.findings, "runtime", runtime.as_json())
        if name == REGISTRATION:
            found = parse_registration(_kept(files, registration.FILE))
            plugin = judge_registration(found, question.rule, question.commit)
            return CheckVerdict(name, plugin.status, plugin.findings, "plugin", dict(plugin.facts))
        if name == PATCHES:
            return _patches(question.patches)
        if name == FOCUSED:
            focused = judge_focused(question.focused, suites)
            return CheckVerdict(name, focused.status, focused.findings, "focused", list(focused.rows))
    except EvidenceFault as fault:
        return CheckVerdict(name, "BLOCKED", (fault.as_finding(),))
    text = f"{name} is no check that this version knows"
    return CheckVerdict(name, "BLOCKED", (Finding("check-unknown", name, text, "use the version that froze it"),))


def _kept(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise EvidenceFault(name, "", "is not there", "what the run kept of the runtime before its commands")
    return files[name]


def _patches(checked: PatchAnswer) -> CheckVerdict:
    if isinstance(checked, str):
        finding = Finding("patches-unchecked", "", f"the patch functions cannot be checked: {checked}", "")
        return CheckVerdict(PATCHES, "BLOCKED", (finding,))
    left = tuple(
        Finding("not-checked", item.place, f"{item.check} not checked: {item.why}", "name its upstream source above it")
        for item in checked.not_checked
    )
    wrong = sum(finding.severity == "error" for finding in checked.findings)
    status: Status = "FAIL" if wrong else "BLOCKED" if left else "PASS"
    facts = {"status": status, "functions": checked.functions, "findings": wrong, "not_checked": len(left)}
    return CheckVerdict(PATCHES, status, (*checked.findings, *left), "patches", facts)


def patches_bytes(checked: PatchAnswer) -> bytes:
    """Return the bytes of ``patches.json``."""
    if isinstance(checked, str):
        return canonical({"unknown": checked}).encode()
    body: dict[str, Json] = {
        "functions": checked.functions,
        "findings": [finding.as_json() for finding in checked.findings],
        "not_checked": [asdict(item) for item in checked.not_checked],
        "touched": sorted(checked.touched),
    }
    return canonical(body).encode()


def environment_doubt(
    checks: Sequence[CheckVerdict], findings: Sequence[Finding], absent: Sequence[Mapping[str, Json]]
) -> Iterator[Finding]:
    """Say that a failed import counts as an environment or version failure while the runtime is not proven.

    `absent` are the rows of what did not run; those that need a module which was not there are imports that failed,
    as much as the errors among `findings`.
    """
    identity = next((one for one in checks if one.name == IDENTITY), None)
    broken = [finding for finding in findings if finding.code in _IMPORTS and finding.severity == "error"]
    needy = [row for row in absent if row["needs"]]
    if identity is None or identity.status == "PASS" or not (broken or needy):
        return
    places = {*(finding.place for finding in broken), *(str(row["file"]) for row in needy)}
    needs = ", ".join(sorted({str(row["needs"]) for row in needy}))
    what = f"could not import {needs}" if needs else "could not be imported"
    doubts = "; ".join(finding.message for finding in identity.findings if finding.severity == "error")
    files = next(iter(places)) if len(places) == 1 else f"{len(places)} files"
    text = f"{files} {what}: an {NATURE} failure until the runtime is proven ({doubts})"
    yield Finding("environment-failure", IDENTITY, text, "prove the runtime first, then run the gate again")


def facts_of(checks: Sequence[CheckVerdict], absent: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return what the checks add to the gate's answer; `absent` are the rows of what did not run."""
    return {**{one.key: one.facts for one in checks if one.key}, "not_run": [dict(row) for row in absent]}
