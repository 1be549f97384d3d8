"""A candidate's words become the revisions git is asked for; what names no fixed revision becomes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.identity.spelling import same_version, spelling

FULL = "80d8c194f7584b17fe08065ea99a130916f6b0e7"

MEANS = [
    # a version means the tag of that name, never a branch
    ("0.19.1", "refs/tags/v0.19.1"),
    # a tag means itself
    ("v0.19.1rc1", "refs/tags/v0.19.1rc1"),
    # surrounding white space and quotes are not part of it (locks end with or without a newline)
    (" v0.26.0\n", "refs/tags/v0.26.0"),
    ("``v0.26.0``", "refs/tags/v0.26.0"),
    # another spelling of the same version is tried as well
    ("v0.19.1-rc.1", "refs/tags/v0.19.1rc1"),
    # post releases are releases
    ("0.8.5.post1", "refs/tags/v0.8.5.post1"),
    # a build label says how it was built, not what
    ("0.22.0+empty", "refs/tags/v0.22.0"),
    ("2.10.0+cpu", "refs/tags/v2.10.0"),
    # PEP 440: an exact pin on 0.26 is a pin on 0.26.0
    ("0.26", "refs/tags/v0.26.0"),
    # full and short ids mean themselves
    (FULL, FULL),
    ("80d8c194f", "80d8c194f"),
    # a development version that carries its commit means the commit
    ("0.1.dev1+g80d8c194f", "80d8c194f"),
    ("0.19.1rc2.dev1327+g80d8c194f.d20260430", "80d8c194f"),
]

MEANS_NOTHING = [
    # an address is no version, although it parses as one
    "0.0.0.0",  # noqa: S104 -- nothing is bound to it
    # branches move
    "main",
    "releases/v0.26.0rc",
    "release/v0.19.1rc1",
    # a nightly tag moves
    "nightly-main-a3-openeuler",
    # a development version without its commit exists in no repository
    "0.19.1rc2.dev1327",
    # a date in the local part is no id
    "0.1.dev1+20260430",
    # one number is a count
    "19",
    # options and other noise
    "--host",
    "-upload-pack=x",
    "{{main_vllm_commit}}",
    "",
    "v" * 500,
]


@pytest.mark.parametrize(("text", "revision"), MEANS)
def test_text_means_revision(text: str, revision: str) -> None:
    assert revision in spelling(text)


@pytest.mark.parametrize("text", MEANS_NOTHING)
def test_text_means_no_fixed_revision(text: str) -> None:
    assert spelling(text) == ()


def test_exact_spelling_is_tried_first() -> None:
    assert spelling("v0.19.1-rc.1")[0] == "refs/tags/v0.19.1-rc.1"


@given(st.text())
def test_any_text_is_spelled_without_raising_and_never_as_an_option(text: str) -> None:
    assert not any(revision.startswith("-") for revision in spelling(text))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        # a leading v is no difference
        ("v3.2.1", "3.2.1", True),
        # trailing zeros are no difference
        ("0.26", "0.26.0", True),
        # CANN's capital release candidates
        ("8.3.RC2", "8.3.rc2", True),
        # CANN's betas
        ("9.1.0-beta.1", "9.1.0-beta.1", True),
        # what is no version is compared as text
        ("N/A", "n/a", True),
        # post releases differ
        ("2.10.0.post2", "2.10.0", False),
        # local builds differ
        ("2.9.0.post1+gitaaa", "2.9.0.post1+gitbbb", False),
    ],
)
def test_versions_are_compared_by_meaning(left: str, right: str, *, same: bool) -> None:
    assert same_version(left, right) is same
