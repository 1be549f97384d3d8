"""The upstreams at a revision: where their objects are, what their commits are called, their packages to read from.

Standard library only (libgit2 is asked for by whoever opens the objects): the hooks read upstreams too.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from git_afd.adapters.git import Git
from git_afd.adapters.objects import Objects, open_objects
from git_afd.adapters.revisions import tags_at
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core import shape
from git_afd.core.names import PACKAGES, UPSTREAMS, revision_key
from git_afd.core.source.versions import Versions
from git_afd.core.state import Freeze
from git_afd.errors import Blocked

_RELEASE: Final = re.compile(r"(?:refs/tags/)?v?(\d+\.\d+\.\d+\S*)\Z")

Reader = Callable[[Git, Path], Objects]
"""Opens the objects of the repository at a place, as :func:`git_afd.adapters.objects.open_objects` does."""


@dataclass(frozen=True, slots=True)
class Revision:
    """An upstream at one commit: the repository that holds it, the commit (full id), the ref as given."""

    git: Git
    folder: Path
    commit: str
    ref: str
    _tags: list[str] = field(default_factory=list, compare=False, repr=False)

    def names(self) -> tuple[str, ...]:
        """Return what this commit may be called: the ref, its tags, its id. Git is asked once."""
        if not self._tags:
            tags = (tag.removeprefix("refs/tags/") for tag in tags_at(self.git, self.commit))
            self._tags.extend((*tags, self.commit))
        return tuple(dict.fromkeys((self.ref, *self._tags)))


Revisions = Mapping[str, Revision]
"""Upstream name to its revision at one side."""


def frozen_revisions(git: Git, freeze: Freeze, side: str = "current") -> dict[str, Revision]:
    """Return both upstreams at a side of the freeze. Raises Blocked when a source is no longer there."""
    found: dict[str, Revision] = {}
    for name in UPSTREAMS:
        folder = Path(shape.text(shape.table(shape.table(freeze.body, "sources"), name), "path", ""))
        if not folder.is_dir():
            raise Blocked(f"the source of {name} is no longer at {folder}", "put it back, or freeze anew")
        revision = freeze.revisions[revision_key(name, side)]
        found[name] = Revision(git.at(folder), folder, revision.commit, revision.ref)
    return found


def packages_of(revisions: Revisions, reader: Reader = open_objects) -> dict[str, SourceTree]:
    """Return the upstreams' packages at their commits, read on demand."""
    return {
        name: SourceTree(reader(revision.git, revision.folder), revision.commit, PACKAGES[name])
        for name, revision in revisions.items()
    }


def versions_of(names: Mapping[str, tuple[str, ...]]) -> Versions:
    """Return the released versions that the upstreams' commits carry, for ``vllm_version_is`` tests."""
    found: dict[str, str] = {}
    for name, called in names.items():
        releases = [match[1] for item in called if (match := _RELEASE.match(item))]
        if releases:
            found[name] = releases[0]
    return found


@contextmanager
def few_collections() -> Iterator[None]:
    """Keep the garbage collector from walking syntax trees again and again: they hold no cycles worth finding."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
