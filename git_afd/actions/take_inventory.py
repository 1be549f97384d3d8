"""Taking the inventory from git objects: gather sources and upstreams, ask the core, keep the result."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from git_afd.adapters.analysis_cache import AnalysisCache, key_of
from git_afd.adapters.objects import open_objects
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import Revisions, few_collections, packages_of, versions_of
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.contracts.inventory import Inventory, Subject, Upstreams, inventory
from git_afd.core.contracts.survey import Source
from git_afd.core.identity.plugin import wanted_paths
from git_afd.core.policy import Policy
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module, parse
from git_afd.core.source.lookup import Tree, module_paths
from git_afd.core.source.versions import Versions

VERSION: Final = "1"
"""Raised whenever the same sources give other contracts."""

HOW: Final = f"static analysis {VERSION}"


def take_inventory(
    session: Session, commit: str, revisions: Revisions, policy: Policy, gathered: Gathered | None = None
) -> Inventory:
    """Return the inventory of the plugin at a commit (full id) against its upstreams; from the cache if it is there.

    `gathered` is what was read already, for whoever needs it besides.
    """
    names = {name: revision.names() for name, revision in revisions.items()}
    commits = [f"{name}={revision.commit}" for name, revision in sorted(revisions.items())]
    called = [f"{name}:{' '.join(sorted(items))}" for name, items in sorted(names.items())]
    key = key_of("inventory", VERSION, commit, *commits, *called, repr(policy.paths))
    cache = AnalysisCache(session.common_dir)
    known = cache.get(key)
    if isinstance(known, Inventory):
        return known
    with few_collections():
        found = gathered or gather(session, commit, revisions, policy)
        result = inventory(found.subject, found.plugin, found.upstreams)
        missing = {name: package.missing for name, package in found.packages.items() if package.missing}
        result = replace(result, coverage={**result.coverage, "blobs_missing": missing})
    cache.put(key, result)
    return result


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an analysis reads: the plugin's sources and tree, the upstreams, and their packages to read texts from."""

    subject: Subject
    plugin: Tree
    upstreams: Upstreams
    packages: Mapping[str, SourceTree]


def gather(session: Session, commit: str, revisions: Revisions, policy: Policy) -> Gathered:
    """Read the plugin at a commit (full id), and open its upstreams; those are read on demand."""
    names = {name: revision.names() for name, revision in revisions.items()}
    versions = versions_of(names)
    plugin = SourceTree(open_objects(session.git, session.root), commit, wanted=_is_read)
    sources, unreadable, modules = _plugin_sources(plugin, versions)
    packages = packages_of(revisions)
    wanted = wanted_paths(path for path in plugin.ids)
    plugin.read(wanted)
    texts = {path: text for path in wanted if isinstance(text := plugin.text(path), str)}
    subject = Subject(sources, policy.kind_of, unreadable, texts, names)
    paths = {name: path for path, name in _module_names(plugin).items()}
    tree = Tree(paths, lambda path: modules[path])
    return Gathered(subject, tree, upstreams_of(packages, versions), packages)


def upstreams_of(packages: Mapping[str, SourceTree], versions: Versions) -> Upstreams:
    """Return the packages as trees of modules for the analysis."""
    trees = {name: package.tree(versions) for name, package in packages.items()}
    return Upstreams(trees, lambda who: packages[who].corpus(), versions)


def _is_read(path: str) -> bool:
    return path.endswith(".py") or bool(wanted_paths([path]))


def _module_names(plugin: SourceTree) -> dict[str, str]:
    """Return the dotted name of each of the plugin's modules, by path; ``src/`` is no part of a name."""
    names: dict[str, str] = {}
    for name, path in module_paths([path for path in plugin.ids if path.endswith(".py")]).items():
        names[path] = name.removeprefix("src.")
    return names


def _plugin_sources(
    plugin: SourceTree, versions: Versions
) -> tuple[list[Source], dict[str, str], dict[str, Module | Unreadable]]:
    """Read and parse every module of the plugin: sources, why some cannot be read, and their facts by path."""
    names = _module_names(plugin)
    plugin.read(names)
    sources: list[Source] = []
    unreadable: dict[str, str] = {}
    modules: dict[str, Module | Unreadable] = {}
    for path, name in names.items():
        text = plugin.text(path)
        tree = text if isinstance(text, Unreadable) else parse(text, name)
        if isinstance(tree, ast.Module) and isinstance(text, str):
            package = path.endswith("__init__.py")
            modules[path] = index_module(text, name, is_package=package, versions=versions, tree=tree)
            sources.append(Source(path, name, text, tree))
        elif isinstance(tree, Unreadable):
            modules[path] = Unreadable(name, tree.reason)
            unreadable[path] = tree.reason
    return sources, unreadable, modules
