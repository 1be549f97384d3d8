"""What the plugin's own files say about its upstreams: ranks 1 and 2 of the workflow's order (Phase 0)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from git_afd.core.identity import pins, tables
from git_afd.core.identity.candidates import Candidate, ordered
from git_afd.core.identity.prose import Mention, annotation_mentions, document_mentions
from git_afd.core.identity.spelling import ID_PATTERN, VERSION_PATTERN, spelling
from git_afd.core.names import UPSTREAMS

_LOCKFILES: Final = frozenset({"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"})
_TEST_PARTS: Final = frozenset({"tests", "test", "testing", "fixtures", "benchmarks"})
_AGENT_PARTS: Final = frozenset({".agents", ".claude", ".cursor", ".gemini"})
_RECIPE_PARTS: Final = frozenset({"recipe", "recipes", "examples"})
_CI_PREFIXES: Final = (".github/workflows/", ".github/actions/", ".buildkite/", ".circleci/", ".gitlab-ci", ".ci/")
_DESIGN_PARTS: Final = frozenset({"design", "designs", "adr", "rfc", "rfcs", "proposals"})
_INSTALL_NAMES: Final = ("readme", "install")
_GUIDE_NAME: Final = re.compile(
    r"install|setup|guide|quick.?start|getting.?started|deploy|build|support|compatib|requirements|matrix",
    re.IGNORECASE,
)
_DOCUMENT_ENDINGS: Final = (".md", ".rst", ".txt")
_RECIPE_ENDINGS: Final = (".md", ".sh", ".yaml", ".yml")
_REQUIREMENTS: Final = re.compile(r"(?:requirements|constraints)[\w.-]*\.txt\Z")
_DOCKERFILE: Final = re.compile(
    r"(?:Dockerfile|Containerfile)(?:[.-].*)?\Z|.*\.dockerfile\Z|(?:docker-)?compose[\w.-]*\.ya?ml\Z"
)

_CONSTANT: Final = re.compile(
    r"^(?P<name>[A-Z][A-Z0-9_]*)[ \t]*(?::[^=\n]{1,80})?=[ \t]*\(?[ \t]*[\"'](?P<value>[^\"'\n]{1,100})[\"']",
    re.MULTILINE,
)
_CONSTANT_NAME: Final = re.compile(
    r"(?:\A|_)VLLM(?P<ascend>_?ASCEND)?_(?:\w+_)?(?:VERSION|TAG|COMMIT|REF|REVISION|SHA)\Z"
)
_INEXACT_NAME: Final = re.compile(
    r"(?:\A|_)(?:MIN|MAX|MINIMUM|MAXIMUM|FIRST|LAST|LEGACY|OLD|OLDEST|PREVIOUS|UNSUPPORTED|DEPRECATED|NEXT|SINCE)(?:_|\Z)"
)
_CELL_REVISION: Final = re.compile(
    rf"(?<![\w.+-])(?:{VERSION_PATTERN}|(?<=commit/){ID_PATTERN}|(?<=[`\[]){ID_PATTERN})(?![\w+-]|\.\w)", re.IGNORECASE
)
_HEADERS: Final = {
    "vllm": "vllm",
    "vllm version": "vllm",
    "vllm-ascend": "vllm-ascend",
    "vllm ascend": "vllm-ascend",
    "vllm_ascend": "vllm-ascend",
    "vllm-ascend version": "vllm-ascend",
    "vllm ascend version": "vllm-ascend",
}


def wanted_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of the plugin's paths that can speak about an upstream's revision, sorted."""
    return tuple(sorted(path for path in paths if kind_of(path)))


def kind_of(path: str) -> str:
    """Return the kind of evidence a path can hold, empty for none.

    Tests are no evidence; issue and pull request templates, change logs, lessons and notes for agents are
    not among the kinds the workflow names, and neither are design documents and plans, which weigh other versions
    on purpose: of ``docs/`` only guides speak. ``pin`` and ``annotation`` stand for all that their files can hold.
    """
    *folders, name = path.split("/")
    parts = frozenset(folders)
    if parts & _TEST_PARTS or parts & _AGENT_PARTS or name.startswith("test_") or name == "conftest.py":
        return ""
    if path.startswith(_CI_PREFIXES):
        return "ci" if name.endswith((".yml", ".yaml", ".sh")) or _DOCKERFILE.match(name) else ""
    if path.startswith(".github/"):
        return ""
    for kind, speaks in _SPEAKERS:
        if speaks(folders, name):
            return kind
    return ""


def _is_guide(folders: list[str], name: str) -> bool:
    is_document = folders[:1] == ["docs"] and name.endswith(_DOCUMENT_ENDINGS)
    return is_document and not _DESIGN_PARTS & set(folders) and bool(_GUIDE_NAME.search(name))


