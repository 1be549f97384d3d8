"""What a bundle is: evidence recorded on another host, to be judged here from its raw files.

A bundle is a plain tar: ``header.json`` first, ``records.jsonl`` second, then each raw artifact once, as
``artifacts/<sha256>``. Everything in the header is a claim; only the raw files are evidence, and their names
are recomputed by the reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core import shape
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.names import is_full_id, literal_path_fault
from git_afd.core.outcome import Json

SCHEMA: Final = "git-afd/bundle/1"
HEADER: Final = "header.json"
RECORDS: Final = "records.jsonl"
SMALL_LIMIT: Final = 16 << 20
"""Largest header and records, in bytes."""

_ARTIFACT: Final = re.compile(r"artifacts/([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Header:
    """What a bundle claims: the gate it was recorded for, the full ids of commit and tree, file name to SHA-256.

    `claims` is the whole header: host facts, commands, exit codes and the rest, for showing and comparing.
    """

    gate: str
    commit: str
    tree: str
    artifacts: Mapping[str, str]
    claims: Mapping[str, Json]


def member_name(digest: str) -> str:
    """Return the name under which an artifact stands in the tar."""
    return f"artifacts/{digest}"


def digest_of_member(name: str) -> str | None:
    """Return the SHA-256 that a member's name claims, None when it is no artifact's name."""
    match = _ARTIFACT.fullmatch(name)
    return match.group(1) if match else None


def render_header(claims: Mapping[str, Json], artifacts: Mapping[str, str]) -> bytes:
    """Return the header's bytes: the same facts give the same bytes. Raises ValueError for what is no JSON."""
    body = {**claims, "schema": SCHEMA, "artifacts": dict(artifacts)}
    return json.dumps(body, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"


def render_records(lines: Sequence[str]) -> bytes:
    """Return the records' bytes: the ledger's own lines, one after the other."""
    return "".join(f"{line}\n" for line in lines).encode()


def parse_header(data: bytes, file: str) -> Header:
    """Read a header; `file` is the bundle's name for messages. Raises EvidenceFault: not as written above."""
    try:
        body = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise EvidenceFault(file, HEADER, "is no JSON", "an object in UTF-8") from None
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise EvidenceFault(file, HEADER, "is of no known schema", SCHEMA)
    try:
        header = Header(
            shape.text(body, "gate"),
            shape.text(body, "commit"),
            shape.text(body, "tree"),
            shape.text_table(body, "artifacts"),
            body,
        )
    except shape.ShapeFault as fault:
        name, _, expected = str(fault).partition(": ")
        raise EvidenceFault(file, f"{HEADER}, {name}", "is missing or of another kind", expected) from None
    _check(header, file)
    return header


def parse_records(data: bytes, file: str) -> tuple[str, ...]:
    """Return the records' lines, for the ledger's own reader. Raises EvidenceFault: not UTF-8, last line cut off."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise EvidenceFault(file, RECORDS, "is no UTF-8", "one record a line") from None
    if text and not text.endswith("\n"):
        raise EvidenceFault(file, RECORDS, "is cut off", "one record a line")
    return tuple(text.split("\n")[:-1])


def _check(header: Header, file: str) -> None:
    for name in ("commit", "tree"):
        value = getattr(header, name)
        if not is_full_id(value):
            raise EvidenceFault(file, f"{HEADER}, {name}", f"is {value[:80]!r}", "a full object id")
    for name, digest in header.artifacts.items():
        fault = literal_path_fault(name)
        if fault:
            raise EvidenceFault(file, f"{HEADER}, artifacts", f"{name[:80]!r} {fault}", "plain relative names")
        if digest_of_member(member_name(digest)) is None:
            raise EvidenceFault(file, f"{HEADER}, artifacts", f"{name[:80]!r} has no SHA-256", "64 hex digits")
