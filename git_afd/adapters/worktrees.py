"""Our detached worktrees of the sources: added, verified, and removed by exactly what makes them ours.

Git adds them (libgit2 cannot add a detached one). They are locked with a reason that names the upgrade: a plain
``git worktree prune``, from inside a container for instance, must not unregister them, and the reason is how we
know our own. Nothing here prunes, forces or resets: what is removed is removed file by file, and a file that
git did not put there stays, with everything above it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from git_afd.adapters.git import Git, git_fault
from git_afd.adapters.objects import open_objects
from git_afd.adapters.sources import Source
from git_afd.core.few import few
from git_afd.errors import Conflict, EnvironmentFault, Refused


@dataclass(frozen=True, slots=True)
class Registration:
    """One registered worktree: its folder below ``worktrees/``, the directory it names, its lock's reason."""

    admin: Path
    path: Path | None
    locked: str | None


def registrations(common_dir: Path) -> tuple[Registration, ...]:
    """List the worktrees registered in a repository, also half-made ones, from the files that git keeps."""
    home = common_dir / "worktrees"
    found = sorted(home.iterdir()) if home.is_dir() else []
    return tuple(Registration(admin, _named(admin), _content(admin / "locked")) for admin in found if admin.is_dir())


def registered(common_dir: Path, path: Path) -> Registration | None:
    """Return the registration that names the directory `path`, None when there is none."""
    wanted = os.path.realpath(path)
    return next((one for one in registrations(common_dir) if one.path and os.path.realpath(one.path) == wanted), None)


def add_worktree(source: Source, commit: str, path: Path, reason: str) -> None:
    """Add a locked, detached worktree of `source` at a commit (full id). No branch appears and no hook runs.

    Raises EnvironmentFault with git's own reason; what a failure leaves is for :func:`take_back`.
    """
    words = ("worktree", "add", "--quiet", "--detach", "--no-checkout", "--lock", "--reason", reason, str(path), commit)
    added = source.git.run(*words, locks=True)
    if not added.ok:
        raise git_fault(added, words, source.path)
    # Its own directory only: a source that is sparse must not make a sparse target.
    here = Git(path, config=(*source.git.config, "core.sparseCheckout=false"))
    filled = here.run("checkout", "--quiet", "--detach", commit, "--", env={"GIT_LFS_SKIP_SMUDGE": "1"}, locks=True)
    if not filled.ok:
        raise git_fault(filled, ("checkout", commit), path)


def verify_worktree(source: Source, commit: str, tree: str, path: Path) -> str:
    """Prove that `path` is a detached worktree of `source` that holds the commit and tree (full ids), to the file.

    Returns the name of the reader that vouches for it. Raises Conflict naming what is otherwise.
    """
    registration = registered(source.common_dir, path)
    if registration is None or _named_back(path) != os.path.realpath(registration.admin):
        raise Conflict(f"{path} and {source.path} do not name each other as worktree and repository", "run it again")
    here = Git(path, config=source.git.config)
    objects = open_objects(here, path)
    head = objects.head()
    if (head.commit, head.tree, head.detached, head.index_equal) != (commit, tree, True, True):
        raise Conflict(f"{path} does not hold commit {commit[:12]} with a detached HEAD", "run it again")
    moved = here.run("diff-files", "--quiet", "--ignore-submodules=all")
    if not moved.ok:
        raise Conflict(f"the files of {path} are not those of commit {commit[:12]}", "run it again")
    return objects.name


def unclean(git: Git) -> tuple[str, ...]:
    """List what a worktree holds otherwise than its commit: changed, deleted, untracked and ignored paths.

    `git` stands in the worktree, with its source's settings: pointers of large files are no changes.
    """
    return tuple(item[3:] for item in _status(git))


def _status(git: Git) -> list[str]:
    words = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored", "--no-renames")
    result = git.run(*words, "--ignore-submodules=none")
    if not result.ok:
        raise git_fault(result, words, git.cwd)
    return result.fields()


def insist_removable(source: Source, path: Path, reason: str) -> Registration:
    """Return the registration of a worktree that may be removed: ours by its lock, both name each other, and clean.

    Raises Refused naming what is in the way.
    """
    registration = registered(source.common_dir, path)
    if registration is None or registration.locked != reason:
        message = f"{path} is not registered in {source.path} as a worktree of this upgrade"
        raise Refused(message, "git afd worktree list shows where it stands")
    if not path.is_dir():
        message = f"{path} is not there; seen from another machine or container it may be"
        raise Refused(message, "git afd freeze puts it back; then it can be removed")
    if _named_back(path) != os.path.realpath(registration.admin):
        raise Refused(f"{path} does not name its registration {registration.admin}", f"git -C {path} worktree repair")
    # a file that is gone holds no work: a removal that was stopped half-way can be taken up again
    held = [item[3:] for item in _status(Git(path, config=source.git.config)) if item[:2] != " D"]
    if held:
        raise Refused(f"{path} holds {few(held)} besides its commit", "move it away, then run it again")
    filled = [item for item in _submodules(source, path) if _holds_something(path / item)]
    if filled:
        raise Refused(f"{path} holds a submodule that was filled: {filled[0]}", "git submodule deinit it there first")
    return registration


