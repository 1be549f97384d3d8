"""What a vLLM-Ascend revision says about the vLLM it belongs to: ranks 3 and 4 of the workflow's order (Phase 0)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

from git_afd.core.identity import tables
from git_afd.core.identity.candidates import Candidate, ordered
from git_afd.core.identity.dockerfile import read_dockerfile
from git_afd.core.identity.spelling import same_version

LOCKS: Final = {
    ".github/vllm-main-verified.commit": "main verified",
    ".github/vllm-release-tag.commit": "release tag",
}
"""The commit locks and their purposes; each holds one revision, with or without a final newline."""

_METADATA: Final = (
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "CMakeLists.txt",
    "mkdocs.yml",
    "docs/source/conf.py",
)
_LONGEST_LOCK: Final = 100


def wanted_ascend_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of a vLLM-Ascend revision's paths that `ascend_candidates` and ``stack.read_stack`` read, sorted."""
    return tuple(
        sorted(path for path in paths if path in LOCKS or path in _METADATA or is_dockerfile(path) or is_matrix(path))
    )


def is_dockerfile(path: str) -> bool:
    """Say whether a path is an image's Dockerfile: those at the root. CI's own (lint, wheels) serve other purposes."""
    return path == "Dockerfile" or (path.startswith("Dockerfile.") and "/" not in path)


def is_matrix(path: str) -> bool:
    """Say whether a path is the release compatibility matrix, wherever the years have put it below ``docs/``."""
    return path.startswith("docs/") and path.endswith("/versioning_policy.md") and "/locale/" not in path


def of_family(path: str, family: Iterable[str]) -> bool:
    """Say whether a Dockerfile belongs to the policy's device family (`family`: file names or globs)."""
    return any(fnmatchcase(path, pattern) for pattern in family)


def own_row(text: str, names: Iterable[str]) -> tables.Row | None:
    """Return the matrix row of the revision itself; `names` are its tags. A main commit has none."""
    versions = tuple(name.removeprefix("refs/tags/") for name in names)
    for row in tables.rows(text):
        cell = next((row.cell(header) for header in ("vLLM Ascend", "vllm-ascend") if row.cell(header)), "")
        if cell and any(same_version(cell, version) for version in versions):
            return row
    return None


def ascend_candidates(
    texts: Mapping[str, str], *, names: Iterable[str] = (), family: Iterable[str] = ()
) -> tuple[Candidate, ...]:
    """Return the vLLM revisions that a vLLM-Ascend revision names, strongest first.

    `texts` are its files (path -> content), `names` the tags that point at it, `family` the Dockerfiles of the
    policy's device family. When one of the family's Dockerfiles speaks, the others are left out: families do differ
    (v0.11.0rc3 builds one image on another vLLM). A moving name (``VLLM_TAG=main``) is kept; it resolves to nothing.
    """
    names, family = tuple(names), tuple(family)
    found = [candidate for path, text in texts.items() for candidate in _of_file(path, text, names)]
    if any(one.kind == "dockerfile" and of_family(one.path, family) for one in found):
        found = [one for one in found if one.kind != "dockerfile" or of_family(one.path, family)]
    return ordered(found)


def _of_file(path: str, text: str, names: tuple[str, ...]) -> Iterator[Candidate]:
    if path in LOCKS:
        yield _lock(path, text)
    elif is_dockerfile(path):
        yield from _dockerfile(path, text)
    elif is_matrix(path):
        row = own_row(text, names)
        for version in (row.cell("vLLM") if row else "").split("/"):
            if row and version.strip():
                yield Candidate("vllm", version.strip(), path, row.line, "release-matrix")


def _lock(path: str, text: str) -> Candidate:
    words = text.split()
    if len(words) == 1 and len(words[0]) <= _LONGEST_LOCK:
        return Candidate("vllm", words[0], path, 1, "commit-lock", LOCKS[path])
    return Candidate("vllm", "", path, 1, "commit-lock", "does not hold exactly one revision")


def _dockerfile(path: str, text: str) -> Iterator[Candidate]:
    """Yield what the image builds: VLLM_COMMIT when it is set, else VLLM_TAG; empty defaults say nothing."""
    image = read_dockerfile(text)
    stated = image.arg("VLLM_COMMIT") or image.arg("VLLM_TAG")
    if stated:
        yield Candidate("vllm", stated.value, path, stated.line, "dockerfile", stated.name)
