"""Keeps raw evidence by content: under the common git dir, and what is small also in a ref of ours.

A file's name is the SHA-256 of its bytes, so nothing is ever written over, and whatever reads it can tell
whether it is still what a record names. Temporary folders lose evidence (scenario U14): everything a run
leaves is copied here at once. What is small travels with the ledger as blobs below ``refs/afd/artifacts``.
"""

from __future__ import annotations

import hashlib
import os
import random
import secrets
import stat
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from git_afd.adapters.git import Git
from git_afd.core.names import ARTIFACT_REF
from git_afd.errors import Blocked, Conflict, EnvironmentFault

State = Literal["present", "absent", "damaged"]

SMALL: Final = 256 << 10
"""Largest artifact, in bytes, that also travels as a git blob."""

ATTEMPTS: Final = 40

_CHUNK: Final = 1 << 20
_WHO: Final = {
    "GIT_AUTHOR_NAME": "git-afd",
    "GIT_AUTHOR_EMAIL": "git-afd@localhost",
    "GIT_COMMITTER_NAME": "git-afd",
    "GIT_COMMITTER_EMAIL": "git-afd@localhost",
}
"""Nobody signs for this ref: it holds bytes that prove themselves by their name."""


@dataclass(frozen=True, slots=True)
class Artifacts:
    """The artifacts of one repository; `common_dir` is its common git dir."""

    git: Git
    common_dir: Path

    @property
    def home(self) -> Path:
        """The folder they stand in: ``<2 hex>/<sha256>``."""
        return self.common_dir / "afd" / "artifacts"

    def put_file(self, path: Path) -> str:
        """Keep the bytes of a file; return their SHA-256. Raises like :meth:`put`."""
        return self.put([path])[0]

    def put_bytes(self, data: bytes) -> str:
        """Keep these bytes; return their SHA-256. Raises like :meth:`put`."""
        return self.put([data])[0]

    def put(self, items: Iterable[Path | bytes]) -> tuple[str, ...]:
        """Keep files and bytes, in one step for the ref; return their SHA-256 digests in order.

        What is there already stays as it is. Raises Blocked: an item is no regular file or cannot be read;
        EnvironmentFault: the store cannot be written; Conflict: the ref moved at every attempt.
        """
        digests = tuple(self._keep(item) for item in items)
        small = [digest for digest in dict.fromkeys(digests) if self.path(digest).stat().st_size <= SMALL]
        self._publish({digest: self.path(digest) for digest in small})
        return digests

    def get(self, digest: str) -> bytes | None:
        """Return the bytes with this SHA-256, from the folder or else the ref; None when neither has them intact."""
        if not _is_digest(digest):
            return None
        with suppress(OSError):
            data = self.path(digest).read_bytes()
            if hashlib.sha256(data).hexdigest() == digest:
                return data
        travelled = self.git.run("cat-file", "blob", f"{ARTIFACT_REF}:{_name(digest)}")
        return travelled.stdout if travelled.ok and hashlib.sha256(travelled.stdout).hexdigest() == digest else None

    def source(self, digest: str) -> Path | bytes | None:
        """Return where the artifact can be read from: its file, whatever its size, else its bytes from the ref.

        Nothing is checked: for showing; what decides reads with :meth:`get`.
        """
        if not _is_digest(digest):
            return None
        path = self.path(digest)
        return path if path.is_file() else self.get(digest)

    def state(self, digest: str, *, deep: bool = True) -> State:
        """Say whether the folder holds the artifact intact: what stands only in the ref is absent until restored.

        With ``deep=False`` a large file is looked at, not read: enough for `status`, never for a gate.
        """
        if not _is_digest(digest):
            return "absent"
        path = self.path(digest)
        try:
            info = path.lstat()
        except FileNotFoundError:
            return "absent"
        except OSError:
            return "damaged"
        if not stat.S_ISREG(info.st_mode):
            return "damaged"
        if not deep and info.st_size > SMALL:
            return "present"
        return "present" if _digest_of(path) == digest else "damaged"

    def restore(self, digests: Iterable[str]) -> tuple[str, ...]:
        """Put back into the folder what is not intact there and stands in the ref; return what was put back."""
        wanted = [digest for digest in dict.fromkeys(digests) if self.state(digest) != "present"]
        found = [data for data in map(self.get, wanted) if data is not None]
        return tuple(map(self._keep, found))

    def sweep(self, *, older_s: float = 24 * 3600.0) -> None:
        """Remove what writers that were killed left half-written, long ago: nobody writes one file for a day."""
        until = time.time() - older_s
        for left in self.home.glob("new-*"):
            with suppress(OSError):
                if left.stat().st_mtime < until:
                    left.unlink()

    def path(self, digest: str) -> Path:
        """Return where the artifact with this SHA-256 stands in the folder, whether or not it does."""
        return self.home / digest[:2] / digest

    def _keep(self, item: Path | bytes) -> str:
        """Write a temporary file, make it durable and read-only, then give it its name."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            temporary = self.home / f"new-{secrets.token_hex(8)}"
            try:
                digest = _copy(item, temporary)
                self._give_name(temporary, digest)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise EnvironmentFault(
                f"The artifact store {self.home} cannot be written: {error.strerror}.", "Make room or mend its rights."
            ) from None
        return digest

    def _give_name(self, temporary: Path, digest: str) -> None:
        final = self.path(digest)
        final.parent.mkdir(exist_ok=True)
        if (found := self.state(digest)) == "present":
            return
        if found == "damaged":  # kept beside for whoever wants to know, and out of the way
            final.rename(final.with_name(f"{digest}.damaged-{secrets.token_hex(4)}"))
        try:
            final.hardlink_to(temporary)
        except FileExistsError:
            return  # another writer was quicker, with the same bytes
        except OSError:  # no hard links on this file system
            temporary.rename(final)
        _sync_folder(final.parent)

    def _publish(self, files: Mapping[str, Path]) -> None:
        """Add small artifacts to the ref by compare-and-swap, from a fresh read when it moved meanwhile."""
        if not files:
            return
        paths = "".join(_quoted(path) for path in files.values())
        blobs = self.git("hash-object", "-w", "--no-filters", "--stdin-paths", input=os.fsencode(paths), locks=True)
        entries = "".join(
            f"100644 {blob}\t{_name(digest)}\0" for digest, blob in zip(files, blobs.split("\n"), strict=True)
        )
        for attempt in range(ATTEMPTS):
            tip = self.git.run("rev-parse", "--verify", "--quiet", ARTIFACT_REF).text
            new = self._commit(tip, entries)
            if new == tip or self._swap(new, tip):
                return
            time.sleep(random.uniform(0, 0.01 * min(attempt + 1, 10)))  # noqa: S311 - spreads writers, hides nothing
        raise Conflict(f"{ARTIFACT_REF} moved at every attempt to write.", "Run the same command again.")

    def _commit(self, tip: str, entries: str) -> str:
        """Return a commit on `tip` (empty: none) with `entries` added; `tip` itself when it holds them all."""
        with tempfile.TemporaryDirectory(dir=self.home, prefix="index-") as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index"), **_WHO}
            if tip:
                self.git("read-tree", tip, env=env, locks=True)
            self.git("update-index", "-z", "--index-info", input=entries.encode(), env=env, locks=True)
            tree = self.git("write-tree", env=env, locks=True)
            if tip and tree == self.git("rev-parse", f"{tip}^{{tree}}"):
                return tip
            parents = ("-p", tip) if tip else ()
            return self.git("commit-tree", tree, *parents, "-m", "afd: keep artifacts", env=env, locks=True)

    def _swap(self, new: str, tip: str) -> bool:
        old = tip or "0" * len(new)
        return self.git.run("update-ref", "-m", "afd: artifacts", ARTIFACT_REF, new, old, locks=True).ok


def _copy(item: Path | bytes, target: Path) -> str:
    """Write `item` to the new file `target`; return the digest of what was written."""
    total = hashlib.sha256()
    with target.open("xb") as out:
        if isinstance(item, bytes):
            total.update(item)
            out.write(item)
        else:
            with _opened(item) as source:
                while chunk := source.read(_CHUNK):
                    total.update(chunk)
                    out.write(chunk)
        out.flush()
        os.fchmod(out.fileno(), 0o444)
        os.fsync(out.fileno())
    return total.hexdigest()


def _opened(path: Path) -> BinaryIO:
    """Open a regular file; a pipe or device would make us wait or never end."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise Blocked(f"The raw result {path} cannot be read: {error.strerror}.", "Run the gate again.") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Blocked(f"The raw result {path} is no regular file.", "Let the command write a file.")
    return os.fdopen(handle, "rb")


def _digest_of(path: Path) -> str:
    try:
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except OSError:
        return ""


def _sync_folder(folder: Path) -> None:
    """Make a new name durable; file systems that cannot do so say it with an error."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")  # noqa: PLR2004 - SHA-256 in hex


def _quoted(path: Path) -> str:
    """Return a line of ``--stdin-paths`` that survives line breaks in the repository's own path."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"\n'


def _name(digest: str) -> str:
    return f"{digest[:2]}/{digest}"
