"""The frozen targets at hand, and the patch checks against them: asked of the commit each time a run is judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from git_afd.actions.check_patches import check_patches
from git_afd.adapters.objects import open_objects
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import Revision, frozen_revisions
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.evidence.checks import PatchAnswer
from git_afd.core.finding import Finding
from git_afd.core.hook_rules import PATCH_WORDS
from git_afd.core.names import UPSTREAMS, revision_key
from git_afd.core.patch_checks.model import Checked
from git_afd.core.source.definitions import Unreadable
from git_afd.core.state import Upgrade
from git_afd.errors import AfdError, Blocked

_WORDS = tuple(word.encode() for word in PATCH_WORDS)


def targets_at_hand(session: Session, up: Upgrade, trees: Mapping[str, str]) -> dict[str, Revision]:
    """Return both upstreams at their frozen targets, from the sources of the freeze or else from `trees`.

    On another host the target trees stand where the run was told they are; the frozen ids name the same objects
    there. Raises Blocked when neither is there.
    """
    try:
        return frozen_revisions(session.git, up.freeze, "target")
    except Blocked:
        if not all(Path(trees.get(name, "/dev/null")).is_dir() for name in UPSTREAMS):
            raise
    found: dict[str, Revision] = {}
    for name in UPSTREAMS:
        frozen, folder = up.freeze.revisions[revision_key(name, "target")], Path(trees[name])
        found[name] = Revision(session.git.at(folder), folder, frozen.commit, frozen.ref)
    return found


def patches_at(session: Session, up: Upgrade, commit: str, trees: Mapping[str, str]) -> PatchAnswer:
    """Check every production file of a commit (full id) that holds something of an upstream.

    Lines count as added when the frozen base has not got them. Returns what was found, or why it cannot be known.
    """
    try:
        return _patches(session, up, commit, targets_at_hand(session, up, trees))
    except AfdError as fault:
        return fault.message


def _patches(session: Session, up: Upgrade, commit: str, targets: Mapping[str, Revision]) -> Checked:
    policy = session.policy(up).policy
    objects = open_objects(session.git, session.root)
    held, base = SourceTree(objects, commit), SourceTree(objects, up.freeze.base)
    listed = [path for path in held.ids if policy.kind_of(path) == "production"]
    held.read(listed)
    wanted = [path for path in listed if any(word in (held.data(path) or b"PATCH") for word in _WORDS)]
    base.read(path for path in wanted if path in base.ids)
    texts = {path: held.text(path) for path in wanted}
    files = {path: (_plain(text), _then(base, path)) for path, text in texts.items() if isinstance(text, str)}
    wrong = [
        Finding("patch-unparsable", path, f"{path} cannot be read: {text.reason}", "mend it")
        for path, text in texts.items()
        if isinstance(text, Unreadable)
    ]
    checked = check_patches(files, held, targets, {})
    return Checked((*checked.findings, *wrong), checked.not_checked, checked.functions, checked.touched)


def _then(base: SourceTree, path: str) -> str | None:
    text = base.text(path) if path in base.ids else None
    return _plain(text) if isinstance(text, str) else None


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
