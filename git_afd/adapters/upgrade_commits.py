"""Which commits belong to an upgrade: what its records name, what its branch added, what says so in a trailer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from git_afd.adapters.content import entries
from git_afd.adapters.git import Git, decode
from git_afd.core.pointers import ASK, parse_pointers
from git_afd.core.state import Upgrade

_TRAILER = "%(trailers:key=AFD-Upgrade,valueonly=true,separator=%x2C)"


@dataclass(frozen=True)
class UpgradeCommits:
    """Answers about one repository as it is now, each asked of git once."""

    git: Git

    @cached_property
    def pointers(self) -> dict[str, str]:
        """The upgrade that each branch points to (``branch.<name>.afd``), by branch."""
        return parse_pointers(decode(self.git.run(*ASK).stdout))

    def peeled(self, name: str) -> str:
        """Return the commit (full id) that an object id leads to, empty when it leads to none."""
        return self.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").text

    def reaches(self, commit: str, branch: str) -> bool:
        """Say whether the tip of `branch` is an ancestor of `commit`, or is it."""
        return self.git.run("merge-base", "--is-ancestor", f"refs/heads/{branch}", commit).ok

    def beyond_base(self, commit: str, up: Upgrade) -> set[str]:
        """Return `commit` and its ancestors that are not in the upgrade's base."""
        return set(self._list(commit, up))

    def held(self, commit: str, up: Upgrade) -> tuple[str, ...]:
        """Return the commits of `up` among `commit` and its ancestors, newest first.

        The upgrade's are: those that its records name; those whose trailer says so (a rebase or cherry-pick has
        a new id); and all that its branches added to the base. What a remote had already came to the branch by a
        merge and counts only when a record or a trailer claims it.
        """
        named = {item.commit for item in up.commits}
        added = {own for tip in self._tips(up) for own in self._list(tip, up, "--not", "--remotes")}
        found = self._list(commit, up, f"--format=%H {_TRAILER}", command="log")
        lines = (line.partition(" ") for line in found)
        return tuple(own for own, _, said in lines if own in named or own in added or up.id in said.split(","))

    def files(self, commit: str, held: Iterable[str]) -> dict[str, str]:
        """Return the paths that the commits `held` (full ids) change, with what `commit` has there: a blob's id.

        Empty for what is no ordinary file there, or nothing. What a merge brought is not the upgrade's.
        """
        words = ("diff-tree", "--stdin", "-r", "-z", "--root", "--no-commit-id", "--no-renames", "--name-only")
        asked = "".join(f"{name}\n" for name in held).encode()
        paths = dict.fromkeys(self.git.run(*words, input=asked).fields())
        listed = {item.path: item for item in entries(self.git, commit) if item.path in paths}
        return {path: listed[path].id if path in listed and listed[path].ordinary else "" for path in paths}

    def _tips(self, up: Upgrade) -> list[str]:
        """Return the branches that point to the upgrade; where none does, the branch that it was frozen on."""
        branches = [branch for branch, name in self.pointers.items() if name == up.id] or [up.freeze.branch]
        return [tip for branch in branches if (tip := self.peeled(f"refs/heads/{branch}"))]

    def _list(self, commit: str, up: Upgrade, *options: str, command: str = "rev-list") -> list[str]:
        base = [f"^{up.freeze.base}"] if self.peeled(up.freeze.base) else []
        return self.git(command, commit, *base, *options).splitlines()
