"""Reads an artifact in which git-afd itself kept raw facts: one JSON object of a known schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, TypeVar

from git_afd.core import shape
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.outcome import Json

SIZE_LIMIT: Final = 16 << 20
"""Largest artifact of facts that is read, in bytes."""

UNREADABLE: Final = (ValueError, RecursionError)
"""What :func:`body_of` and the reading of its fields raise."""

_T = TypeVar("_T")


def body_of(data: bytes, schema: str) -> dict[str, Json]:
    """Return the object that `data` holds. Raises one of UNREADABLE: no JSON, no object, or of another schema."""
    body = json.loads(data.decode("utf-8"))
    if not isinstance(body, dict) or body.get("schema") != schema:
        raise shape.ShapeFault(f"schema: {schema} was expected")
    return body


def kept_facts(data: bytes, file: str, schema: str, read: Callable[[dict[str, Json]], _T], expected: str) -> _T:
    """Return what `read` makes of an artifact; `file` is its name, `expected` says what it should hold, for messages.

    Raises EvidenceFault: more than SIZE_LIMIT bytes, or what cannot be read.
    """
    if len(data) > SIZE_LIMIT:
        raise EvidenceFault(file, "", f"has {len(data)} bytes", f"at most {SIZE_LIMIT}")
    try:
        return read(body_of(data, schema))
    except UNREADABLE as error:
        raise EvidenceFault(file, "", str(error)[:200], expected) from None
