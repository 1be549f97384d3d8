"""Taking the inventory from git objects: gather sources and upstreams, ask the core, keep the result."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from git_afd.actions.gather_sources import Gathered, gather
from git_afd.actions.reading_ahead import reading_ahead
from git_afd.adapters.analysis_cache import AnalysisCache, key_of
from git_afd.adapters.beside import beside
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import Revisions, few_collections
from git_afd.core.contracts.subject import Inventory, Subject
from git_afd.core.policy import Policy
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.parsing import parse

VERSION: Final = "2"
"""Raised whenever the same sources give other contracts."""

HOW: Final = f"static analysis {VERSION}"


def take_inventory(
    session: Session, commit: str, revisions: Revisions, policy: Policy, gathered: Gathered | None = None
) -> Inventory:
    """Return the inventory of the plugin at a commit (full id) against its upstreams; from the cache if it is there.

    `gathered` is what was opened already, for whoever needs it besides.
    """
    cache = AnalysisCache(session.common_dir)
    key = inventory_key(commit, revisions, policy)
    known = cache.get(key)
    if isinstance(known, Inventory):
        return known
    with few_collections():
        if gathered is not None:
            result = _taken(gathered, policy)
        else:
            found = gather(session, commit, revisions)
            with reading_ahead(found.package, found.upstream.shelves()):
                result = _taken(found, policy)
            found.keep()
    cache.put(key, result)
    return result


def inventory_key(commit: str, revisions: Revisions, policy: Policy) -> str:
    """Return the name of an inventory in the cache: everything that it depends on."""
    commits = [f"{name}={revision.commit}" for name, revision in sorted(revisions.items())]
    called = [f"{name}:{' '.join(sorted(revision.names()))}" for name, revision in sorted(revisions.items())]
    return key_of("inventory", VERSION, commit, *commits, *called, repr(policy.paths))


def _taken(found: Gathered, policy: Policy) -> Inventory:
    from git_afd.core.contracts.inventory import inventory, read_texts

    subject = _subject(found, policy)
    for package in found.upstream.packages.values():
        package.corpus()  # all of it is needed, and the other process is not ready yet
    with beside(lambda: read_texts(subject)) as told:
        result = inventory(subject, found.plugin, found.upstream.sources, told)
    packages = found.upstream.packages
    missing = {name: package.missing for name, package in packages.items() if package.missing}
    return replace(result, coverage={**result.coverage, "blobs_missing": missing})


def _subject(found: Gathered, policy: Policy) -> Subject:
    """Read and parse every module of the plugin, and read what may speak of versions."""
    from git_afd.core.contracts.survey import Source
    from git_afd.core.identity.plugin import wanted_paths

    package, versions = found.package, found.upstream.sources.versions
    sources: list[Source] = []
    unreadable: dict[str, str] = {}
    for path, name in package.names.items():
        text = package.text(path)
        tree = text if isinstance(text, Unreadable) else parse(text, name)
        if isinstance(tree, Unreadable):
            unreadable[path] = tree.reason
        elif isinstance(text, str):
            sources.append(Source(path, name, text, tree))
            facts = index_module(text, name, is_package=path.endswith("__init__.py"), versions=versions, tree=tree)
            if isinstance(facts, Module):
                found.facts.learn(path, facts)
    wanted = wanted_paths(package.ids)
    package.read(wanted)
    texts = {path: text for path in wanted if isinstance(text := package.text(path), str)}
    return Subject(sources, policy.kind_of, unreadable, texts, found.names)
