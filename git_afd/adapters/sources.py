"""A source repository that the user provided: looked at, never changed but for worktree registrations and pins."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from git_afd.adapters.git import Git, git_fault
from git_afd.adapters.objects import Objects, open_objects
from git_afd.adapters.untouched import Fingerprint, fingerprint
from git_afd.errors import EnvironmentFault

# Settings of every git call in a source. None of its hooks runs (update-ref has one too), pins get no log, no
# file-system monitor is started, large checkouts use every core, and large files stay pointers: neither is the
# LFS program called nor is one required.
_QUIET: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.logAllRefUpdates=false",
    "checkout.workers=0",
    "filter.lfs.smudge=",
    "filter.lfs.process=",
    "filter.lfs.required=false",
)


@dataclass(frozen=True, slots=True)
class Source:
    """A provided repository. `root` is its work tree's top, None when bare; `git_dir` and `common_dir` as git says.

    `head` is the full id of HEAD (None when unborn), `branch` its short name (None when detached); `promisor` is
    the remote of a partial clone, empty when it is none.
    """

    upstream: str
    git: Git
    root: Path | None
    git_dir: Path
    common_dir: Path
    head: str | None
    branch: str | None
    shallow: bool
    sparse: bool
    promisor: str
    objects: Objects

    @property
    def path(self) -> Path:
        """The directory that names it."""
        return self.root or self.git_dir

    def fingerprint(self) -> Fingerprint:
        """Take its fingerprint; where refs are no files (reftable), they are asked for by name."""
        found = fingerprint(self.root, self.common_dir)
        if not (self.common_dir / "reftable").is_dir():
            return found
        listed = self.git("for-each-ref", "--format=%(refname) %(objectname) %(symref)").splitlines()
        refs = dict(line.split(" ", 1) for line in listed)
        head = _text(self.git, "symbolic-ref", "--quiet", "HEAD") or self.head or ""
        named = {f"git:{name}": (said,) for name, said in {**refs, "HEAD as read": head}.items()}
        return Fingerprint({**found.without(("git:reftable",)).facts, **named})

    def dirty(self) -> tuple[str, ...]:
        """List the paths that `git status` lists; none in a bare repository."""
        if self.root is None:
            return ()
        with _private_index(self) as git:
            return tuple(dirty_paths(git))


def open_source(upstream: str, directory: Path) -> Source:
    """Open the repository at `directory`, which must be its top (or a bare repository).

    Raises EnvironmentFault when it is none, or when git cannot use it.
    """
    flag = f"--source {upstream}=DIR"
    directory = directory.resolve()
    if not directory.is_dir():
        raise EnvironmentFault(f"the source of {upstream}, {directory}, is not a directory", f"name a clone: {flag}")
    git = Git(directory, config=_QUIET)
    asked = ("--is-bare-repository", "--is-shallow-repository", "--git-dir", "--git-common-dir")
    found = git.run("rev-parse", "--path-format=absolute", *asked)
    if not found.ok:
        fault = git_fault(found, ("rev-parse",), directory)
        if "not a git repository" in found.reason:
            fault = EnvironmentFault(
                f"the source of {upstream}, {directory}, is no git repository", f"clone it: {flag}"
            )
        raise fault
    bare, shallow, git_dir, common_dir = found.text.split("\n")
    root = None if bare == "true" else _root(git, upstream, directory)
    if root is None:
        git = Git(Path(git_dir), place=(f"--git-dir={git_dir}",), config=_QUIET)
    settings = _settings(git)
    return Source(
        upstream=upstream,
        git=git,
        root=root,
        git_dir=Path(git_dir),
        common_dir=Path(common_dir).resolve(),
        head=_text(git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") or None,
        branch=_text(git, "symbolic-ref", "--quiet", "--short", "HEAD") or None,
        shallow=shallow == "true",
        sparse=settings.get("core.sparsecheckout", "false").lower() in ("true", "yes", "on", "1", ""),
        promisor=_promisor(settings),
        objects=open_objects(git, root or Path(git_dir)),
    )


def dirty_paths(git: Git) -> list[str]:
    """List what `git status` would list, without refreshing the index (porcelain v2, ``-z``, no renames)."""
    words = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")
    result = git.run(*words)
    if not result.ok:
        raise git_fault(result, words, git.cwd)
    return [_path_of(item) for item in result.fields() if item[:2] in ("1 ", "u ", "? ")]


@contextmanager
def _private_index(source: Source) -> Iterator[Git]:
    """Give a door that reads copies of the index: git marks the shared part of a split one as used when it reads it."""
    parts = sorted(source.git_dir.glob("sharedindex.*"))
    if not parts or source.root is None:
        yield source.git
        return
    with TemporaryDirectory() as folder:
        for part in (*parts, *(source.git_dir / name for name in ("HEAD", "index", "config.worktree"))):
            if part.is_file():
                shutil.copy2(part, folder)
        if (source.git_dir / "info").is_dir():
            shutil.copytree(source.git_dir / "info", Path(folder) / "info")
        (Path(folder) / "commondir").write_bytes(os.fsencode(source.common_dir) + b"\n")
        place = (f"--git-dir={folder}", f"--work-tree={source.root}")
        yield replace(source.git, place=place)


def missing_blobs(source: Source, commit: str) -> set[str]:
    """Return the blobs (full ids) of a commit that a partial clone does not hold; nothing for any other clone."""
    if not source.promisor:
        return set()
    listed = source.git("rev-list", "--objects", "--missing=print", "--no-walk", commit)
    return {line[1:] for line in listed.splitlines() if line.startswith("?")}


def bring(source: Source, blobs: Iterable[str]) -> bool:
    """Fetch blobs (full ids) of a partial clone in one batch, as git itself would one by one; say whether it worked."""
    wanted = "".join(f"{name}\n" for name in blobs).encode()
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no")
    config = ("fetch.negotiationAlgorithm=noop",)
    words = ("fetch", *options, "--filter=blob:none", "--stdin", source.promisor)
    return source.git.run(*words, input=wanted, locks=True, config=config).ok


def _root(git: Git, upstream: str, directory: Path) -> Path:
    top = git.run("rev-parse", "--path-format=absolute", "--show-toplevel")
    if not top.ok:
        raise EnvironmentFault(
            f"the source of {upstream}, {directory}, is a git dir, not a checkout",
            "name its work tree, or a bare clone",
        )
    if Path(top.text).resolve() != directory.resolve():
        message = f"the source of {upstream}, {directory}, is only a folder inside the repository {top.text}"
        raise EnvironmentFault(message, f"name the clone of {upstream} itself: --source {upstream}=DIR")
    return Path(top.text)


def _settings(git: Git) -> dict[str, str]:
    """Return the settings that say which kind of clone it is, in one call; a key without a value has an empty one."""
    asked = r"^(core\.sparsecheckout|extensions\.partialclone|remote\..*\.promisor)$"
    fields = git.run("config", "--null", "--get-regexp", asked).fields()
    return {key: value for key, _, value in (field.partition("\n") for field in fields)}


def _promisor(settings: Mapping[str, str]) -> str:
    named = settings.get("extensions.partialclone", "")
    marked = [key for key, value in settings.items() if key.endswith(".promisor") and value.lower() != "false"]
    remotes = [key.removeprefix("remote.").removesuffix(".promisor") for key in marked]
    return named or next(iter(remotes), "")


def _text(git: Git, *words: str) -> str:
    result = git.run(*words)
    return result.text if result.ok else ""


def _path_of(item: str) -> str:
    """Return the path of a porcelain v2 entry: it stands last, after 8 fields (ordinary) or 10 (unmerged)."""
    return item[2:] if item[0] == "?" else item.split(" ", 8 if item[0] == "1" else 10)[-1]
