"""The judgement on a pair: does the vLLM-Ascend revision itself name this vLLM commit (workflow Phase 0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from git_afd.core.finding import Finding
from git_afd.core.identity.candidates import Candidate, ordered
from git_afd.core.identity.spelling import spelling

Verdict = Literal["supported", "blocked", "unproven"]

_SPEAKERS: Final = ("commit-lock", "dockerfile", "release-matrix")


@dataclass(frozen=True, slots=True)
class Pair:
    """The verdict on a pair.

    `supported`: `evidence` are the statements that name this vLLM. `blocked`: statements exist and none names it.
    `unproven`: nothing speaks, so a person must decide. `reason` is one sentence, `fix` one line (empty when
    supported); `findings` are statements that name another vLLM or a moving one.
    """

    verdict: Verdict
    evidence: tuple[Candidate, ...]
    reason: str
    fix: str = ""
    findings: tuple[Finding, ...] = ()


def judge(
    vllm_commit: str, statements: Iterable[Candidate], resolved: Mapping[str, str | None], *, side: str = "target"
) -> Pair:
    """Judge a pair by what the vLLM-Ascend revision says (``ascend.ascend_candidates``).

    `vllm_commit` is a full commit id; `resolved` gives for each statement's text the full commit id it peels to in the
    vLLM source, None when it names nothing there. One statement that names the commit is enough: the locks are pins
    for two purposes and never contradict each other. A name that moves (a branch) says nothing about a commit.
    """
    speaking = [one for one in ordered(statements) if one.kind in _SPEAKERS]
    moving = [one for one in speaking if one.text and not spelling(one.text)]
    fixed = [one for one in speaking if one not in moving]
    naming = tuple(one for one in fixed if _names(one.text, vllm_commit, resolved))
    findings = (*_other_findings(fixed, naming, resolved), *_moving_findings(moving))
    short = vllm_commit[:12]
    if naming:
        return Pair("supported", naming, f"the {side} vLLM-Ascend names vLLM {short} in {_said(naming)}", "", findings)
    if fixed:
        reason = f"the {side} vLLM-Ascend does not name vLLM {short}; it names {_said(fixed)}"
        fix = f"name a pair that belongs together: --{side} vllm=REF --{side} vllm-ascend=REF"
        return Pair("blocked", (), reason, fix, findings)
    reason = f"nothing in the {side} vLLM-Ascend says which vLLM it belongs to"
    return Pair("unproven", (), reason, "git afd approve pair", findings)


def _names(text: str, commit: str, resolved: Mapping[str, str | None]) -> bool:
    if not text:
        return False
    found = resolved.get(text)
    if found is not None:
        return found == commit
    # an id that the vLLM source cannot resolve (shallow, or ambiguous there) still names the commit it begins
    revisions = spelling(text)
    return len(revisions) == 1 and commit.startswith(revisions[0])


def _said(statements: Iterable[Candidate]) -> str:
    said: dict[str, list[str]] = {}
    for one in statements:
        said.setdefault(one.text or one.note, []).append(one.path)
    return ", ".join(f"{text} ({', '.join(paths)})" for text, paths in said.items())


def _other_findings(
    fixed: Iterable[Candidate], naming: tuple[Candidate, ...], resolved: Mapping[str, str | None]
) -> Iterable[Finding]:
    for one in fixed:
        if one in naming:
            continue
        known = resolved.get(one.text)
        what = f"names vLLM {one.text}" + (f" ({known[:12]})" if known else ", unknown to the vLLM source")
        yield Finding("pair-other", one.place, what if one.text else one.note, severity="note")


def _moving_findings(moving: Iterable[Candidate]) -> Iterable[Finding]:
    for one in moving:
        yield Finding(
            "pair-moving", one.place, f"names {one.text}, which is no fixed revision of vLLM", severity="note"
        )
