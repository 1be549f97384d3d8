"""A command's output as a log: written while it comes, compressed, and read again as text in bounded memory.

A log whose name ends in ``.gz`` is compressed as it is written (gzip, the fastest level), so that a command that
prints a gigabyte fills neither memory nor disk; no uncompressed copy ever exists. What was printed is pushed to the
file about once a second, so that a running log can be followed and a killed run leaves what it had said. Any other
name is a plain file, as all logs of older ledgers are. An artifact's digest is that of the file; the digest of the
text is kept beside it (:class:`git_afd.core.evidence.raw_run.Ended`).
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, Self

from git_afd.core.evidence.packed import GZIP, Unpacker, is_packed
from git_afd.errors import EnvironmentFault

TAIL: Final = 4 << 10
"""How much of the end of what was printed is kept at hand, in bytes."""

_CHUNK: Final = 1 << 18
_FASTEST: Final = 1
_PUSH_S: Final = 1.0


class LogSink:
    """The log file, the digest of its text and the screen: one place that takes output.

    `size` is the length of the text in bytes, `digest` its SHA-256 so far, `tail` its last TAIL bytes at most.
    `fault` says why the file could not be written, empty while it can. `echo` is dropped when it fails with OSError.
    """

    def __init__(self, path: Path, echo: Callable[[bytes], None] | None) -> None:
        """Nothing is opened yet."""
        self.digest = hashlib.sha256()
        self.size = 0
        self.fault = ""
        self.tail = b""
        self._path = path
        self._echo = echo
        self._file: BinaryIO
        self._packer = zlib.compressobj(_FASTEST, zlib.DEFLATED, GZIP) if is_packed(path.name) else None
        self._pushed = time.monotonic()
        self._dirty = False

    def __enter__(self) -> Self:
        """Make the file. Raises EnvironmentFault: it is there already, or cannot be made."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("xb", buffering=0)
        except OSError as error:
            raise EnvironmentFault(
                f"The log {self._path} cannot be made: {error.strerror}.", "Give the run a folder of its own."
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        """Finish the file."""
        if self._packer is not None:
            self._write(self._packer.flush())
        self._file.close()

    def take(self, data: bytes) -> None:
        """Write `data`; after a failure only swallow, so that the command can still end."""
        if self.fault:
            return
        self._write(self._packer.compress(data) if self._packer is not None else data)
        if self.fault:
            return
        self._dirty = True
        self.digest.update(data)
        self.size += len(data)
        self.tail = data[-TAIL:] if len(data) >= TAIL else (self.tail + data)[-TAIL:]
        self._show(data)

    def push(self) -> None:
        """Let whoever reads the file see what has come, about once a second."""
        now = time.monotonic()
        if self._packer is not None and self._dirty and now - self._pushed >= _PUSH_S:
            self._write(self._packer.flush(zlib.Z_SYNC_FLUSH))
            self._dirty, self._pushed = False, now

    def _write(self, data: bytes) -> None:
        if self.fault:
            return
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.fault = error.strerror or str(error)

    def _show(self, data: bytes) -> None:
        if self._echo is None:
            return
        try:
            self._echo(data)
        except OSError:  # the reader of our screen went away (a closed pipe)
            self._echo = None


class LogText:
    """The text of a log from its beginning, in pieces; a log that is still written can be asked again for more.

    `name` says whether it is compressed. Raises EvidenceFault where a compressed log is damaged; one that is cut off
    ends where it ends.
    """

    def __init__(self, name: str, file: BinaryIO) -> None:
        """Begin at the file's present position."""
        self._file = file
        self._unpacker = Unpacker(name) if is_packed(name) else None

    def more(self) -> Iterator[bytes]:
        """Yield what is there and was not yielded yet, in pieces of bounded size."""
        while data := self._file.read(_CHUNK):
            if self._unpacker is None:
                yield data
            else:
                yield from self._unpacker.pieces(data)


def log_text(name: str, source: Path | bytes) -> Iterator[bytes]:
    """Yield a log's text in pieces of bounded size. Raises EvidenceFault when it is damaged, OSError from a file."""
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        yield from LogText(name, file).more()


def log_ends(name: str, source: Path | bytes, *, head: int, tail: int) -> tuple[bytes, int, bytes]:
    """Return the first `head` bytes of a log's text, how many are left out, and the last `tail` bytes after those.

    Memory is bounded by what is returned, whatever the log's size. Raises like :func:`log_text`.
    """
    first, last, size = bytearray(), b"", 0
    for piece in log_text(name, source):
        room = max(head - len(first), 0)
        first += piece[:room]
        last = (last + piece[room:])[-tail:] if tail else b""
        size += len(piece)
    return bytes(first), size - len(first) - len(last), last
