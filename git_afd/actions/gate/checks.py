"""Gathers what a gate's checks are judged by: all of it frozen, or read from the commit that ran."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from git_afd.actions.gate.patches import patches_at, targets_at_hand
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import packages_of
from git_afd.core.evidence import runtime_facts
from git_afd.core.evidence.checks import CheckQuestion
from git_afd.core.evidence.collecting import expected_files
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.focused import Focused
from git_afd.core.evidence.raw_run import RawRun
from git_afd.core.evidence.runtime_facts import parse_runtime
from git_afd.core.evidence.runtime_identity import Contents
from git_afd.core.evidence.served import identity_name
from git_afd.core.names import UPSTREAMS, revision_key
from git_afd.core.phases import GATES
from git_afd.core.policy import Gate, Policy
from git_afd.core.runtime_rule import FOCUSED, PATCHES
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked


def check_question(
    session: Session,
    up: Upgrade,
    raw: RawRun,
    files: Mapping[str, bytes],
    tree: Collection[str] | None,
) -> CheckQuestion:
    """Return what the checks of a run are judged by. `files` are its artifacts by name, `tree` the commit's paths.

    A diagnostic is judged by the checks that it made; any other run by those that the frozen policy demands.
    """
    policy = session.policy(up).policy
    names = raw.checks if raw.diagnostic else policy.gates.get(raw.gate, Gate()).checks
    wanted = {name: up.freeze.revisions[revision_key(name, "target")].commit for name in UPSTREAMS}
    return CheckQuestion(
        names=names,
        wanted=wanted,
        frozen=_frozen(session, up, raw, files),
        commit=raw.identity.commit,
        rule=policy.runtime,
        patches=patches_at(session, up, raw.identity.commit, raw.trees) if PATCHES in names else "",
        focused=tuple(_focused(session, up, raw, policy, tree or ())) if FOCUSED in names else (),
    )


def _identities(raw: RawRun) -> tuple[str, ...]:
    """Return the names of the artifacts that say what an interpreter would import."""
    cells = (identity_name(one.name) for one in raw.commands if raw.gate == "native")
    return (runtime_facts.FILE, *cells)


def _frozen(session: Session, up: Upgrade, raw: RawRun, files: Mapping[str, bytes]) -> Contents:
    """Return the frozen targets' Python files where an installed copy is to be held against them."""
    try:
        kept = [files[name] for name in _identities(raw) if name in files]
        found = [item for data in kept for item in parse_runtime(data).packages.items()]
        copied = {name for name, package in found if package.contents and name in UPSTREAMS}
        packages = packages_of(targets_at_hand(session, up, raw.trees)) if copied else {}
        return {name: packages[name].ids for name in copied}
    except (EvidenceFault, Blocked):  # what cannot be read proves nothing, and the judgement says so
        return {}


def _focused(session: Session, up: Upgrade, raw: RawRun, policy: Policy, tree: Collection[str]) -> Iterator[Focused]:
    """Yield the focused tests of every root cause that the commit which ran contains."""
    contained = set(session.git("rev-list", f"{up.freeze.base}..{raw.identity.commit}").split())
    for cause in up.root_causes.values():
        if cause.status != "committed" or cause.commit not in contained:
            continue
        for test in cause.tests:
            path = test.partition("::")[0]
            yield Focused(cause.name, test, path in tree, _later(raw.gate, path, policy, tree))
        if cause.untested and not cause.tests:
            yield Focused(cause.name, "", why=cause.untested)


def _later(gate: str, path: str, policy: Policy, tree: Collection[str]) -> str:
    """Return the later gate whose commands collect a test file; empty when none does."""
    for name, phase in GATES.items():
        rule = policy.gates.get(name)
        if rule is None or phase.number <= GATES[gate].number:
            continue
        for command in rule.commands:
            if command.junit and path in (expected_files(command, tree) or ()):
                return name
    return ""
