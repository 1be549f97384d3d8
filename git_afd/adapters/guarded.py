"""Reading the values that the policy guards from the files of a commit."""

from __future__ import annotations

from git_afd.adapters.git import decode
from git_afd.adapters.objects import Objects
from git_afd.core.guards import Guarded, guarded_in
from git_afd.core.policy import Policy, fits
from git_afd.errors import Blocked


def guarded_at(objects: Objects, commit: str, policy: Policy) -> tuple[Guarded, ...]:
    """Return every guarded value at a commit (full id), by path and line. Raises Blocked when a file is missing."""
    globs = [guard.path for guard in policy.guards]
    listed = [item for item in objects.entries(commit) if item.kind == "blob" and fits(item.path, globs)]
    texts = objects.blobs({item.id for item in listed})
    return tuple(
        value for item in listed for value in guarded_in(policy.guards, item.path, _text(item.path, texts[item.id]))
    )


def _text(path: str, data: bytes | None) -> str:
    if data is None:
        raise Blocked(f"a version of {path} is missing from the object store", "fetch it, then run again")
    return decode(data)