def remove_worktree(source: Source, path: Path, reason: str) -> None:
    """Remove one worktree of ours and its registration, when :func:`insist_removable` allows it.

    Git's own removal takes ignored files along without a word, and everything once it is forced (which a submodule
    can ask for, and vLLM-Ascend has one); hence by our own hand, and only files that git has put there.
    Raises Refused naming what is in the way; a file that appears meanwhile stays.
    """
    registration = insist_removable(source, path, reason)
    listed = Git(path, config=source.git.config)("ls-files", "-z").split("\0")
    left = _remove_files(path, (item for item in listed if item))
    if left:
        raise Refused(f"{left[0]} appeared meanwhile and stays", "move it away, then run it again")
    _unregister(registration)


def take_back(source: Source, commit: str, path: Path, reason: str) -> tuple[str, ...]:
    """Remove what an unfinished :func:`add_worktree` left; return what stays because git did not put it there.

    For calls that this process, or a killed one by its marker, is known to have begun; `commit` is a full id.
    """
    mine = [one for one in registrations(source.common_dir) if _is_mine(one, path, reason)]
    left: tuple[str, ...] = ()
    if path.is_dir():
        if not _may_be_ours(path, mine):
            return (str(path),)
        left = _remove_files(path, (entry.path for entry in source.objects.entries(commit)))
    if not left:
        for registration in mine:
            _unregister(registration)
    return left


def _submodules(source: Source, path: Path) -> list[str]:
    staged = Git(path, config=source.git.config)("ls-files", "-z", "--stage").split("\0")
    return [item.split("\t", 1)[1] for item in staged if item.startswith("160000 ")]


def _holds_something(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _is_mine(registration: Registration, path: Path, reason: str) -> bool:
    """Say whether an unfinished registration is ours: by its lock, else (killed before that) empty and of our name."""
    if registration.locked is not None:
        return registration.locked == reason
    return registration.admin.name.startswith(path.name) and not any(registration.admin.iterdir())


def _may_be_ours(path: Path, mine: Iterable[Registration]) -> bool:
    """Say whether a directory is empty or points to a registration of ours."""
    back = _named_back(path)
    return not any(path.iterdir()) or back in [os.path.realpath(one.admin) for one in mine]


def _named(admin: Path) -> Path | None:
    """Return the directory that a registration names; a relative one is relative to the registration."""
    text = _content(admin / "gitdir")
    return Path(os.path.normpath(admin / text)).parent if text else None


def _named_back(path: Path) -> str:
    """Return the registration that a worktree's ``.git`` file names, resolved; empty when it names none."""
    text = _content(path / ".git") or ""
    return os.path.realpath(path / text.removeprefix("gitdir: ")) if text.startswith("gitdir: ") else ""


def _content(file: Path) -> str | None:
    try:
        return os.fsdecode(file.read_bytes()).removesuffix("\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise EnvironmentFault(f"{file} cannot be read: {error.strerror}", "check its permissions") from error


def _remove_files(top: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Remove the files `paths` (relative) below `top`, its ``.git`` file last, and the folders that are empty then."""
    folders: set[Path] = set()
    for name in paths:
        file = top / name
        folders.update(parent for parent in (file, *file.parents) if top in parent.parents)
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            if not _beyond_link(top, file):
                file.unlink()
    for folder in sorted(folders, key=lambda item: len(item.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()  # a path that was a file is gone; a submodule's empty folder goes like any other
    left = tuple(str(item) for item in _left(top))
    if not left:
        with suppress(FileNotFoundError):
            (top / ".git").unlink()
        with suppress(FileNotFoundError):
            top.rmdir()
    return left


def _beyond_link(top: Path, file: Path) -> bool:
    return any(parent.is_symlink() for parent in file.parents if top in parent.parents)


def _left(top: Path) -> Iterator[Path]:
    for item in top.iterdir() if top.is_dir() else ():
        if item.name != ".git":
            yield item


def _unregister(registration: Registration) -> None:
    """Remove exactly one registration, and the folder of registrations when it was the only one (as git does)."""
    shutil.rmtree(registration.admin)
    with suppress(OSError):
        registration.admin.parent.rmdir()
