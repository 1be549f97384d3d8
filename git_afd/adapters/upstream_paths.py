"""Whether the upstream paths of a root cause exist at the frozen commits: read from git objects, nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from git_afd.adapters.git import Git, encode
from git_afd.core import shape
from git_afd.core.names import SIDES, revision_key
from git_afd.core.plan import UpstreamCause
from git_afd.core.state import Freeze
from git_afd.errors import Blocked, Refused


def check_upstream_paths(git: Git, freeze: Freeze, causes: Iterable[UpstreamCause]) -> None:
    """Refuse a cause whose path stands at neither frozen commit of its upstream.

    Raises Refused naming the path, Blocked when the source of the upstream, or a commit in it, is gone.
    """
    for cause in causes:
        source = _source(git, freeze, cause.upstream)
        commits = [freeze.revisions[revision_key(cause.upstream, side)].commit for side in SIDES]
        if not any(_holds(source, commit, cause) for commit in commits):
            raise Refused(
                f"{cause.upstream} has no {cause.path} at {commits[0][:12]} or {commits[1][:12]}",
                "name a path of one of the frozen commits",
                code="upstream-path",
            )


def _source(git: Git, freeze: Freeze, upstream: str) -> Git:
    """Return a door to a repository that holds the upstream's objects: its source, else its target worktree."""
    source = shape.text(shape.table(shape.table(freeze.body, "sources"), upstream), "path", "")
    folders = [Path(folder) for folder in (source, freeze.worktrees.get(upstream, "")) if folder]
    for folder in folders:
        if folder.is_dir() and git.at(folder).run("rev-parse", "--git-dir").ok:
            return git.at(folder)
    where = " or ".join(str(folder) for folder in folders) or "the place that the freeze names"
    raise Blocked(f"the source of {upstream} is no longer at {where}", "put it back where the freeze found it")


def _holds(source: Git, commit: str, cause: UpstreamCause) -> bool:
    listed = source.run("ls-tree", "-z", "--full-tree", commit, "--", cause.path)
    if not listed.ok:
        raise Blocked(f"{source.cwd} cannot show {cause.upstream} at {commit[:12]}: {listed.reason}", "fetch it there")
    return any(encode(entry).endswith(b"\t" + encode(cause.path)) for entry in listed.fields())
