"""Reading the files that rows name at the frozen commits: from the objects of the plugin and of the two sources.

Nothing is checked out, nothing is imported, and a source that lacks an object is said to, never taken as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from git_afd.adapters.objects import Objects, open_objects
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core import shape
from git_afd.core.names import REVISION_KEYS, UPSTREAMS, revision_key
from git_afd.core.source.world import World
from git_afd.core.state import Freeze
from git_afd.core.workbook.frozen import PLUGIN, Frozen, Place, survey
from git_afd.errors import Blocked


def frozen_files(session: Session, freeze: Freeze, places: Iterable[Place]) -> Frozen:
    """Return what the frozen commits hold at `places`. Raises Blocked when a source or an object is not there."""
    places = tuple(places)
    commits = commits_of(freeze)
    files: dict[tuple[str, str], tuple[str, bytes]] = {}
    for side in dict.fromkeys(place.side for place in places):
        paths = {place.path for place in places if place.side == side}
        objects, folder = _objects(session, freeze, side)
        found = _read(objects, folder, commits[side], paths)
        files |= {(side, path): item for path, item in found.items()}
    asked = any(place.side.endswith(".target") for place in places)
    return survey(commits, places, files, _targets(session, freeze, commits) if asked else None)


def commits_of(freeze: Freeze) -> dict[str, str]:
    """Return the full commit id of each side: the plugin's base and the four revisions."""
    return {PLUGIN: freeze.base, **{key: freeze.revisions[key].commit for key in REVISION_KEYS}}


def _objects(session: Session, freeze: Freeze, side: str) -> tuple[Objects, Path]:
    if side == PLUGIN:
        return open_objects(session.git, session.root), session.root
    upstream = side.rsplit(".", 1)[0]
    folder = Path(shape.text(shape.table(shape.table(freeze.body, "sources"), upstream), "path", ""))
    if not folder.is_dir():
        raise Blocked(f"the source of {upstream} is no longer at {folder}", "put it back, or freeze anew")
    return open_objects(session.git.at(folder), folder), folder


def _read(objects: Objects, folder: Path, commit: str, paths: Iterable[str]) -> Mapping[str, tuple[str, bytes]]:
    """Return blob id and bytes of those `paths` that the commit has as files."""
    listed = {entry.path: entry.id for entry in objects.entries(commit) if entry.kind == "blob"}
    wanted = {path: listed[path] for path in paths if path in listed}
    found = objects.blobs(wanted.values())
    missing = [path for path, name in wanted.items() if found.get(name) is None]
    if missing:
        raise Blocked(
            f"{folder} lacks {len(missing)} object(s) of commit {commit[:12]}; the first is {missing[0]}",
            f"git -C {folder} fetch --refetch",
        )
    return {path: (name, found[name] or b"") for path, name in wanted.items()}


def _targets(session: Session, freeze: Freeze, commits: Mapping[str, str]) -> World:
    """Return both upstreams at their target commits; a module is read when it is asked for."""
    sides = {name: revision_key(name, "target") for name in UPSTREAMS}
    objects = {side: _objects(session, freeze, side)[0] for side in sides.values()}
    return World({name: SourceTree(objects[side], commits[side]).tree({}) for name, side in sides.items()})
