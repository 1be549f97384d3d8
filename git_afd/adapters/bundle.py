"""Writes a bundle on the host that has the devices, and reads it where the upgrade is judged.

Reading believes nothing: only plain files with the names that a bundle has, each once, within bounds, and each
artifact's digest recomputed. Nothing is ever written under a name that the bundle chose.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from git_afd.core.evidence.bundle import (
    HEADER,
    RECORDS,
    SMALL_LIMIT,
    Header,
    digest_of_member,
    member_name,
    parse_header,
    parse_records,
    render_header,
    render_records,
)
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.outcome import Json
from git_afd.errors import Blocked, EnvironmentFault, Refused

TOTAL_LIMIT: Final = 4 << 30
MEMBER_LIMIT: Final = 10_000
"""Largest bundle that is read: bytes of all members, and how many there are."""

_BLOCK: Final = 512
_CHUNK: Final = 1 << 20
_EXPECTED: Final = "a bundle as git-afd writes it"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read. `header` are claims; `records` the ledger's lines as they came, not yet judged.

    `files` maps each artifact's SHA-256, recomputed, to the file it was copied to; `digest` is the SHA-256 of
    the whole bundle.
    """

    header: Header
    records: tuple[str, ...]
    files: Mapping[str, Path]
    digest: str

    def file(self, name: str) -> Path | None:
        """Return the copy of the artifact that the header calls `name`, None when it names none."""
        digest = self.header.artifacts.get(name)
        return self.files[digest] if digest else None


def write_bundle(path: Path, claims: Mapping[str, Json], records: Sequence[str], artifacts: Mapping[str, Path]) -> str:
    """Write a bundle to the new file `path`; return its SHA-256. The same input gives the same bytes.

    `claims` is the header (`gate`, `commit`, `tree` and whatever else is to be shown), `artifacts` maps names
    to the files that hold the raw results. Raises Refused: `path` exists; Blocked: a raw result cannot be read
    or a claim is not as it must be; EnvironmentFault: `path` cannot be written.
    """
    if path.exists():
        raise Refused(f"{path} exists already.", "Name a new file for the bundle.")
    digests = {name: _file_digest(source) for name, source in artifacts.items()}
    sources = {digests[name]: source for name, source in sorted(artifacts.items())}
    header = render_header(claims, digests)
    parse_header(header, path.name)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            with temporary.open("xb") as out:
                _write(out, header, render_records(records), sources)
                out.flush()
                os.fsync(out.fileno())
            temporary.rename(path)
        finally:
            temporary.unlink(missing_ok=True)
        return _file_digest(path)
    except OSError as error:
        raise EnvironmentFault(
            f"The bundle {path} cannot be written: {error.strerror}.", "Name another place."
        ) from None


def read_bundle(path: Path, folder: Path, *, total_limit: int = TOTAL_LIMIT) -> Bundle:
    """Read the bundle `path`, copying its artifacts into the existing `folder` under their digests.

    Raises EvidenceFault: it is not as git-afd writes it, is cut off, holds what its header does not name or
    lacks what it names, or an artifact's bytes are not those of its name; Blocked: it cannot be opened.
    """
    try:
        with path.open("rb") as source:
            if os.fstat(source.fileno()).st_size > total_limit:
                raise EvidenceFault(path.name, "", "is too large", f"at most {total_limit} bytes")
            reader = _Reader(source, path.name)
            header = parse_header(reader.small(HEADER), path.name)
            records = parse_records(reader.small(RECORDS), path.name)
            files = dict(reader.artifacts(folder))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Blocked(f"The bundle {path} cannot be read: {why}.", "Name the file that --bundle wrote.") from None
    differ = set(header.artifacts.values()) ^ files.keys()
    if differ:
        one = min(differ)
        wrong = "is named and not there" if one not in files else "is there and not named"
        raise EvidenceFault(path.name, HEADER, f"artifact {one} {wrong}", "exactly the artifacts that it names")
    return Bundle(header, records, files, _file_digest(path))


def _write(out: BinaryIO, header: bytes, records: bytes, sources: Mapping[str, Path]) -> None:
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in ((HEADER, header), (RECORDS, records)):
            tar.addfile(_member(name, len(data)), BytesIO(data))
        for digest, source in sorted(sources.items()):
            with source.open("rb") as file:
                tar.addfile(_member(member_name(digest), os.fstat(file.fileno()).st_size), file)


def _member(name: str, size: int) -> tarfile.TarInfo:
    """Return a member without owner, time or rights of this host."""
    member = tarfile.TarInfo(name)
    member.size = size
    return member


class _Reader:
    """Walks a tar header by header: extensions, links and devices are no part of a bundle."""

    def __init__(self, source: BinaryIO, file: str) -> None:
        self._source = source
        self._file = file

    def small(self, name: str) -> bytes:
        """Return the next member, which must be called `name` and be small."""
        member = self._next()
        if member is None or member.name != name:
            found = "the end" if member is None else repr(member.name[:80])
            raise EvidenceFault(self._file, "", f"{found} stands where {name} should", _EXPECTED)
        if member.size > SMALL_LIMIT:
            raise EvidenceFault(self._file, name, f"has {member.size} bytes", f"at most {SMALL_LIMIT}")
        return b"".join(self._content(member))

    def artifacts(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Copy each remaining member into `folder`, checking its bytes against its name."""
        seen: set[str] = set()
        while member := self._next():
            digest = digest_of_member(member.name)
            if digest is None or digest in seen or len(seen) >= MEMBER_LIMIT:
                raise EvidenceFault(self._file, repr(member.name[:80]), "is not expected here", _EXPECTED)
            seen.add(digest)
            total = hashlib.sha256()
            with (folder / digest).open("xb") as out:
                for chunk in self._content(member):
                    total.update(chunk)
                    out.write(chunk)
            if total.hexdigest() != digest:
                raise EvidenceFault(self._file, member.name, "has other bytes than its name says", _EXPECTED)
            yield digest, folder / digest

    def _next(self) -> tarfile.TarInfo | None:
        block = self._take(_BLOCK)
        if not any(block):
            self._check_end()
            return None
        try:
            member = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        except (tarfile.TarError, ValueError):
            raise EvidenceFault(self._file, "", "holds a damaged tar header", _EXPECTED) from None
        if member.type != tarfile.REGTYPE or member.size < 0:
            raise EvidenceFault(self._file, repr(member.name[:80]), "is no plain file", _EXPECTED)
        return member

    def _content(self, member: tarfile.TarInfo) -> Iterator[bytes]:
        left = member.size
        while left:
            chunk = self._take(min(left, _CHUNK))
            left -= len(chunk)
            yield chunk
        if any(self._take(-member.size % _BLOCK)):
            raise EvidenceFault(self._file, member.name, "has bytes behind its end", _EXPECTED)

    def _take(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) != size:
            raise EvidenceFault(self._file, "", "is cut off", _EXPECTED)
        return data

    def _check_end(self) -> None:
        """Insist on the second empty block and on nothing but padding after it."""
        padding = self._take(_BLOCK)
        while padding:
            if any(padding):
                raise EvidenceFault(self._file, "", "has bytes behind its end", _EXPECTED)
            padding = self._source.read(_CHUNK)


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except OSError as error:
        raise Blocked(f"The raw result {path} cannot be read: {error.strerror}.", "Run the gate again.") from None
