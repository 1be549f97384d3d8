"""Comparing the plugin's contracts at a target: gather both sides from git objects, ask the core, keep the result."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from git_afd.actions.take_inventory import (
    VERSION as INVENTORY_VERSION,
)
from git_afd.actions.take_inventory import Gathered, gather, take_inventory, upstreams_of
from git_afd.adapters.analysis_cache import AnalysisCache, key_of
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_history import changes, reverts
from git_afd.adapters.upstream_sources import Revisions, few_collections, packages_of, versions_of
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.contracts.model import Contract
from git_afd.core.impacts.comparison import Comparison, History, compare_all
from git_afd.core.impacts.sides import Side
from git_afd.core.names import PACKAGES
from git_afd.core.policy import Policy
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.lookup import Tree
from git_afd.core.source.versions import ASKS, Versions
from git_afd.core.source.world import PLUGIN, World

VERSION: Final = "1"
"""Raised whenever the same sources give other impacts."""

HOW: Final = f"static analysis {VERSION}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is compared: the plugin's commit (full id), its upstreams now and at the target, the policy."""

    commit: str
    current: Revisions
    target: Revisions
    policy: Policy

    @property
    def key(self) -> str:
        """The name of the result in the cache: everything that it depends on."""
        sides = [(side, name, item) for side in ("current", "target") for name, item in sorted(self._of(side).items())]
        named = [f"{side} {name} {item.commit} {' '.join(sorted(item.names()))}" for side, name, item in sides]
        return key_of("impacts", INVENTORY_VERSION, VERSION, self.commit, *named, repr(self.policy.paths))

    def _of(self, side: str) -> Revisions:
        return self.current if side == "current" else self.target


@dataclass(frozen=True, slots=True)
class Taken:
    """A comparison and the contracts that it speaks of, in the same order."""

    contracts: tuple[Contract, ...]
    comparison: Comparison


def take_impacts(session: Session, question: Question, given: tuple[Contract, ...] = ()) -> Taken:
    """Return the impacts of the target on the plugin's contracts; from the cache if they are there.

    `given` are contracts that were listed by hand: then those are compared, and nothing is kept.
    """
    cache = AnalysisCache(session.common_dir)
    known = cache.get(question.key) if not given else None
    asked = (session, question.commit, question.current, question.policy)
    if isinstance(known, Comparison):
        return Taken(take_inventory(*asked).contracts, known)
    with few_collections(), ThreadPoolExecutor(max_workers=1) as beside:
        history = beside.submit(_history, question)  # git compares the commits while the sources are read
        found = gather(*asked)
        contracts = given or take_inventory(*asked, found).contracts
        comparison = compare_all(contracts, sides_of(found, question.target), history.result())
    if not given:
        cache.put(question.key, comparison)
    return Taken(contracts, comparison)


def sides_of(found: Gathered, target: Revisions) -> tuple[Side, Side]:
    """Return the current and the target side; the plugin is the same on both."""
    versions = versions_of({name: revision.names() for name, revision in target.items()})
    packages = packages_of(target)
    texts = {source.path: source.text for source in found.subject.sources}
    fresh = upstreams_of(packages, versions).trees
    trees = {name: _sharing(tree, packages[name], found, name) for name, tree in fresh.items()}
    before = _side(found.plugin, texts, found.packages, (found.upstreams.trees, found.upstreams.versions))
    return before, _side(found.plugin, texts, packages, (trees, versions))


def _sharing(tree: Tree, package: SourceTree, found: Gathered, name: str) -> Tree:
    """Return a target's tree that reads no file again which is the same blob at the current commit.

    A file that asks for the vLLM version reads differently at another one.
    """
    old, before = found.packages[name], found.upstreams.trees[name]
    modules = {path: module for module, path in tree.paths.items()}

    def load(path: str) -> Module | Unreadable:
        same = old.ids.get(path) == package.ids[path] and ASKS not in (package.data(path) or b"")
        known = before.module(modules[path]) if same else None
        return known if known is not None else tree.load(path)

    return Tree(tree.paths, load)


def _side(
    plugin: Tree,
    texts: Mapping[str, str],
    packages: Mapping[str, SourceTree],
    read: tuple[Mapping[str, Tree], Versions],
) -> Side:
    trees, versions = read

    def text(who: str, path: str) -> str | None:
        if who == PLUGIN:
            return texts.get(path)
        found = packages[who].text(path) if who in packages else None
        return found if isinstance(found, str) else None

    def corpus(who: str) -> Mapping[str, bytes]:
        return packages[who].corpus() if who in packages else {}

    return Side(World({PLUGIN: plugin, **trees}), text, corpus, versions)


def _history(question: Question) -> History:
    """Return what git says of both ranges."""
    changed, undone = {}, {}
    for name, old in question.current.items():
        new, folder = question.target[name].commit, PACKAGES[name]
        changed[name] = changes(old.git, old.commit, new, folder)
        undone[name] = reverts(old.git, old.commit, new, folder)
    return History(changed, undone)
