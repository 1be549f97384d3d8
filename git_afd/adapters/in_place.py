"""Committing exact paths in the user's own work tree: ``git commit --only``, where no foreign hook can interfere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from git_afd.adapters.commit_object import moved_head
from git_afd.adapters.git import Git, encode
from git_afd.adapters.session import Session
from git_afd.adapters.signal_forwarding import Forwarding
from git_afd.adapters.user_index import PlannedEntries, announce, put_back
from git_afd.core.blueprint import Blueprint, TreeChange
from git_afd.core.intent import FILE


@dataclass(frozen=True, slots=True)
class InPlace:
    """One commit in the work tree of `session`. `before` is what the index held for the planned paths."""

    session: Session
    branch: str
    blueprint: Blueprint
    before: PlannedEntries

    @property
    def git(self) -> Git:
        """The door to where the commit is made."""
        return self.session.git

    @property
    def intent_file(self) -> Path:
        """Where the hooks of this worktree look for the announcement."""
        return self.session.git_dir / FILE

    def commit(self, message: Path, signals: Forwarding) -> str | None:
        """Make the commit with the text in `message`; return its full id, None when git or a hook refused.

        The pathspecs say by themselves that they are literal: what forces it would also bind the user's hooks.
        """
        announce(self.git, [path for path in self.blueprint.paths if self._unknown(path)])
        paths = b"".join(encode(f":(top,literal){path}") + b"\0" for path in self.blueprint.paths)
        words = ("-q", "--only", "--cleanup=whitespace", "-F", str(message))
        self.git.act("commit", *words, "--pathspec-from-file=-", "--pathspec-file-nul", input=paths, signals=signals)
        return moved_head(self.git, self.blueprint.parent)

    def publish(self, commit: str, summary: str) -> tuple[str, ...]:  # noqa: ARG002 - as in the other way
        """Do nothing more: git has moved branch and index already. Return the paths whose entries are left behind."""
        return ()

    def changed_by_hooks(self) -> bytes:
        """Return the patch from the planned content to what lies in the work tree now, empty when it is the same."""
        words = ("diff", "--binary", "--no-renames", "--no-ext-diff", self.blueprint.tree, "--", *self.blueprint.paths)
        return self.git.run(*words).stdout

    def retract(self, commit: str | None) -> bool:
        """Take a commit back that is not as planned, if the branch still stands at it, and restore the entries."""
        if commit is not None:
            reason = "afd: take back a commit that is not as planned"
            ref = f"refs/heads/{self.branch}"
            if not self.git.run("update-ref", "-m", reason, ref, self.blueprint.parent, commit, locks=True).ok:
                return False
        return put_back(self.git, self.before)

    def close(self) -> None:
        """Leave nothing: this way makes no places of its own."""

    def _unknown(self, path: str) -> bool:
        change: TreeChange = next(item for item in self.blueprint.changes if item.path == path)
        return path not in self.before.entries and not change.gone
