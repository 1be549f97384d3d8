"""Reading the values that the policy guards from the files of a commit."""

from __future__ import annotations

from git_afd.adapters.content import entries
from git_afd.adapters.git import Git, decode
from git_afd.core.guards import Guarded, guarded_in
from git_afd.core.policy import Policy, fits
from git_afd.errors import Blocked


def guarded_at(git: Git, commit: str, policy: Policy) -> tuple[Guarded, ...]:
    """Return every guarded value at a commit (full id), by path and line. Raises Blocked when a file is missing."""
    globs = [guard.path for guard in policy.guards]
    blobs = [(item.path, item.id) for item in entries(git, commit) if item.kind == "blob" and fits(item.path, globs)]
    data = git.run("cat-file", "--batch", input="".join(f"{name}\n" for _, name in blobs).encode()).stdout
    found: list[Guarded] = []
    at = 0
    for path, _ in blobs:
        end = data.find(b"\n", at)
        words = data[at:end].split()
        if len(words) != 3 or words[1] != b"blob":  # noqa: PLR2004 - "<id> <type> <size>"
            raise Blocked(
                f"{path} of commit {commit[:12]} is missing from the object store", "fetch it, then run again"
            )
        start, size = end + 1, int(words[2])
        found += guarded_in(policy.guards, path, decode(data[start : start + size]))
        at = start + size + 1
    return tuple(found)
