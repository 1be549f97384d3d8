"""Where the hook stands and what is staged, asked of git in one round."""

from __future__ import annotations

import posix  # `os` without its price

from git_afd.adapters.quick_git import ask, text_of
from git_afd.core.intent import FILE as INTENT
from git_afd.core.intent import IntentFault, read_intent
from git_afd.core.pointers import ASK, parse_pointers
from git_afd.errors import EnvironmentFault, Refused

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Sequence

    from git_afd.core.intent import Intent

_WHERE = (
    *("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"),
    *("HEAD", "refs/notes/afd/ledger", "--symbolic-full-name", "HEAD"),
)
_BRANCH = ("symbolic-ref", "--quiet", "HEAD")
_STAGED = (
    *("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-relative"),
    *("--ita-invisible-in-index", "--ignore-submodules=none", "HEAD", "--"),
)
_IN_PROGRESS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


class Place:
    """One moment of one worktree.

    `git_dir` and `common_dir` are absolute; `branch` is the short name, empty when HEAD is detached; `head` and
    `tip` (of the ledger) are full ids, empty when there is none; `pointers` maps branches to upgrades; `staged`
    is what ``diff-index`` printed, None when it could not; `answers` is what git said to the calls of the stage.
    """

    __slots__ = ("answers", "branch", "common_dir", "git_dir", "head", "pointers", "staged", "tip")

    def __init__(self, *calls: Sequence[str]) -> None:
        """Ask git, read-only and without locks; `calls` too. Raises EnvironmentFault when this is no repository."""
        (code, where), (_, pointers), (staged_code, staged), *others = ask(_WHERE, ASK, _STAGED, *calls)
        self.answers = [text_of(said) for _, said in others]
        lines = text_of(where).split("\n")
        if len(lines) < 3:  # noqa: PLR2004 - both directories and what follows the last line break
            raise EnvironmentFault("git does not say which repository this is", "git afd doctor")
        self.git_dir, self.common_dir = lines[0], lines[1]
        self.head, self.tip = ([line for line in lines[2:] if _is_id(line)] + ["", ""])[:2]
        # without a first commit or a ledger, git stops before it says the branch
        self.branch = _short(lines[4] if code == 0 else text_of(ask(_BRANCH)[0][1]).rstrip("\n"))
        self.pointers = parse_pointers(text_of(pointers))
        self.staged = text_of(staged) if staged_code == 0 else None

    def has(self, name: str) -> bool:
        """Say whether this worktree's git dir holds `name`."""
        try:
            posix.lstat(f"{self.git_dir}/{name}")
        except OSError:
            return False
        return True

    def operation(self) -> bool:
        """Say whether a merge, cherry-pick, revert or rebase is in progress: push and audit judge those commits."""
        return any(self.has(name) for name in _IN_PROGRESS)

    def intent(self) -> Intent | None:
        """Return what `git afd commit` announced, None when nothing. Raises Refused when it cannot be read."""
        text = read(f"{self.git_dir}/{INTENT}")
        try:
            return read_intent(text) if text is not None else None
        except IntentFault as fault:
            raise Refused(f"the announced commit cannot be read: {fault}", "git afd commit again") from None


def read(path: str) -> str | None:
    """Return the text of a file, None when there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:  # noqa: PTH123 - pathlib costs more than the whole check
            return file.read()
    except FileNotFoundError:
        return None


def _short(ref: str) -> str:
    """Return a branch's name, empty when HEAD is detached (``rev-parse`` then says ``HEAD``)."""
    return "" if ref == "HEAD" else ref.removeprefix("refs/heads/")


def _is_id(line: str) -> bool:
    return len(line) in (40, 64) and not line.strip("0123456789abcdef")
