"""The checks of a gate that are no commands: the runtime's identity, the plugin in it, patches, focused tests.

Each has a name and a verdict of its own. They are judged from raw files and from the commit, never from what was
said of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from git_afd.core.evidence import registration, runtime_facts
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.focused import Focused, Suite, judge_focused, needed
from git_afd.core.evidence.registration import judge_registration, parse_registration
from git_afd.core.evidence.runtime_facts import parse_runtime
from git_afd.core.evidence.runtime_identity import Contents, judge_runtime
from git_afd.core.evidence.status import Status
from git_afd.core.finding import Finding
from git_afd.core.names import PACKAGES
from git_afd.core.outcome import Json
from git_afd.core.patch_checks.model import Checked
from git_afd.core.records import canonical
from git_afd.core.runtime_rule import FOCUSED, IDENTITY, PATCHES, REGISTRATION, RuntimeRule

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
    question: CheckQuestion,
    checks: Sequence[CheckVerdict],
    findings: Sequence[Finding],
    absent: Sequence[Mapping[str, Json]],
) -> Iterator[Finding]:
    """Say that failed imports count as an environment or version failure: while the runtime is not proven, all of them.

    Once it is, those of modules that belong neither to the plugin nor to the frozen pair still do. `absent` are the
    rows of what did not run; those that need a module which was not there are imports that failed, as much as the
    errors among `findings`.
    """
    identity = next((one for one in checks if one.name == IDENTITY), None)
    if identity is None:
        return
    failed = [
        *((finding.place, needed(finding.message)) for finding in findings if _is_import(finding)),
        *((str(row["file"]), str(row["needs"])) for row in absent if row["needs"]),
    ]
    why = "; ".join(finding.message for finding in identity.findings if finding.severity == "error")
    if identity.status == "PASS":
        own = {question.rule.package, *PACKAGES.values()}
        failed = [(place, module) for place, module in failed if module and module.partition(".")[0] not in own]
        why = "the frozen pair is there, and not all that it needs"
    if not failed:
        return
    places = dict.fromkeys(place for place, _ in failed)
    modules = ", ".join(sorted({module for _, module in failed if module}))
    what = f"could not import {modules}" if modules else "could not be imported"
    files = next(iter(places)) if len(places) == 1 else f"{len(places)} files"
    text = f"{files} {what}: an {NATURE} failure until the runtime is proven ({why})"
    yield Finding("environment-failure", IDENTITY, text, "prove the runtime first, then run the gate again")


def _is_import(finding: Finding) -> bool:
    return finding.severity == "error" and (
        finding.code in _IMPORTS or (finding.code == "plugin-registration" and bool(needed(finding.message)))
    )


def facts_of(checks: Sequence[CheckVerdict], absent: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return what the checks add to the gate's answer; `absent` are the rows of what did not run."""
    return {**{one.key: one.facts for one in checks if one.key}, "not_run": [dict(row) for row in absent]}
