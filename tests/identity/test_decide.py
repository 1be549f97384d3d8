"""The strongest kind that speaks decides; whatever it cannot decide is BLOCKED with the line that mends it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.identity.candidates import KINDS, Candidate
from git_afd.core.identity.decide import infer

A, B = "a" * 40, "b" * 40
KNOWN = {"0.19.1": A, "v0.19.1": A, "aaaaaaa": A, "v0.20.0": B, "bbbbbbb": B}


def said(kind: str, *texts: str, upstream: str = "vllm") -> list[Candidate]:
    return [Candidate(upstream, text, f"{kind}-{number}", 1, kind) for number, text in enumerate(texts)]


DECIDES = [
    # one pin
    (said("pin", "0.19.1"), A, []),
    # version, tag and short id of one commit agree
    (said("annotation", "0.19.1", "v0.19.1", "aaaaaaa"), A, []),
    # the stronger kind wins over every weaker one, which becomes a finding
    (said("pin", "0.19.1") + said("recipe", "v0.20.0"), A, ["identity-contradiction"]),
    # inside one rank the workflow's order of kinds counts: constants before annotations
    (said("annotation", "v0.20.0") + said("constant", "v0.19.1"), A, ["identity-contradiction"]),
    # a lockfile that lags behind its pin
    (said("lockfile", "v0.20.0") + said("pin", "0.19.1"), A, ["identity-contradiction"]),
    # unresolved beside resolved ones of the same kind
    (said("annotation", "v0.19.1", "ccccccc"), A, ["identity-unresolved"]),
    # a weaker one that resolves to nothing
    (said("pin", "0.19.1") + said("annotation", "ccccccc"), A, ["identity-unresolved"]),
    # one finding per text and kind, not per place
    (said("pin", "0.19.1") + said("annotation", "ccccccc", "ccccccc"), A, ["identity-unresolved"]),
    # installed packages contradict without deciding
    (said("pin", "0.19.1") + said("installed", "v0.20.0"), A, ["identity-contradiction"]),
    # a weaker file that cannot be read
    (said("pin", "0.19.1") + said("lockfile", ""), A, ["identity-unreadable"]),
    # another upstream's candidates are not heard
    (said("pin", "0.19.1") + said("pin", "v0.20.0", upstream="vllm-ascend"), A, []),
    # the release lock alone
    (said("commit-lock", "v0.19.1"), A, []),
    # two locks that name one commit
    (said("commit-lock", "v0.19.1", "aaaaaaa"), A, []),
]

BLOCKS = [
    # no evidence at all
    ([], ["no file"], "--current vllm=REF"),
    # installed packages and adjacent checkouts never decide
    (said("installed", "0.19.1") + said("checkout", A), ["corroboration"], "--current vllm=REF"),
    # two commits of one kind: both are named
    (said("annotation", "v0.19.1", "v0.20.0"), ["v0.19.1", "v0.20.0", A[:12], B[:12]], "--current vllm=REF"),
    # weaker evidence cannot outvote them
    (said("pin", "v0.19.1", "v0.20.0") + said("recipe", "v0.19.1"), ["v0.19.1", "v0.20.0"], "--current vllm=REF"),
    # a tag that the source lacks: weaker kinds do not step in
    (said("pin", "0.21.0") + said("recipe", "0.19.1"), ["0.21.0", "weaker"], "fetch origin tag v0.21.0"),
    # a short id on a release branch that the clone lacks
    (said("annotation", "ccccccc") + said("recipe", "0.19.1"), ["ccccccc"], "refs/heads/*"),
    # a full id can be fetched by itself
    (said("annotation", "c" * 40), ["c" * 40], f"fetch origin {'c' * 40}"),
    # a Dockerfile that follows a branch
    (said("dockerfile", "releases/v0.15.0") + said("release-matrix", "0.19.1"), ["releases/v0.15.0"], "--current"),
    # two locks are pins for two purposes
    (said("commit-lock", "v0.19.1", "v0.20.0"), ["two purposes"], "--current vllm=REF"),
    # they differ even when the source holds only one of their commits
    (said("commit-lock", "v0.19.1", "c" * 40), ["two purposes", "c" * 40], "--current vllm=REF"),
    # the strongest file cannot be read: what it would say is unknown
    (said("pin", "", "0.19.1"), ["pin-0", "unknown"], "mend pin-0"),
]


@pytest.mark.parametrize(("candidates", "commit", "codes"), DECIDES)
def test_strongest_kind_decides(candidates: list[Candidate], commit: str, codes: list[str]) -> None:
    outcome = infer("vllm", reversed(candidates), KNOWN, source="../vllm")
    assert outcome.commit == commit
    assert outcome.deciding
    assert not outcome.reason
    assert [finding.code for finding in outcome.findings] == codes


@pytest.mark.parametrize(("candidates", "words", "fix"), BLOCKS)
def test_identity_is_blocked(candidates: list[Candidate], words: list[str], fix: str) -> None:
    outcome = infer("vllm", candidates, KNOWN, source="../vllm")
    assert outcome.commit is None
    assert outcome.deciding == ()
    assert all(word in outcome.reason for word in words), outcome.reason
    assert fix in outcome.fix, outcome.fix
    assert "\n" not in outcome.reason + outcome.fix


_ANY = st.builds(
    Candidate,
    upstream=st.sampled_from(["vllm", "vllm-ascend"]),
    text=st.sampled_from([*KNOWN, "ccccccc", "", "main"]),
    path=st.sampled_from(["a", "b", "c"]),
    line=st.integers(1, 3),
    kind=st.sampled_from(list(KINDS)),
)


@given(st.lists(_ANY))
def test_only_the_strongest_speaking_kind_ever_decides(candidates: list[Candidate]) -> None:
    outcome = infer("vllm", candidates, KNOWN)
    mine = [one for one in candidates if one.upstream == "vllm" and one.rank < KINDS["installed"]]
    strongest = min(mine, key=lambda one: list(KINDS).index(one.kind)).kind if mine else None
    assert {one.kind for one in outcome.deciding} <= {strongest}
    assert (outcome.commit is None) == bool(outcome.reason)
    assert {KNOWN.get(one.text) for one in outcome.deciding} <= {outcome.commit}


@given(st.lists(_ANY), st.randoms())
def test_order_and_repetition_of_candidates_do_not_matter(candidates: list[Candidate], random: object) -> None:
    assert infer("vllm", candidates, KNOWN) == infer("vllm", [*reversed(candidates), *candidates], KNOWN)
