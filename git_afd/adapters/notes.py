"""A notes tree in the object store: read whole, read what changed between two commits, extended by new notes.

Nothing here moves the ledger's ref. ``git notes append`` is not used: it says nothing of its own in the commit
message, needs the user's identity to be configured, takes one process per note, and works on a ref, so that a
kill leaves one behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.adapters.git import Git, decode, encode
from git_afd.core.git_objects import GitObject, commit, pack
from git_afd.core.notes_tree import Level, assemble, places, put, trees
from git_afd.errors import EnvironmentFault

Note = tuple[str, str | None]
"""The annotated object (full id) and the note's text; None when its blob is not there."""

_NEAR: Final = 3
"""Levels of a fan-out that are looked at in one go: git makes two of them at 65,536 notes."""

_KINDS: Final = {b"blob": "blob", b"tree": "tree", b"commit": "commit"}


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of one repository."""

    git: Git

    def all(self, tip: str) -> Iterator[Note] | None:
        """Read every note of a notes commit (full id); None when its tree cannot be listed."""
        listing = self.git.run("ls-tree", "-r", "-z", "--full-tree", tip)
        return self._texts(_entries(listing.fields())) if listing.ok else None

    def changed(self, old: str, new: str) -> tuple[list[Note], list[Note]] | None:
        """Read the notes that differ between two notes commits, as they were and as they are; None when one is gone."""
        listing = self.git.run(
            "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--full-index", old, new
        )
        if not listing.ok:
            return None
        fields = listing.fields()
        before: list[tuple[str, str]] = []
        after: list[tuple[str, str]] = []
        for meta, path in zip(fields[::2], fields[1::2], strict=True):
            _, _, was, now, _ = meta.split(" ")
            place = path.replace("/", "")
            before += [(place, was)] if was.strip("0") else []
            after += [(place, now)] if now.strip("0") else []
        return list(self._texts(before)), list(self._texts(after))

    def extended(self, tip: str | None, lines: Mapping[str, str], message: str, who: str, seconds: int) -> str:
        """Store the notes commit that has `lines` (text by annotated object) behind those at `tip`; return its id.

        `who` and `seconds` (since 1970, UTC) are its author's and committer's, whatever git is configured to.
        Raises EnvironmentFault when git cannot write objects.
        """
        width = len(next(iter(lines))) // 2
        root, texts = self._around(tip, list(lines), width)
        made: list[GitObject] = []
        for name, text in lines.items():
            made.append(GitObject("blob", texts[name] + encode(text), width))
            put(root, name, made[-1].id)
        made += trees(root, width)
        new = commit(made[-1].id, (tip,) if tip else (), who, seconds, message)
        unique = {item.id: item for item in (*made, new)}
        stored = self.git.run("unpack-objects", "-q", input=pack(list(unique.values())), locks=True)
        if not stored.ok:
            why, fix = stored.reason, "look for a full disk or missing permissions in the git dir"
            raise EnvironmentFault(f"the ledger cannot be written: {why}", fix)
        return new.id

    def _around(self, tip: str | None, names: Sequence[str], width: int) -> tuple[Level, dict[str, bytes]]:
        """Return the tree at `tip`, opened where notes of `names` are or could be, and the texts they have."""
        texts = dict.fromkeys(names, b"")
        if tip is None:
            return Level(), texts
        raw: dict[str, bytes] = {}
        depth, left = 0, list(names)
        while left:
            asked = _near(left, depth) if depth else {"": "", **_near(left, 0)}
            found = self._objects(f"{tip}:{path}" if path else f"{tip}^{{tree}}" for path in asked)
            for (path, name), (kind, data) in zip(asked.items(), found, strict=True):
                if kind == "tree":
                    raw[path] = data
                elif kind == "blob":  # several only after odd merges: what they say is put together
                    texts[name] += data if data.endswith(b"\n") else data + b"\n"
            depth += _NEAR
            left = [name for name in left if any(folder in raw for folder, _ in places(name)[depth - 1 : depth])]
        if "" not in raw:
            raise EnvironmentFault(f"the tree of notes commit {tip} is missing", "fetch it from another clone")
        return assemble(raw, width), texts

    def _texts(self, entries: Iterable[tuple[str, str]]) -> Iterator[Note]:
        pairs = list(entries)
        found = self._objects(blob for _, blob in pairs)
        for (place, _), (kind, data) in zip(pairs, found, strict=True):
            yield place, decode(data) if kind == "blob" else None

    def _objects(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Read many objects in one process: (kind, data), kind empty when there is none that can be read.

        git stops at an object that is corrupt: that one counts as absent, and the rest is asked for again.
        """
        wanted = [encode(name) + b"\n" for name in names]
        while wanted:
            answers = list(_answers(self.git.run("cat-file", "--batch", input=b"".join(wanted)).stdout))[: len(wanted)]
            yield from answers
            if len(answers) < len(wanted):
                yield "", b""
            wanted = wanted[len(answers) + 1 :]


def _near(names: Iterable[str], depth: int) -> dict[str, str]:
    """Return where notes of `names` could be on the levels from `depth` on that are looked at in one go."""
    near = ((name, pair) for name in names for pair in places(name)[depth : depth + _NEAR])
    return {path: name for name, pair in near for path in pair if path}


def _answers(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Split what ``cat-file --batch`` printed: ``<id> <type> <size>``, the data, a line break; or ``… missing``."""
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        name_and_kind, _, size_text = data[at:end].rpartition(b" ")
        at = end + 1
        if not size_text.isdigit():
            yield "", b""
            continue
        size = int(size_text)
        if at + size >= len(data):
            return  # cut short
        yield _KINDS.get(name_and_kind.rpartition(b" ")[2], ""), data[at : at + size]
        at += size + 1


def _entries(fields: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Turn ``ls-tree`` entries into (annotated object, blob id): the fan-out's slashes say nothing."""
    for entry in fields:
        meta, _, path = entry.partition("\t")
        yield path.replace("/", ""), meta.rpartition(" ")[2]
