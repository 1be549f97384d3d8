"""Gathering who says which version, and letting the rules of core.identity decide (workflow Phase 0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from git_afd.actions.freeze.texts import ReadTexts
from git_afd.adapters.revisions import Resolved, Unresolved, commits_of, resolve, tags_at
from git_afd.adapters.sources import Source
from git_afd.core.finding import Finding
from git_afd.core.identity.ascend import ascend_candidates, wanted_ascend_paths
from git_afd.core.identity.candidates import Candidate, ordered
from git_afd.core.identity.decide import Inference, infer
from git_afd.core.identity.pair import Pair, judge
from git_afd.core.identity.spelling import spelling
from git_afd.core.identity.stack import Stack, read_stack
from git_afd.core.outcome import Json
from git_afd.errors import UsageFault

VLLM, ASCEND = "vllm", "vllm-ascend"
_VLLM_METADATA = ("pyproject.toml",)


@dataclass(slots=True)
class Evidence:
    """Statements about revisions, and the commit that each text names in its upstream's source (None: no commit).

    `names` maps upstream and text to the revision that git resolved for it.
    """

    sources: Mapping[str, Source]
    candidates: tuple[Candidate, ...] = ()
    known: dict[str, dict[str, str | None]] = field(default_factory=lambda: {VLLM: {}, ASCEND: {}})
    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, found: Iterable[Candidate]) -> None:
        """Take statements and ask git, once for each upstream, what their texts name."""
        found = tuple(found)
        self.candidates = ordered((*self.candidates, *found))
        for upstream, source in self.sources.items():
            known = self.known[upstream]
            texts = {one.text for one in found if one.upstream == upstream and one.text not in known}
            spelled = {text: spelling(text) for text in texts}
            commits = commits_of(source.git, [name for names in spelled.values() for name in names])
            for text, names in spelled.items():
                name = next((name for name in names if commits.get(name)), "")
                known[text] = commits.get(name)
                self.names[upstream, text] = name

    def rows(self) -> list[Json]:
        """Return every statement with what it resolves to, for the record and for ``--explain``."""
        return [{**one.as_json(), "commit": self.known[one.upstream].get(one.text) or ""} for one in self.candidates]


@dataclass(frozen=True, slots=True)
class Current:
    """A current revision: what it is called, what that names, and how it was found (``given`` or evidence)."""

    ref: str
    resolved: Resolved
    how: str
    findings: tuple[Finding, ...] = ()


def resolve_given(side: str, refs: Mapping[str, str], sources: Mapping[str, Source]) -> dict[str, Resolved]:
    """Resolve the refs that the command line names for a side. Raises UsageFault for one that names no commit."""
    found: dict[str, Resolved] = {}
    for upstream, ref in refs.items():
        answer = resolve(sources[upstream].git, ref)
        if isinstance(answer, Unresolved):
            raise UsageFault(f"--{side} {upstream}={ref} {answer.why} ({sources[upstream].path})", answer.fix)
        found[upstream] = answer
    return found


def current_of(
    upstream: str, evidence: Evidence, given: Mapping[str, Resolved], refs: Mapping[str, str]
) -> Current | Inference:
    """Return the current revision of an upstream: as given, else as inferred; the inference when it decides nothing."""
    if upstream in given:
        return Current(refs[upstream], given[upstream], "given with --current")
    source = evidence.sources[upstream]
    inference = infer(upstream, evidence.candidates, evidence.known[upstream], source=str(source.path))
    if inference.commit is None:
        return inference
    first = inference.deciding[0]
    resolved = resolve(source.git, evidence.names[upstream, first.text])
    if isinstance(resolved, Unresolved):
        raise UsageFault(f"current {upstream} {first.text} {resolved.why}", resolved.fix)
    return Current(first.text, resolved, f"{first.kind} {first.place}", inference.findings)


def statements(read: ReadTexts, source: Source, commit: str, family: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Return what a vLLM-Ascend commit (full id) says about its vLLM."""
    texts = read(source, commit, wanted_ascend_paths)
    return ascend_candidates(texts, names=tags_at(source.git, commit), family=family)


def pair_of(side: str, vllm: str, said: tuple[Candidate, ...], sources: Mapping[str, Source]) -> Pair:
    """Judge a pair: the vLLM commit (full id) against what the vLLM-Ascend side says."""
    evidence = Evidence(sources)
    evidence.add(said)
    return judge(vllm, said, evidence.known[VLLM], side=side)


def stack_of(
    read: ReadTexts,
    sources: Mapping[str, Source],
    targets: Mapping[str, Resolved],
    plugin: Iterable[str],
    family: tuple[str, ...],
) -> Stack:
    """Read the target's software stack; `plugin` are the plugin's paths."""
    commit = targets[ASCEND].commit
    return read_stack(
        read(sources[ASCEND], commit, wanted_ascend_paths),
        family=family,
        names=tags_at(sources[ASCEND].git, commit),
        plugin_paths=plugin,
        vllm_texts=read.exactly(sources[VLLM], targets[VLLM].commit, _VLLM_METADATA),
    )
