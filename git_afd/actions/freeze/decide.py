"""From what was gathered to an identity, or to the reasons why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from git_afd.actions.freeze.asked import Asked
from git_afd.actions.freeze.body import Identity
from git_afd.actions.freeze.identity import (
    ASCEND,
    VLLM,
    Current,
    Evidence,
    current_of,
    pair_of,
    stack_of,
    statements,
)
from git_afd.actions.freeze.plugin import Plugin
from git_afd.actions.freeze.texts import ReadTexts
from git_afd.adapters.sources import Source
from git_afd.core.finding import Finding
from git_afd.core.freezing import Request
from git_afd.core.identity.candidates import Candidate
from git_afd.core.identity.decide import Inference
from git_afd.core.identity.pair import Pair
from git_afd.core.identity.plugin import plugin_candidates
from git_afd.core.outcome import Json


@dataclass(frozen=True, slots=True)
class Blocked:
    """No identity: why (each finding with its remedy), what was heard, and what else is worth noting."""

    reasons: tuple[Finding, ...]
    rows: list[Json]
    findings: tuple[Finding, ...]


def identify(plugin: Plugin, asked: Asked, read: ReadTexts, corroboration: Iterable[Candidate]) -> Identity | Blocked:
    """Decide the four revisions and judge both pairs and the stack.

    vLLM-Ascend's current revision comes first: once known, it speaks about its vLLM (workflow, evidence 3 and 4).
    `corroboration` is what installed packages say.
    """
    sources, request, targets, given = asked.sources, asked.request, asked.targets, asked.currents
    family = plugin.policy.policy.dockerfiles
    evidence = Evidence(sources)
    evidence.add(plugin_candidates(plugin.texts))
    evidence.add((*_checkouts(asked), *corroboration))
    ascend = current_of(ASCEND, evidence, given, request.currents)
    said: tuple[Candidate, ...] = ()
    if isinstance(ascend, Current):
        said = statements(read, sources[ASCEND], ascend.resolved.commit, family)
        evidence.add(said)
    vllm = current_of(VLLM, evidence, given, request.currents)
    if isinstance(ascend, Inference) or isinstance(vllm, Inference):
        undecided = [one for one in (vllm, ascend) if isinstance(one, Inference)]
        reasons = tuple(Finding("identity-blocked", one.upstream, one.reason, one.fix) for one in undecided)
        return Blocked(reasons, evidence.rows(), tuple(note for one in undecided for note in one.findings))
    current = pair_of("current", vllm.resolved.commit, said, sources)
    there = statements(read, sources[ASCEND], targets[ASCEND].commit, family)
    target = pair_of("target", targets[VLLM].commit, there, sources)
    notes = (*vllm.findings, *ascend.findings, *current.findings, *target.findings)
    reasons = (*_current_pair(current, request), *_target_pair(target))
    if reasons:
        return Blocked(reasons, evidence.rows(), notes)
    stack = stack_of(read, sources, targets, plugin.paths, family)
    contradicted = _given_pair(current, request)
    findings = (*plugin.findings, *contradicted, *_shallow(sources), *notes, *stack.questions, *stack.findings)
    pairs = {"current": current, "target": target}
    return Identity({VLLM: vllm, ASCEND: ascend}, request.targets, targets, pairs, stack, evidence.rows(), findings)


def _checkouts(asked: Asked) -> list[Candidate]:
    """Return what adjacent checkouts stand at: heard, and never decisive. One at the target says nothing of now."""
    return [
        Candidate(name, source.head, str(source.path), 0, "checkout")
        for name, source in asked.sources.items()
        if source.head and source.head != asked.targets[name].commit
    ]


def _current_pair(pair: Pair, request: Request) -> tuple[Finding, ...]:
    """Demand that an inferred current pair belongs together; one that a person gave is taken at its word."""
    if pair.verdict == "supported" or len(request.currents) == len(request.sources):
        return ()
    fix = "say which pair is current: --current vllm=REF --current vllm-ascend=REF"
    return (Finding("current-pair", "current", pair.reason, fix),)


def _given_pair(pair: Pair, request: Request) -> tuple[Finding, ...]:
    if pair.verdict == "supported" or len(request.currents) != len(request.sources):
        return ()
    return (Finding("current-pair", "current", f"{pair.reason}; it is frozen as given", "", "note"),)


def _target_pair(pair: Pair) -> tuple[Finding, ...]:
    """Refuse a pair that the revision itself contradicts; one that nothing speaks of waits for a person."""
    return (Finding("target-pair", "target", pair.reason, pair.fix),) if pair.verdict == "blocked" else ()


def _shallow(sources: Mapping[str, Source]) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            "source-shallow",
            str(source.path),
            f"the source of {name} is shallow: its history ends without saying so",
            f"git -C {source.path} fetch --unshallow",
            "note",
        )
        for name, source in sources.items()
        if source.shallow
    )
