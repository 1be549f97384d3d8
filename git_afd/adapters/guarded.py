"""Reading the values that the policy guards from the files of a commit."""

from __future__ import annotations

from collections.abc import Iterable

from git_afd.adapters.git import decode
from git_afd.adapters.objects import Objects, open_objects
from git_afd.adapters.session import Session
from git_afd.core.guards import GuardChange, Guarded, changed_values, guarded_in, new_skips
from git_afd.core.policy import Policy, fits
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked


def guarded_at(objects: Objects, commit: str, policy: Policy) -> tuple[Guarded, ...]:
    """Return every guarded value at a commit (full id), by path and line. Raises Blocked when a file is missing."""
    globs = [guard.path for guard in policy.guards]
    listed = [item for item in objects.entries(commit) if item.kind == "blob" and fits(item.path, globs)]
    texts = objects.blobs({item.id for item in listed})
    return tuple(
        value for item in listed for value in guarded_in(policy.guards, item.path, _text(item.path, texts[item.id]))
    )


def guard_changes(session: Session, up: Upgrade, paths: Iterable[str]) -> tuple[GuardChange, ...]:
    """Return the guarded values that are not as at the freeze, in HEAD with `paths` as they lie in the work tree."""
    policy = session.policy(up).policy
    objects = open_objects(session.git, session.root)
    then, head = (guarded_at(objects, commit, policy) for commit in (up.freeze.base, session.head or up.freeze.base))
    mine = {path for path in paths if fits(path, [guard.path for guard in policy.guards])}
    now = (
        *(item for item in head if item.path not in mine),
        *(item for path in sorted(mine) for item in guarded_in(policy.guards, path, _on_disk(session, path))),
    )
    found = (*changed_values(then, now, ("threshold", "tolerance")), *new_skips(then, now), *new_skips(head, now))
    return tuple({item.subject: item for item in found}.values())


def _on_disk(session: Session, path: str) -> str:
    try:
        return decode((session.root / path).read_bytes())
    except OSError:
        return ""


def _text(path: str, data: bytes | None) -> str:
    if data is None:
        raise Blocked(f"a version of {path} is missing from the object store", "fetch it, then run again")
    return decode(data)
