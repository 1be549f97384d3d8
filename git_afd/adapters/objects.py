"""Reading objects by full id, in bulk: through libgit2 where it can open the repository, else through git itself.

libgit2 reads blobs in about half of git's time, and refuses SHA-256 and reftable repositories, partial clones and
sparse or split indexes. Which of the two reads is decided once, when the repository is opened; both give the same
answers (tests compare them). Names are resolved by git, never here: libgit2 disagrees on short ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from git_afd.adapters.content import Entry, entries
from git_afd.adapters.git import Git, decode, encode
from git_afd.errors import Blocked, EnvironmentFault

if TYPE_CHECKING:
    import pygit2

_BLOB: Final = 3
"""A blob's number among git's kinds of objects (gitformat-pack)."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a work tree stands: HEAD's commit and tree (full ids), whether detached, whether its index is that tree."""

    commit: str
    tree: str
    detached: bool
    index_equal: bool


class Objects(Protocol):
    """What can be read of a repository, whoever reads it."""

    @property
    def name(self) -> str:
        """Who reads: ``libgit2`` or ``git``."""
        ...

    def entries(self, commit: str, inside: str = "") -> tuple[Entry, ...]:
        """List every file of a commit (full id), recursively, in git's order. Raises Blocked when one is missing.

        `inside` is the one folder or file that is listed; it may be absent.
        """
        ...

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes | None]:
        """Return the bytes of blobs by full id; None for what is missing or no blob."""
        ...

    def head(self) -> Head:
        """Say where this work tree stands. Raises EnvironmentFault when HEAD names no commit."""
        ...


def open_objects(git: Git, place: Path) -> Objects:
    """Return the reader for the repository at `place` (its work tree or git dir): libgit2's if it can, else git's."""
    import pygit2

    try:
        found = pygit2.Repository(str(place), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        if not found.is_bare:
            found.index.read()
    except (pygit2.GitError, ValueError, OSError, KeyError):
        # it names the extension, version or index format that it does not know in an error of no certain class
        return ProgramObjects(git)
    return LibraryObjects(found)


@dataclass(frozen=True, slots=True)
class LibraryObjects:
    """The reader through libgit2."""

    repository: pygit2.Repository
    name: str = "libgit2"

    def entries(self, commit: str, inside: str = "") -> tuple[Entry, ...]:
        """See :class:`Objects`."""
        import pygit2

        try:
            found: pygit2.Object = self.repository[commit].peel(pygit2.Tree)
            for part in inside.split("/") if inside else ():
                if not isinstance(found, pygit2.Tree) or part not in found:
                    return ()
                found = found[part]
            prefix = encode(f"{inside}/") if inside else b""
            return tuple(_listed(found, prefix)) if isinstance(found, pygit2.Tree) else (_entry(found, inside),)
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise _unlisted(commit) from error

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes | None]:
        """See :class:`Objects`."""
        return {name: self._blob(name) for name in ids}

    def _blob(self, name: str) -> bytes | None:
        """Read one blob. The raw read takes a third of the time of an object that is looked up and wrapped."""
        try:
            kind, data = self.repository.read(name)
        except (KeyError, ValueError):
            return None
        return data if kind == _BLOB else None

    def head(self) -> Head:
        """See :class:`Objects`."""
        import pygit2

        try:
            commit = self.repository.head.peel(pygit2.Commit)
        except (KeyError, pygit2.GitError) as error:
            raise EnvironmentFault(
                f"HEAD of {self.repository.path} names no commit", "look at it with git log"
            ) from error
        difference = commit.tree.diff_to_index(self.repository.index)
        detached = self.repository.head_is_detached
        return Head(str(commit.id), str(commit.tree_id), detached, not len(difference))


@dataclass(frozen=True, slots=True)
class ProgramObjects:
    """The reader through the git program."""

    git: Git
    name: str = "git"

    def entries(self, commit: str, inside: str = "") -> tuple[Entry, ...]:
        """See :class:`Objects`."""
        try:
            return entries(self.git, commit, inside)
        except (EnvironmentFault, Blocked) as error:
            raise _unlisted(commit) from error

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes | None]:
        """See :class:`Objects`. A partial clone is not asked to fetch: what is missing is for the caller to bring."""
        wanted = list(dict.fromkeys(ids))
        request = "".join(f"{name}\n" for name in wanted).encode()
        data = self.git.run("cat-file", "--batch", input=request, env={"GIT_NO_LAZY_FETCH": "1"}).stdout
        found: dict[str, bytes | None] = {}
        at = 0
        for name in wanted:
            end = data.find(b"\n", at)
            words = data[at:end].split() if end >= 0 else []
            at = end + 1 if end >= 0 else len(data)
            found[name] = None
            if len(words) == 3:  # noqa: PLR2004 - "<id> <type> <size>"
                size = int(words[2])
                found[name] = data[at : at + size] if words[1] == b"blob" else None
                at += size + 1
        return found

    def head(self) -> Head:
        """See :class:`Objects`."""
        ids = self.git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not ids.ok:
            raise EnvironmentFault(f"HEAD of {self.git.cwd} names no commit", "look at it with git log")
        tree = self.git("rev-parse", "--verify", "HEAD^{tree}")
        detached = not self.git.run("symbolic-ref", "--quiet", "HEAD").ok
        equal = self.git.run("diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--").ok
        return Head(ids.text, tree, detached, equal)


def _unlisted(commit: str) -> Blocked:
    return Blocked(
        f"the files of commit {commit[:12]} cannot be listed: objects are missing", "fetch it, then run again"
    )


def _listed(tree: pygit2.Tree, folder: bytes) -> Iterable[Entry]:
    import pygit2

    for item in tree:
        path = folder + (item.raw_name or b"")
        if isinstance(item, pygit2.Tree):
            yield from _listed(item, path + b"/")
        else:
            yield _entry(item, decode(path))


def _entry(item: pygit2.Object, path: str) -> Entry:
    return Entry(f"{int(item.filemode or 0):06o}", item.type_str, str(item.id), path)
