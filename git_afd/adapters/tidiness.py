"""Where a work tree is not its commit: what is changed, untracked or ignored, and what git was told not to look at."""

from __future__ import annotations

from collections.abc import Iterator

from git_afd.adapters.git import Git, git_fault
from git_afd.core.gating import Untidy


def untidy(git: Git) -> tuple[Untidy, ...]:
    """List every path (relative to the top) where the work tree is not HEAD; reads only, refreshes no index.

    An ignored folder is one entry that ends in a slash. Raises EnvironmentFault when git cannot tell.
    """
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching")
    result = git.run(*words, "--ignore-submodules=none")
    if not result.ok:
        raise git_fault(result, words, git.cwd)
    return (*(_entry(item) for item in result.fields()), *_hidden(git))


def _entry(item: str) -> Untidy:
    return Untidy(item[3:], {"??": "untracked", "!!": "ignored"}.get(item[:2], "changed"))  # type: ignore[arg-type]  # the words of How


def _hidden(git: Git) -> Iterator[Untidy]:
    """Yield tracked paths whose assume-unchanged (lower case) or skip-worktree (S) bit keeps status silent."""
    for item in git("ls-files", "-v", "-z").split("\0"):
        if item[:1].islower() or item[:1] == "S":
            yield Untidy(item[2:], "hidden")
