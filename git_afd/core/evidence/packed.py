"""Raw files that are kept compressed: known by their name, unpacked in pieces, so that no file can blow up memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from git_afd.core.evidence.fault import EvidenceFault

GZIP: Final = 31
"""zlib's word for the gzip form (RFC 1952)."""

TEXT_LIMIT: Final = 16 << 20
"""Largest file, unpacked, that is judged; logs are read in pieces and have no limit."""

_PIECE: Final = 1 << 18
_SUFFIX: Final = ".gz"


def is_packed(name: str) -> bool:
    """Say whether the artifact called `name` is kept compressed."""
    return name.endswith(_SUFFIX)


class Unpacker:
    """Unpacks one gzip file as its bytes come."""

    def __init__(self, name: str) -> None:
        """`name` is the file's, for messages."""
        self._name = name
        self._stream = zlib.decompressobj(GZIP)

    @property
    def whole(self) -> bool:
        """Whether the end of the file, with its checksum, was seen."""
        return self._stream.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` unpacks to, in pieces of bounded size. Raises EvidenceFault when it is damaged."""
        while data or not self._stream.eof:
            try:
                piece = self._stream.decompress(data, _PIECE)
            except zlib.error as error:
                raise EvidenceFault(self._name, "", f"cannot be unpacked: {error}", "a gzip file") from None
            data = self._stream.unconsumed_tail
            if piece:
                yield piece
            elif not data:
                return


def unpacked(name: str, data: bytes, *, limit: int = TEXT_LIMIT) -> bytes:
    """Return the content of the artifact `name`, unpacked when it is kept compressed.

    Raises EvidenceFault: it is damaged, cut off, or has more than `limit` bytes.
    """
    if not is_packed(name):
        return data
    unpacker, found = Unpacker(name), bytearray()
    for piece in unpacker.pieces(data):
        found += piece
        if len(found) > limit:
            raise EvidenceFault(name, "", f"unpacks to more than {limit} bytes", "a file that can be judged")
    if not unpacker.whole:
        raise EvidenceFault(name, "", "is cut off", "a whole gzip file")
    return bytes(found)
