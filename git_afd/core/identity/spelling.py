"""From the words of a candidate to the revisions git is asked for."""

from __future__ import annotations

import re
from typing import Final

from packaging.version import InvalidVersion, Version

VERSION_PATTERN: Final = (
    r"v?\d+\.\d+\.\d+(?:\.\d+)*(?:[abc]\d+|[-._]?(?:rc|alpha|beta)[-._]?\d+)?(?:[-._]?post[-._]?\d+)?"
    r"(?:[-._]?dev[-._]?\d+)?(?:\+[a-z0-9]+(?:[-._][a-z0-9]+)*)?"
)
"""A version with at least three numbers, as a regular expression (use it with IGNORECASE): ``0.26`` is a series.

``-a3`` is no pre-release: image tags name the device family so (``v0.18.0-a3-openeuler``)."""

ID_PATTERN: Final = r"[0-9a-f]{7,64}"
"""An abbreviated or full object id, as a regular expression."""

_ID: Final = re.compile(rf"{ID_PATTERN}\Z")
_LOCAL_ID: Final = re.compile(r"g?([0-9a-f]{7,40})\Z")
_LONGEST: Final = 100
_FEWEST_NUMBERS: Final = 2


def spelling(text: str) -> tuple[str, ...]:
    """Return the revisions to try for `text`, the best first; nothing when it names no fixed revision.

    ``0.19.1`` and ``v0.19.1`` mean the tag ``v0.19.1`` (full ref names keep a branch of that name out);
    an id means itself; ``0.1.dev1+g<id>`` means the id; a development version without an id, an address like
    ``0.0.0.0`` and a branch (anything else) name no revision. Total: never raises.
    """
    text = text.strip().strip("`\"'")
    if _ID.match(text):
        return (text,)
    if len(text) > _LONGEST or "/" in text:
        return ()
    try:
        version = Version(text)
    except InvalidVersion:
        return ()
    local = _id_in_local(version)
    if local:
        return (local,)
    if version.is_devrelease or len(version.release) < _FEWEST_NUMBERS or not any(version.release):
        return ()
    return tuple(dict.fromkeys(f"refs/tags/{name}" for name in _tag_names(text, version)))


def _id_in_local(version: Version) -> str:
    for part in (version.local or "").split("."):
        match = _LOCAL_ID.match(part)
        # a date such as d20260430 or 20260430 stands beside the id in versions of setuptools-scm
        if match and (part.startswith("g") or not part.isdigit()):
            return match.group(1)
    return ""


def _tag_names(text: str, version: Version) -> list[str]:
    written = text.partition("+")[0].lower().lstrip("v")
    return [f"v{written}", f"v{version.public}", f"v{_three(version)}", written]


def _three(version: Version) -> str:
    """Write ``0.26`` as ``0.26.0``: both are one version, and tags carry three numbers."""
    shorter = ".".join(str(number) for number in version.release)
    missing = ".0" * max(0, 3 - len(version.release))
    return version.public.replace(shorter, shorter + missing, 1)


def same_version(left: str, right: str) -> bool:
    """Say whether two texts mean one version (``v3.2.1`` and ``3.2.1``; ``8.3.RC2`` and ``8.3.rc2``)."""
    try:
        return Version(left.strip()) == Version(right.strip())
    except ValueError:  # InvalidVersion, or more digits than int() takes
        return left.strip().casefold().removeprefix("v") == right.strip().casefold().removeprefix("v")
