"""Committing in a scratch worktree: the user's hooks run on the planned content and on nothing else of the user's.

The commit is made on a detached HEAD below the common git dir, compared with the plan, and only then does the
branch move, by compare-and-swap. Whatever a hook does, and whenever anything is killed, the user's own work
tree holds what it held (git-facts.md, "Committing exact paths").
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd.adapters.commit_object import moved_head
from git_afd.adapters.git import Git, encode
from git_afd.adapters.hook_install import hooks_folder
from git_afd.adapters.session import Session
from git_afd.adapters.signal_forwarding import Forwarding
from git_afd.adapters.user_index import PlannedEntries, bring_forward
from git_afd.core.blueprint import Blueprint, TreeChange
from git_afd.core.intent import FILE
from git_afd.errors import Conflict, EnvironmentFault

REASON: Final = "scratch worktree of git afd commit"
_PREFIX: Final = "afd-commit-"
_QUIET: Final = ("core.hooksPath=/dev/null", "checkout.workers=0")


@dataclass(frozen=True, slots=True)
class Scratch:
    """One commit in a scratch worktree at `folder`; `before` is what the user's index held for the planned paths."""

    session: Session
    branch: str
    blueprint: Blueprint
    before: PlannedEntries
    folder: Path

    @classmethod
    def make(cls, session: Session, branch: str, blueprint: Blueprint, before: PlannedEntries) -> Scratch:
        """Add the worktree at the parent commit, locked. Raises EnvironmentFault when git cannot."""
        folder = _home(session) / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        words = ("--detach", "--lock", "--reason", REASON, str(folder), blueprint.parent)
        skip = {"GIT_LFS_SKIP_SMUDGE": "1"}
        scratch = cls(session, branch, blueprint, before, folder)
        made = session.git.run("worktree", "add", *words, locks=True, config=_QUIET, env=skip)
        if not made.ok:
            scratch.close()
            raise EnvironmentFault(f"a scratch worktree cannot be made: {made.reason}", "git worktree list")
        return scratch

    @property
    def git(self) -> Git:
        """The door to the scratch worktree, with the settings of the user's call."""
        return Git(self.folder, config=self.session.git.config, env=self.session.git.env)

    @property
    def intent_file(self) -> Path:
        """Where the hooks of the scratch worktree look for the announcement."""
        return _admin(self.session, self.folder) / FILE

    def commit(self, message: Path, signals: Forwarding) -> str | None:
        """Put the planned content there and commit it; return the commit's full id, None when git or a hook refused.

        Raises Conflict when the content is no longer what was planned.
        """
        self._fill()
        listed = b"".join(encode(path) + b"\0" for path in self.blueprint.paths)
        self.git("update-index", "--add", "--remove", "-z", "--stdin", input=listed, locks=True)
        if self.git("write-tree", locks=True) != self.blueprint.tree:
            raise Conflict("a planned file changed while it was being committed", "run the same command again")
        acting = Git(self.folder, config=(*self.git.config, *self._same_hooks()), env=self.git.env)
        acting.act("commit", "-q", "--cleanup=whitespace", "-F", str(message), signals=signals)
        return moved_head(self.git, self.blueprint.parent)

    def publish(self, commit: str, summary: str) -> tuple[str, ...]:
        """Move the branch by compare-and-swap, bring the planned index entries along; return those left behind.

        Raises Conflict when the branch, or what is checked out, moved meanwhile: nothing is lost then.
        """
        git, ref = self.session.git, f"refs/heads/{self.branch}"
        again = "run the same command again"
        if git.run("symbolic-ref", "--quiet", "HEAD").text != ref:
            raise Conflict(f"{self.branch} is no longer checked out here", again)
        reason = f"commit (git afd): {summary}"
        moved = git.run("update-ref", "-m", reason, ref, commit, self.blueprint.parent, locks=True)
        if not moved.ok:
            raise Conflict(f"{self.branch} moved while its commit was being made: {moved.reason}", again)
        return bring_forward(git, self.before, self.blueprint.changes)

    def changed_by_hooks(self) -> bytes:
        """Return the patch from the planned content to what the hooks left here, empty when it is the same."""
        words = ("diff", "--binary", "--no-renames", "--no-ext-diff", self.blueprint.tree)
        return self.git.run(*words).stdout

    def retract(self, commit: str | None) -> bool:  # noqa: ARG002 - as in the other way
        """Do nothing: a commit here is on no branch, and the user's index was not touched."""
        return True

    def close(self) -> None:
        """Remove what :meth:`make` made."""
        remove_scratch(self.session, self.folder)

    def _fill(self) -> None:
        """Make the planned paths what they are in the user's work tree, byte for byte, and only those."""
        for change in sorted(self.blueprint.changes, key=lambda item: not item.gone):
            place = self.folder / change.path
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                place.unlink()
            if change.gone:
                _drop_empty_parents(self.folder, place)
            else:
                _copy(self.session.root / change.path, place, change)

    def _same_hooks(self) -> tuple[str, ...]:
        """Name the user's hooks by their absolute folder when a relative ``core.hooksPath`` leads nowhere in here."""
        value = self.session.git.run("config", "--type=path", "--get", "core.hooksPath").text
        lost = value and not Path(value).is_absolute() and not (self.folder / value).is_dir()
        return (f"core.hooksPath={hooks_folder(self.session).path}",) if lost else ()


def survivors(session: Session) -> Iterator[Path]:
    """Return the scratch worktrees that killed runs left; only right while the commit lock is held."""
    home = _home(session)
    folders = set(home.glob(f"{_PREFIX}*")) if home.is_dir() else set()
    registered = (session.common_dir / "worktrees").glob(f"{_PREFIX}*")
    yield from sorted(folders | {home / admin.name for admin in registered})


def survivor_intent(session: Session, folder: Path) -> Path:
    """Return where the announcement of a scratch worktree is, or would be."""
    return _admin(session, folder) / FILE


def remove_scratch(session: Session, folder: Path) -> None:
    """Remove one of our scratch worktrees: first the folder, while the registration is locked, then the registration.

    Nothing is forced: git removes the registration of a folder that is gone. One that a kill left half-written
    is known by its name, which no other worktree has, and removed with its folder.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        return  # a hook still runs in it; the next run tries again
    admin = _admin(session, folder)
    if not admin.exists():
        return
    session.git.run("worktree", "unlock", str(folder), locks=True)
    removed = session.git.run("worktree", "remove", str(folder), locks=True)
    if not removed.ok and admin.exists():
        shutil.rmtree(admin, ignore_errors=True)


def _home(session: Session) -> Path:
    return session.ledger.home / "scratch"


def _admin(session: Session, folder: Path) -> Path:
    return session.common_dir / "worktrees" / folder.name


def _copy(source: Path, place: Path, change: TreeChange) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        place.rmdir()  # emptied by a planned deletion below it
    try:
        shutil.copyfile(source, place, follow_symlinks=False)
    except FileNotFoundError as error:
        raise Conflict(f"{change.path} is gone while it was being committed", "run the same command again") from error
    if change.mode == "100755":
        place.chmod(place.stat().st_mode | 0o111)


def _drop_empty_parents(root: Path, place: Path) -> None:
    for folder in place.parents:
        if folder == root or any(folder.iterdir()):
            return
        folder.rmdir()
