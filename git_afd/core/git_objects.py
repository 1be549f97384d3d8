"""Git objects as bytes, and several of them as one pack (gitformat-pack(5)): what ``git unpack-objects`` takes in.

One process then stores the blob, the trees and the commit of an append; git checks every one of them again.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_TYPES: Final = {"commit": 1, "tree": 2, "blob": 3}
DIRECTORY: Final = "40000"


@dataclass(frozen=True, slots=True)
class GitObject:
    """One object: `kind` is commit, tree or blob; `data` its content; `width` the bytes of an id, 20 or 32."""

    kind: str
    data: bytes
    width: int

    @property
    def id(self) -> str:
        """The full object id: SHA-1 or SHA-256 by the width."""
        return _hash(f"{self.kind} {len(self.data)}\0".encode() + self.data, self.width).hex()


def tree(entries: Mapping[str, tuple[str, str]], width: int) -> GitObject:
    """Make a tree of `entries` (name: octal mode, full id), in git's order: folders as if they ended in a slash."""
    names = sorted((name.encode("utf-8", "surrogateescape"), *entry) for name, entry in entries.items())
    names.sort(key=lambda item: item[0] + b"/" if item[1] == DIRECTORY else item[0])
    data = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(item) for name, mode, item in names)
    return GitObject("tree", data, width)


def commit(of_tree: str, parents: Iterable[str], who: str, seconds: int, message: str) -> GitObject:
    """Make a commit by `who` at `seconds` since 1970, UTC; anything that is no ``Name <mail>`` becomes the name."""
    signed = f"{_identity(who)} {seconds} +0000"
    head = [f"tree {of_tree}", *(f"parent {item}" for item in parents), f"author {signed}", f"committer {signed}"]
    text = "\n".join([*head, "", message.rstrip("\n"), ""])
    return GitObject("commit", text.encode("utf-8", "surrogateescape"), len(of_tree) // 2)


def pack(objects: Sequence[GitObject]) -> bytes:
    """Return `objects`, all of one width and at least one, as a pack without deltas."""
    parts = [b"PACK", struct.pack(">II", 2, len(objects))]
    for item in objects:
        parts += [_header(_TYPES[item.kind], len(item.data)), zlib.compress(item.data, 1)]
    body = b"".join(parts)
    return body + _hash(body, objects[0].width)


def _header(kind: int, size: int) -> bytes:
    first, size = (kind << 4) | (size & 15), size >> 4
    found = bytearray()
    while size:
        found.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    found.append(first)
    return bytes(found)


def _hash(data: bytes, width: int) -> bytes:
    return (hashlib.sha1(data, usedforsecurity=False) if width == 20 else hashlib.sha256(data)).digest()  # noqa: PLR2004 - SHA-1's


def _identity(who: str) -> str:
    """Return an identity that git accepts (no angle brackets, line breaks or crud at the ends inside the parts)."""
    match = re.fullmatch(r"([^<>]*)<([^<>]*)>", who.strip())
    name, mail = match.groups() if match else (who, "git-afd@localhost")
    clean = [re.sub(r"[<>\x00-\x1f]", "", part).strip(" .,:;\"\\'") for part in (name, mail)]
    return f"{clean[0] or 'git-afd'} <{clean[1] or 'git-afd@localhost'}>"
