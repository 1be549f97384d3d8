"""Where the target worktrees go, and which provided checkout serves as its own target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from git_afd.actions.freeze.asked import Asked
from git_afd.adapters.git import Git
from git_afd.adapters.making import Making, Target
from git_afd.adapters.pins import pin_name
from git_afd.adapters.revisions import Resolved
from git_afd.adapters.session import Session
from git_afd.core.names import revision_key
from git_afd.errors import Refused


def worktree_folder(session: Session, asked: Path | None) -> Path:
    """Return the folder of target worktrees. Raises Refused for one inside a work tree or a git dir.

    The default lies in the plugin's common git dir: there it can be neither tracked nor untracked, no clean of
    the work tree reaches it, every worktree of the plugin shares it, it goes when the clone goes, and two clones
    never meet. Beside the plugin it would stand in a folder that is not ours and might be another repository.
    """
    if asked is None:
        return session.ledger.home / "worktrees"
    folder = asked.resolve()
    there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    inside = Git(there).run("rev-parse", "--is-inside-work-tree", "--is-inside-git-dir")
    if inside.ok and "true" in inside.text.split() and not folder.is_relative_to(session.ledger.home):
        raise Refused(f"{folder} lies inside a git repository, where worktrees do not belong", "--worktrees ELSEWHERE")
    return folder


def planned(session: Session, upgrade: str, asked: Asked, commits: Mapping[str, Resolved]) -> Making:
    """Return everything that will be added: worktrees for targets that no provided checkout stands at, pins, folders.

    `commits` has the keys of REVISION_KEYS. Raises Refused when a worktree's place is taken.
    """
    sources, targets = asked.sources, []
    for upstream, source in sources.items():
        if not asked.serves(upstream):
            commit = asked.targets[upstream].commit
            path = asked.folder / f"{upgrade}-{upstream}"
            if path.is_symlink() or path.exists():
                raise Refused(
                    f"{path} exists already and is no worktree of this freeze", "move it away, or --worktrees"
                )
            targets.append(
                Target(upstream, str(source.path), commit, str(path), lock_reason(session, upgrade, upstream))
            )
    return Making(
        upgrade=upgrade,
        sources={upstream: str(source.path) for upstream, source in sources.items()},
        targets=tuple(targets),
        pins={upstream: _pins(upgrade, upstream, commits) for upstream in sources},
        folders=absent_folders(asked.folder) if targets else (),
    )


def lock_reason(session: Session, upgrade: str, upstream: str) -> str:
    """Return the reason that locks a worktree of ours, and by which it is known as ours."""
    return f"git-afd: {upstream} target of {upgrade} for {session.common_dir}"


def _pins(upgrade: str, upstream: str, commits: Mapping[str, Resolved]) -> dict[str, str]:
    sides = ("current", "target")
    return {pin_name(upgrade, upstream, side): commits[revision_key(upstream, side)].commit for side in sides}


def absent_folders(folder: Path) -> tuple[str, ...]:
    """List the folders that have to be made for `folder` to exist, outermost first."""
    return tuple(str(one) for one in (*reversed(folder.parents), folder) if not one.exists())


def is_gone(path: Path) -> bool:
    """Say whether nothing stands at a place, or an empty folder."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))
