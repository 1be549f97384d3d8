"""The one-time intent: what `git afd commit` is about to commit, left in the worktree's git dir for the hooks.

Plain lines, because the hook reads them without json, re or dataclasses (each costs one to two bare starts of
Python). A path stands last on its line, with backslash and line break escaped; a deletion has mode 000000.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = "afd-intent"
HEADER = "afd-intent 1"
GONE = "000000"


class Planned:
    """One planned path: mode (six octal digits, 000000 when deleted), blob id (full), repository-relative path."""

    __slots__ = ("blob", "mode", "path")

    def __init__(self, mode: str, blob: str, path: str) -> None:
        """Keep the three."""
        self.mode = mode
        self.blob = blob
        self.path = path


class Intent:
    """The announced commit: upgrade, root cause, ledger tip, parent and tree (full ids), planned paths."""

    __slots__ = ("ledger", "parent", "paths", "root_cause", "tree", "upgrade")

    def __init__(
        self, upgrade: str, root_cause: str, ledger: str, parent: str, tree: str, paths: Iterable[Planned]
    ) -> None:
        """Keep the announcement."""
        self.upgrade = upgrade
        self.root_cause = root_cause
        self.ledger = ledger
        self.parent = parent
        self.tree = tree
        self.paths = tuple(paths)


class IntentFault(ValueError):
    """The file is no intent; the text says which line."""


def write_intent(intent: Intent) -> str:
    """Return the intent as the text of its file."""
    heads = [f"{name} {getattr(intent, name)}" for name in ("upgrade", "root_cause", "ledger", "parent", "tree")]
    paths = [f"path {item.mode} {item.blob} {escape(item.path)}" for item in intent.paths]
    return "\n".join([HEADER, *heads, *paths, "end", ""])


def read_intent(text: str) -> Intent:
    """Read :func:`write_intent`'s text. Raises IntentFault on anything else, a truncated file included."""
    lines = text.split("\n")
    if lines[0] != HEADER or lines[-2:] != ["end", ""]:
        raise IntentFault("it does not begin and end as an intent does")
    heads: dict[str, str] = {}
    paths: list[Planned] = []
    for number, line in enumerate(lines[1:-2], start=2):
        word, _, rest = line.partition(" ")
        if word == "path":
            mode, blob, path = rest.split(" ", 2) if rest.count(" ") >= 2 else ("", "", "")  # noqa: PLR2004 - three fields
            if not path:
                raise IntentFault(f"line {number} is no planned path")
            paths.append(Planned(mode, blob, unescape(path)))
        elif word in ("upgrade", "root_cause", "ledger", "parent", "tree") and word not in heads:
            heads[word] = rest
        else:
            raise IntentFault(f"line {number} is not known")
    if len(heads) != 5:  # noqa: PLR2004 - the five above
        raise IntentFault("a line is missing")
    return Intent(paths=paths, **heads)


def escape(path: str) -> str:
    """Return a path (or another free text) as the last word of one line."""
    return path.replace("\\", "\\\\").replace("\n", "\\n")


def unescape(text: str) -> str:
    """Undo :func:`escape`."""
    return "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\"))
