"""Finding revisions in sentences: comments, docstrings, Markdown, shell and CI files.

Prose also speaks of the past, of other versions and of copies; a sentence that does is no evidence. Every
function is total: any text gives mentions or none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.identity.spelling import ID_PATTERN, VERSION_PATTERN, spelling

_NAME: Final = r"(?P<name>vllm[-_ ]ascend|vllm)(?![\w./:-])"
_GAP: Final = r"[\s`*\"'\[(]{0,200}"
_VERSION: Final = rf"(?P<version>{VERSION_PATTERN})(?![\w+-]|\.\w)"
_ID: Final = rf"(?P<id>{ID_PATTERN})(?!\w)"
_REV: Final = r"(?P<rev>[\w][\w.+-]*)"
_FLAGS: Final = re.IGNORECASE

_LEADER: Final = re.compile(r"^[ \t]*(?:[#>]+|//)", re.MULTILINE)
_BOUNDARY: Final = re.compile(r"[.;!?](?=\s)|\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-+*|]|\d+\.)[ \t])|\n(?=[ \t]*\|)")
_LABEL: Final = re.compile(r"\n[ \t]*[A-Z][\w -]{0,30}:[ \t\n]")

_PAST: Final = re.compile(
    r"\b(?:former(?:ly)?|earlier|previous(?:ly)?|historical(?:ly)?|legacy|retained|older|prior|deprecated|obsolete"
    r"|until|before|(?:upgrad|migrat|mov)\w* from)\b",
    _FLAGS,
)
_OTHER: Final = re.compile(
    r"\b(?:other than|no longer|unsupported|instead of|rather than|still reports?|not|never)\b", _FLAGS
)
_COPIED: Final = re.compile(
    r"\b(?:cop(?:y|ied)|adapted|ported|backported|taken|derived|borrowed|forked|vendored)\s+(?:\w+\s+){0,2}?from\b",
    _FLAGS,
)

_NAMED: Final = (
    re.compile(
        rf"(?<![\w.-]){_NAME}{_GAP}(?:(?:release|version|tag|revision|target|at|pinned|to){_GAP}){{0,4}}{_VERSION}"
        rf"(?:{_GAP}(?:at\s+)?commit{_GAP}{_ID})?",
        _FLAGS,
    ),
    re.compile(
        rf"(?<![\w.-]){_NAME}{_GAP}(?:branch{_GAP}[\w./-]{{1,100}}{_GAP})?"
        rf"(?:(?:source|snapshot|release|revision|at){_GAP}){{0,4}}commit{_GAP}{_ID}",
        _FLAGS,
    ),
)
_REQUIREMENT: Final = re.compile(
    rf"(?<![\w.-])(?P<name>vllm(?:[-_]ascend)?)(?:\[[\w, -]{{0,100}}\])?\s{{0,3}}===?\s{{0,3}}{_VERSION}", _FLAGS
)
_LINK: Final = re.compile(
    r"vllm-project/(?P<name>vllm(?:-ascend)?)(?:\.git)?"
    rf"(?:@|/(?:blob|tree|commits?|releases/tag|archive(?:/refs/tags)?)/){_REV}",
    _FLAGS,
)
_CLONE: Final = (
    re.compile(
        rf"clone\b[^\n]{{0,200}}?(?:-b|--branch)[ =]+[\"']?{_REV}[^\n]{{0,200}}?vllm-project/"
        r"(?P<name>vllm(?:-ascend)?)(?![\w-])",
        _FLAGS,
    ),
    re.compile(
        r"clone\b[^\n]{0,200}?vllm-project/(?P<name>vllm(?:-ascend)?)(?![\w-])[^\n]{0,200}?"
        rf"(?:-b|--branch)[ =]+[\"']?{_REV}",
        _FLAGS,
    ),
)
_IMAGE: Final = re.compile(rf"/(?P<name>vllm-ascend|vllm-openai):(?P<version>{VERSION_PATTERN})(?=-|[^\w.]|\Z)", _FLAGS)
_VARIABLE: Final = re.compile(
    rf"(?<![A-Z0-9_])(?P<name>VLLM(?:_ASCEND)?)_(?:VERSION|TAG|COMMIT|REF|REVISION)[ \t]*[:=][ \t]*[\"']?{_REV}"
)
_AT: Final = re.compile(rf"\bat\s+(?:the\s+)?(?:tag|commit|revision){_GAP}(?:{_VERSION}|{_ID})", _FLAGS)
_AT_FILE: Final = re.compile(rf"(?P<name>vllm(?:_ascend)?)/[\w./-]{{1,200}}?\.\w{{1,4}}@{_REV}", _FLAGS)
_UPSTREAM: Final = re.compile(r"\bupstream(?:\s+source)?\s*:", _FLAGS)
_ANY_NAME: Final = re.compile(r"(?<![\w.-])vllm(?P<ascend>[-_ ]ascend)?(?!\w|-\w)", _FLAGS)


@dataclass(frozen=True, slots=True)
class Mention:
    """A revision of an upstream named at a line (from 1) of a text."""

    upstream: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Prose:
    """A text with comment and quote leaders blanked (offsets and lines kept) and its sentences' borders."""

    text: str
    borders: list[int] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Prose:
        """Prepare any text."""
        plain = _LEADER.sub(lambda match: " " * len(match[0]), text)
        return cls(plain, [match.end() for match in _BOUNDARY.finditer(plain)])

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 1."""
        return self.text.count("\n", 0, offset) + 1

    def sentence(self, offset: int) -> tuple[int, int]:
        """Return where the sentence (or list item, or table row) around an offset starts and ends."""
        number = bisect_right(self.borders, offset)
        start = self.borders[number - 1] if number else 0
        end = self.borders[number] if number < len(self.borders) else len(self.text)
        return start, end


def document_mentions(text: str, *, variables: bool = False) -> Iterator[Mention]:
    """Yield the revisions a document names: ``vLLM v0.19.1``, requirements, links, clones, image tags.

    With `variables` also assignments such as ``VLLM_TAG=v0.19.1`` (scripts, containers, CI). Sentences about the
    past, about other versions and about copies yield nothing.
    """
    prose = Prose.of(text)
    patterns = (*_NAMED, _REQUIREMENT, _LINK, *_CLONE, _IMAGE)
    for pattern in (*patterns, _VARIABLE) if variables else patterns:
        for match in pattern.finditer(prose.text):
            start, end = prose.sentence(match.start())
            sentence = prose.text[start : max(end, match.end())]
            if not any(word.search(sentence) for word in (_PAST, _OTHER, _COPIED)):
                yield from _mentions(prose, match)


def annotation_mentions(text: str) -> Iterator[Mention]:
    """Yield the revisions that source annotations name.

    ``Upstream source: ``vllm_ascend/platform.py`` at tag ``v0.19.1rc1```` and its kin. A sentence that says that
    something was copied from a revision tells where it came from, not what is in use.
    """
    prose = Prose.of(text)
    for match in _AT.finditer(prose.text):
        start, end = prose.sentence(match.start())
        upstream = _last_name(prose.text[start : match.start()])
        if upstream and not _speaks_of_another(prose.text[start:end]):
            yield from _mentions(prose, match, upstream)
    for label in _UPSTREAM.finditer(prose.text):
        yield from _after_label(prose, label.end())


def _after_label(prose: Prose, begin: int) -> Iterator[Mention]:
    _, end = prose.sentence(begin)
    label = _LABEL.search(prose.text, begin, end)
    end = label.start() if label else end
    if _speaks_of_another(prose.text[begin:end]):
        return
    for pattern in (*_NAMED, _LINK, _AT_FILE):
        for match in pattern.finditer(prose.text, begin, end):
            yield from _mentions(prose, match)


def _speaks_of_another(sentence: str) -> bool:
    return bool(_COPIED.search(sentence) or _PAST.search(sentence))


def _last_name(text: str) -> str:
    upstream = ""
    for match in _ANY_NAME.finditer(text):
        upstream = "vllm-ascend" if match["ascend"] else "vllm"
    return upstream


def _mentions(prose: Prose, match: re.Match[str], upstream: str = "") -> Iterator[Mention]:
    groups = match.groupdict()
    name = upstream or ("vllm-ascend" if "ascend" in str(groups["name"]).lower() else "vllm")
    for group in ("version", "id", "rev"):
        found = groups.get(group)
        if found and spelling(found.rstrip(".")):
            yield Mention(name, found.rstrip("."), prose.line(match.start(group)))