_SPEAKERS: Final[tuple[tuple[str, Callable[[list[str], str], bool]], ...]] = (
    ("lockfile", lambda folders, name: name in _LOCKFILES and not folders),
    ("recipe", lambda folders, name: bool(_RECIPE_PARTS & set(folders)) and name.endswith(_RECIPE_ENDINGS)),
    ("pin", lambda folders, name: not folders and name in ("pyproject.toml", "setup.py", "setup.cfg")),
    ("pin", lambda folders, name: bool(_REQUIREMENTS.match(name)) and len(folders) < 2 and "docs" not in folders),  # noqa: PLR2004 -- at the root or in requirements/
    ("container", lambda _, name: bool(_DOCKERFILE.match(name))),
    ("annotation", lambda _, name: name.endswith(".py")),
    ("install-doc", lambda _, name: name.lower().startswith(_INSTALL_NAMES) and name.endswith(_DOCUMENT_ENDINGS)),
    ("install-doc", _is_guide),
)
"""Which file holds which kind, first match decides."""


def plugin_candidates(texts: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Return every statement of the plugin's files (`texts`: path -> content) about both upstreams.

    Strongest first. Files that `wanted_paths` leaves out are ignored. A metadata file that cannot be parsed
    gives one unreadable candidate per upstream, so that no weaker evidence takes its place unseen.
    """
    return ordered(candidate for path, text in texts.items() for candidate in _of_file(path, text))


def _of_file(path: str, text: str) -> Iterator[Candidate]:
    kind = kind_of(path)
    if kind in ("pin", "lockfile"):
        yield from _metadata(path, text, kind)
    if path.endswith(".py") and kind in ("pin", "annotation"):
        yield from _constants(path, text)
        yield from _as_candidates(annotation_mentions(text), path, "annotation")
    if kind == "install-doc":
        yield from _as_candidates(table_mentions(text), path, "support-matrix")
        yield from _as_candidates(document_mentions(text), path, "install-doc")
    if kind in ("recipe", "container", "ci"):
        yield from _as_candidates(document_mentions(text, variables=True), path, kind)
        yield from _as_candidates(table_mentions(text), path, kind)


def _as_candidates(mentions: Iterable[Mention], path: str, kind: str) -> Iterator[Candidate]:
    for mention in mentions:
        yield Candidate(mention.upstream, mention.text, path, mention.line, kind)


def _metadata(path: str, text: str, kind: str) -> Iterator[Candidate]:
    try:
        found = _pins(path, text, kind)
    except pins.UnreadableToml as error:
        for upstream in UPSTREAMS:
            yield Candidate(upstream, "", path, 1, kind, f"cannot be read as TOML: {error}")
        return
    for pin in found:
        if pin.name in UPSTREAMS and spelling(pin.text):
            yield Candidate(pin.name, pin.text, path, pin.line, kind)


def _pins(path: str, text: str, kind: str) -> tuple[pins.Pin, ...]:
    if kind == "lockfile":
        return pins.lockfile_pins(text, UPSTREAMS)
    if path.endswith(".toml"):
        return pins.pyproject_pins(text)
    return pins.requirements_pins(text) if path.endswith(".txt") else pins.quoted_pins(text)


def _constants(path: str, text: str) -> Iterator[Candidate]:
    """Yield ``TARGET_VLLM_VERSION: Final[str] = "0.19.1"`` and its kin; a bound (``MIN_…``) is no version in use."""
    for match in _CONSTANT.finditer(text):
        named = _CONSTANT_NAME.search(match["name"])
        if named and not _INEXACT_NAME.search(match["name"]) and spelling(match["value"]):
            upstream = "vllm-ascend" if named["ascend"] else "vllm"
            yield Candidate(upstream, match["value"], path, text.count("\n", 0, match.start()) + 1, "constant")


def table_mentions(text: str) -> Iterator[Mention]:
    """Yield what support tables say: a row whose first cell names an upstream, or a column headed by one."""
    for row in tables.rows(text):
        first = _HEADERS.get(_plain(row.cells[0])) if row.cells else None
        if first and len(row.cells) > 1:
            yield from _cell(first, row.cells[1], row.line)
            continue
        for header, cell in zip(row.headers, row.cells, strict=False):
            upstream = _HEADERS.get(_plain(header))
            if upstream:
                yield from _cell(upstream, cell, row.line)


def _cell(upstream: str, cell: str, line: int) -> Iterator[Mention]:
    for match in _CELL_REVISION.finditer(cell):
        if spelling(match[0]):
            yield Mention(upstream, match[0], line)


def _plain(cell: str) -> str:
    return cell.strip().strip("*_`").strip().casefold()
