"""Where a note stands in the tree of a notes commit, whatever fan-out that tree has (git-notes(1)).

Git spreads notes over folders named by two hex digits, as many levels deep as it likes, and reads any mixture.
A note is therefore looked for on every level; a new one goes to the deepest folder that is there for it, and
a folder that has become too full is spread out. Entries that are no notes stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.git_objects import DIRECTORY, GitObject, tree

FULL: Final = 256
"""As many notes as one folder holds before they are spread over folders of their own."""

PAIR: Final = 2
"""Hex digits in the name of one folder."""

_NOTE: Final = "100644"


@dataclass(slots=True)
class Level:
    """One folder of a notes tree. `entries` maps names to (octal mode, object id); `opened` are changed folders."""

    entries: dict[str, tuple[str, str]] = field(default_factory=dict)
    opened: dict[str, Level] = field(default_factory=dict)


def places(name: str) -> tuple[tuple[str, str], ...]:
    """Return every folder that could hold the note of object `name` (full id), and the note's path in it."""
    pairs = [name[at : at + PAIR] for at in range(0, len(name) - PAIR, PAIR)]
    found = ("/".join(pairs[:depth]) for depth in range(len(pairs) + 1))
    return tuple((folder, f"{folder}/{name[depth * PAIR :]}".lstrip("/")) for depth, folder in enumerate(found))


def parse_level(data: bytes, width: int) -> Level:
    """Read a raw tree object whose ids are `width` bytes long. Names keep their bytes (surrogateescape)."""
    level, at = Level(), 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, name = data[at:end].split(b" ", 1)
        at = end + 1 + width
        level.entries[name.decode("utf-8", "surrogateescape")] = (mode.decode(), data[end + 1 : at].hex())
    return level


def assemble(raw: Mapping[str, bytes], width: int) -> Level:
    """Return the root of a notes tree with every folder in `raw` opened (``""`` is the root, ``ab/cd`` a folder)."""
    root = parse_level(raw.get("", b""), width)
    for path in sorted(raw.keys() - {""}, key=len):
        parent, _, name = path.rpartition("/")
        level = root
        for part in parent.split("/") if parent else ():
            level = level.opened[part]
        level.opened[name] = parse_level(raw[path], width)
    return root


def put(root: Level, name: str, blob: str) -> None:
    """Make `blob` the note of object `name` (full id), in place of any that it has; spread full folders."""
    level, at = root, 0
    while True:
        level.entries.pop(name[at:], None)
        folder = level.opened.get(name[at : at + PAIR])
        if folder is None:
            break
        level, at = folder, at + PAIR
    digits = len(name) - at
    if digits > PAIR and (_fanned(level) or _spread(level, digits)):
        level = level.opened.setdefault(name[at : at + PAIR], Level())
        at += PAIR
    level.entries[name[at:]] = (_NOTE, blob)


def trees(level: Level, width: int) -> list[GitObject]:
    """Return the trees of a level and of all that is opened below it, its own last. Enters the ids of the opened."""
    made: list[GitObject] = []
    for name, folder in level.opened.items():
        made += trees(folder, width)
        level.entries[name] = (DIRECTORY, made[-1].id)
    return [*made, tree(level.entries, width)]


def _fanned(level: Level) -> bool:
    inside = any(mode == DIRECTORY and len(name) == PAIR for name, (mode, _) in level.entries.items())
    return inside or bool(level.opened)


def _spread(level: Level, digits: int) -> bool:
    """Move the notes of a full folder, whose names have `digits` hex digits, into folders; say whether it was full."""
    notes = [name for name, (mode, _) in level.entries.items() if len(name) == digits and mode != DIRECTORY]
    if len(notes) < FULL:
        return False
    for note in notes:
        level.opened.setdefault(note[:PAIR], Level()).entries[note[PAIR:]] = level.entries.pop(note)
    return True
