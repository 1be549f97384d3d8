"""Reading files of a commit as texts, by path; in a partial clone the missing ones are brought in one batch first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from git_afd.adapters.content import Entry, parsed
from git_afd.adapters.objects import Objects
from git_afd.adapters.sources import Source, bring, missing_blobs
from git_afd.errors import Blocked

Wanted = Callable[[Iterable[str]], Iterable[str]]
"""Chooses, from all paths of a commit, those to read."""


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """Reads texts of commits and keeps the listings; with `fetch` off (a dry run) nothing is brought."""

    fetch: bool = True
    listings: dict[tuple[str, str], tuple[Entry, ...]] = field(default_factory=dict)

    def __call__(self, source: Source, commit: str, wanted: Wanted) -> dict[str, str]:
        """Return path and text of the wanted files of a source's commit (full id). Raises Blocked with the count."""
        key = (source.upstream, commit)
        if key not in self.listings:
            self.listings[key] = source.objects.entries(commit)
        chosen = choose(self.listings[key], wanted)
        insist_present(source, commit, [entry.id for entry in chosen], fetch=self.fetch)
        return texts_of(source.objects, chosen)

    def exactly(self, source: Source, commit: str, paths: Iterable[str]) -> dict[str, str]:
        """Return those of the named files that a source's commit (full id) holds, without listing everything."""
        wanted = tuple(paths)
        listed = source.git("ls-tree", "-z", "--full-tree", commit, "--", *wanted)
        chosen = choose(parsed(listed), lambda found: found)
        insist_present(source, commit, [entry.id for entry in chosen], fetch=self.fetch)
        return texts_of(source.objects, chosen)


def choose(listed: Iterable[Entry], wanted: Wanted) -> list[Entry]:
    """Return the files among `listed` whose paths are wanted; submodules are no files."""
    files = [entry for entry in listed if entry.kind == "blob"]
    paths = set(wanted(entry.path for entry in files))
    return [entry for entry in files if entry.path in paths]


def texts_of(objects: Objects, chosen: Iterable[Entry]) -> dict[str, str]:
    """Read files as texts; bytes that are no UTF-8 are shown as such. Raises Blocked when one is missing."""
    chosen = tuple(chosen)
    found = objects.blobs(entry.id for entry in chosen)
    lost = [entry.path for entry in chosen if found[entry.id] is None]
    if lost:
        raise Blocked(f"{len(lost)} file(s) are missing from the object store, {lost[0]} first", "git fsck, then fetch")
    return {entry.path: (found[entry.id] or b"").decode("utf-8", "replace") for entry in chosen}


def insist_present(source: Source, commit: str, ids: Iterable[str], *, fetch: bool) -> None:
    """Bring what a partial clone lacks of these blobs of a commit (full ids). Raises Blocked with the count."""
    lacking = missing_blobs(source, commit) & set(ids)
    if not lacking or (fetch and bring(source, sorted(lacking))):
        return
    told = "cannot be fetched" if fetch else "are not fetched in a dry run"
    raise Blocked(
        f"{len(lacking)} file(s) of {source.upstream} {commit[:12]} are missing in the partial clone {source.path}, "
        f"and {told}",
        f"make {source.promisor} reachable: git -C {source.path} fetch {source.promisor}",
    )
