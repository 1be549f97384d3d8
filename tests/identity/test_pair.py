"""A vLLM-Ascend revision's locks, Dockerfiles and own matrix row say which vLLM it belongs to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.identity.ascend import ascend_candidates, wanted_ascend_paths
from git_afd.core.identity.pair import judge

A, B = "a" * 40, "b" * 40
KNOWN = {"v0.26.0": A, "0.26.0": A, A: A, "v0.25.1": B, B: B}

MAIN = ".github/vllm-main-verified.commit"
RELEASE = ".github/vllm-release-tag.commit"
MATRIX = "docs/source/community/versioning_policy.md"
ROWS = (
    "| vLLM Ascend | vLLM | Python |\n|---|---|---|\n"
    "| v0.26.0rc1 | v0.26.0 | >= 3.10 |\n| v0.25.1rc1 | v0.25.1/v0.26.0 | >= 3.10 |\n"
    "| main | {{main_vllm_commit}} | x |\n"
)
FAMILY = ("Dockerfile.a3", "Dockerfile.a3.*")

STATES = [
    # locks, with and without a final newline
    ({RELEASE: "v0.26.0\n"}, [("commit-lock", "v0.26.0")]),
    ({MAIN: A}, [("commit-lock", A)]),
    # a lock that holds nothing, or more than one word, is unreadable
    ({MAIN: "\n"}, [("commit-lock", "")]),
    ({MAIN: "v1 v2"}, [("commit-lock", "")]),
    # a Dockerfile's tag; an empty commit says nothing
    ({"Dockerfile": 'ARG VLLM_TAG=v0.26.0\nARG VLLM_COMMIT=""\n'}, [("dockerfile", "v0.26.0")]),
    # a commit that is set is what the image builds
    ({"Dockerfile": f"ARG VLLM_TAG=v0.25.1\nARG VLLM_COMMIT={A}\n"}, [("dockerfile", A)]),
    # both empty
    ({"Dockerfile": "ARG VLLM_TAG\nARG VLLM_COMMIT=\n"}, []),
    # a commented argument
    ({"Dockerfile": "# ARG VLLM_TAG=v0.26.0\n"}, []),
    # a moving name is kept, to be seen
    ({"Dockerfile": "ARG VLLM_TAG=main\n"}, [("dockerfile", "main")]),
    # CI's own Dockerfiles serve other purposes (lint, wheels)
    ({".github/workflows/dockerfiles/Dockerfile.lint": f"ARG VLLM_COMMIT={B}\n"}, []),
    # the policy's device family speaks for us when it speaks at all
    ({"Dockerfile.310p": "ARG VLLM_TAG=v0.25.1", "Dockerfile.a3": "ARG VLLM_TAG=v0.26.0"}, [("dockerfile", "v0.26.0")]),
    # before the family existed, the others are heard
    ({"Dockerfile": "ARG VLLM_TAG=v0.25.1", "Dockerfile.a3": "FROM x"}, [("dockerfile", "v0.25.1")]),
    # the revision's own row, not another release's
    ({MATRIX: ROWS}, [("release-matrix", "v0.26.0")]),
    # no table
    ({MATRIX: "v0.26.0rc1 goes with v0.26.0\n"}, []),
    # translations repeat an older state
    ({"docs/source/locale/zh/community/versioning_policy.md": ROWS}, []),
    # documentation settings are for the documentation
    ({"docs/source/conf.py": f'"main_vllm_commit": "{B}",\n', "mkdocs.yml": "extra:\n  vllm_version: v0.25.1\n"}, []),
]


@pytest.mark.parametrize(("texts", "stated"), STATES)
def test_revision_states_vllm(texts: dict[str, str], stated: list[tuple[str, str]]) -> None:
    found = ascend_candidates(texts, names=["v0.26.0rc1"], family=FAMILY)
    assert [(one.kind, one.text) for one in found] == stated


def test_cell_with_two_versions_names_both() -> None:
    found = ascend_candidates({MATRIX: ROWS}, names=["refs/tags/v0.25.1rc1"])
    assert [one.text for one in found] == ["v0.25.1", "v0.26.0"]


def test_main_commit_has_no_row_of_its_own() -> None:
    assert ascend_candidates({MATRIX: ROWS}, names=[]) == ()


JUDGED = [
    # a lock names it, although the other lock names another: two purposes
    ({RELEASE: "v0.26.0", MAIN: B}, "supported"),
    # the other lock, by id
    ({RELEASE: "v0.25.1", MAIN: A}, "supported"),
    # a Dockerfile
    ({"Dockerfile.a3": "ARG VLLM_TAG=v0.26.0"}, "supported"),
    # the own row
    ({MATRIX: ROWS}, "supported"),
    # an id that the vLLM source cannot resolve still is the commit it begins
    ({MAIN: "aaaaaaaaa"}, "supported"),
    # some speak, none names it
    ({RELEASE: "v0.25.1", MAIN: B}, "blocked"),
    # a version the source does not know is another version
    ({"Dockerfile.a3": "ARG VLLM_TAG=v0.27.0"}, "blocked"),
    # only another device family builds on it
    ({"Dockerfile.310p": "ARG VLLM_TAG=v0.26.0", "Dockerfile.a3": "ARG VLLM_TAG=v0.25.1"}, "blocked"),
    # an unreadable lock is no proof and no silence
    ({RELEASE: ""}, "blocked"),
    # nothing speaks
    ({}, "unproven"),
    # a branch says nothing about a commit
    ({"Dockerfile.a3": "ARG VLLM_TAG=main"}, "unproven"),
    # an empty argument says nothing
    ({"Dockerfile.a3": "ARG VLLM_TAG="}, "unproven"),
]


@pytest.mark.parametrize(("texts", "verdict"), JUDGED)
def test_pair_is_judged(texts: dict[str, str], verdict: str) -> None:
    pair = judge(A, ascend_candidates(texts, names=["v0.26.0rc1"], family=FAMILY), KNOWN)
    assert pair.verdict == verdict
    assert bool(pair.evidence) == (verdict == "supported")
    assert bool(pair.fix) == (verdict != "supported")


def test_blocked_pair_says_what_the_revision_names() -> None:
    pair = judge(A, ascend_candidates({RELEASE: "v0.25.1"}), KNOWN)
    assert "v0.25.1" in pair.reason
    assert RELEASE in pair.reason
    assert "--target vllm=REF" in pair.fix


def test_other_statements_of_a_supported_pair_are_findings() -> None:
    pair = judge(A, ascend_candidates({RELEASE: "v0.26.0", MAIN: B, "Dockerfile": "ARG VLLM_TAG=main"}), KNOWN)
    assert [(one.code, one.place) for one in pair.findings] == [
        ("pair-other", f"{MAIN}:1"),
        ("pair-moving", "Dockerfile:1"),
    ]


def test_wanted_paths_are_those_that_speak() -> None:
    paths = [
        MAIN,
        "Dockerfile.a3",
        "docs/Dockerfile",
        MATRIX,
        "requirements.txt",
        "requirements-dev.txt",
        "csrc/CMakeLists.txt",
    ]
    assert wanted_ascend_paths(paths) == tuple(sorted([MAIN, "Dockerfile.a3", MATRIX, "requirements.txt"]))


_PIECES = st.sampled_from(
    ["ARG VLLM_TAG", "=", "v0.26.0", "\n", "|", "---", " ", "vLLM", "v0.26.0rc1", "$VLLM_TAG", '"', "FROM "]
)


@given(st.sampled_from([MAIN, RELEASE, MATRIX, "Dockerfile"]), st.one_of(st.text(), st.lists(_PIECES).map("".join)))
def test_any_content_is_judged_without_raising(path: str, text: str) -> None:
    pair = judge(A, ascend_candidates({path: text}, names=["v0.26.0rc1"]), KNOWN)
    assert pair.verdict != "supported" or "v0.26.0" in text
