"""Opening what an analysis reads: the plugin at a commit and both upstreams at a side, from git objects, on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from git_afd.actions.reading_ahead import Shelf
from git_afd.adapters.analysis_cache import AnalysisCache
from git_afd.adapters.module_facts import ModuleFacts
from git_afd.adapters.objects import open_objects
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import Revisions, packages_of, versions_of
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.contracts.subject import Upstreams
from git_afd.core.source.lookup import Tree
from git_afd.core.source.versions import Versions


@dataclass(frozen=True, slots=True)
class Opened:
    """Both upstreams at one side: packages to read texts from, modules as far as they are known, and their trees."""

    packages: Mapping[str, SourceTree]
    facts: Mapping[str, ModuleFacts]
    sources: Upstreams

    def shelves(self) -> list[Shelf]:
        """Return them as shelves for what is read ahead."""
        return [Shelf(package, self.sources.trees[name], self.facts[name]) for name, package in self.packages.items()]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an analysis reads: the plugin's package, modules and tree, and the upstreams at the current side.

    `names` is how the current commits may be called.
    """

    package: SourceTree
    facts: ModuleFacts
    plugin: Tree
    upstream: Opened
    names: Mapping[str, tuple[str, ...]]

    def keep(self) -> None:
        """Keep what was read of the modules for later runs."""
        for facts in (self.facts, *self.upstream.facts.values()):
            facts.keep()


def gather(session: Session, commit: str, revisions: Revisions) -> Gathered:
    """Open the plugin at a commit (full id) and its upstreams; their files are listed now and read on demand."""
    names = {name: revision.names() for name, revision in revisions.items()}
    versions = versions_of(names)
    cache = AnalysisCache(session.common_dir)
    package = SourceTree(open_objects(session.git, session.root), commit, wanted=_is_read)
    facts = ModuleFacts.of(cache, commit, "", versions)
    return Gathered(package, facts, package.tree(versions, facts), opened(revisions, cache, versions), names)


def opened(revisions: Revisions, cache: AnalysisCache, versions: Versions) -> Opened:
    """Return both upstreams, read on demand."""
    packages, facts = packages_of(revisions), ModuleFacts.of_all(cache, revisions, versions)
    trees = {name: package.tree(versions, facts[name]) for name, package in packages.items()}
    return Opened(packages, facts, Upstreams(trees, lambda who: packages[who].corpus(), versions))


def _is_read(path: str) -> bool:
    from git_afd.core.identity.plugin import wanted_paths

    return path.endswith(".py") or bool(wanted_paths([path]))
