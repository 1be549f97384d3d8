"""The judgement of a drawn commit, before anything is staged: what its hooks and the push will judge again."""

from __future__ import annotations

from pathlib import Path

from git_afd.actions.judge_content import Content, Doors, judge_content
from git_afd.adapters.analysis_cache import AnalysisCache
from git_afd.adapters.content import FILE_MODES
from git_afd.adapters.objects import open_objects
from git_afd.adapters.session import Session
from git_afd.core.blueprint import Blueprint, TreeChange
from git_afd.core.outcome import Json, Outcome
from git_afd.core.patch_checks.refused import Judged
from git_afd.core.policy import Policy
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked, Exit


def judge_commit(session: Session, up: Upgrade, policy: Policy, blueprint: Blueprint, *, kept: bool) -> Judged:
    """Judge the content that a blueprint commits; `kept` says that its objects are in the repository's store.

    A dry run keeps none: then the work tree is read as it lies there, before clean filters.
    """
    objects = open_objects(session.git, session.root)
    files = [change for change in blueprint.changes if change.mode in FILE_MODES]
    if kept:
        blobs = objects.blobs(change.blob for change in files)
        found = {change.path: blobs[change.blob] for change in files}
    else:
        found = {change.path: _on_disk(session.root, change) for change in files}
    lost = next((path for path, data in found.items() if data is None), None)
    if lost is not None:
        raise Blocked(f"{lost} cannot be read again after it was drawn", "run the same command again")
    now = {change.path: found.get(change.path) for change in blueprint.changes}
    doors = Doors(session.git, objects, open_objects, AnalysisCache(session.common_dir, writes=kept))
    return judge_content(doors, up, policy, Content(blueprint.parent, up.freeze.base, now))


def refusal(root_cause: str, judgement: Judged, way: str) -> Outcome:
    """Return the answer of a command that will not make this commit: everything that is wrong with it."""
    data: dict[str, Json] = {"root_cause": root_cause, "commit": "", "way": way, "difference": ""}
    findings = (*judgement.refused, *judgement.warned)
    again = f"git afd commit --root-cause {root_cause}"
    return Outcome("commit", data, findings, again, Exit.REFUSED)


def _on_disk(root: Path, change: TreeChange) -> bytes | None:
    try:
        return (root / change.path).read_bytes()
    except OSError:
        return None
