"""Taking the inventory from git objects: gather sources and upstreams, ask the core, keep the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from git_afd.actions.gather_sources import Gathered, gather
from git_afd.actions.reading_ahead import reading_ahead
from git_afd.adapters.analysis_cache import AnalysisCache, key_of
from git_afd.adapters.beside import beside
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import Revisions, few_collections
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.contracts.subject import Inventory, Subject, Told
from git_afd.core.policy import Policy
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.parsing import parse

VERSION: Final = "4"
"""Raised whenever the same sources give other contracts."""

HOW: Final = f"static analysis {VERSION}"


def take_inventory(session: Session, commit: str, revisions: Revisions, policy: Policy) -> Inventory:
    """Return the inventory of the plugin at a commit (full id) against its upstreams; from the cache if it is there."""
    known = kept_inventory(session, commit, revisions, policy)
    if known is not None:
        return known
    held: list[object] = []
    with beside(lambda: _taken(gather(session, commit, revisions), policy, held)) as taken:
        result = taken()
    keep_inventory(session, commit, revisions, policy, result)
    return result


def _taken(found: Gathered, policy: Policy, held: list[object]) -> Inventory:
    held.append(found)
    texts = partial(told_by_texts, found)
    with few_collections(), reading_ahead(found.package, [*found.upstream.shelves(), texts]) as later:
        result = inventory_of(found, policy, lambda: later(texts), held)
    found.keep()
    return result


def kept_inventory(session: Session, commit: str, revisions: Revisions, policy: Policy) -> Inventory | None:
    """Return an inventory that was taken before, None when none is kept."""
    known = AnalysisCache(session.common_dir).get(_key(commit, revisions, policy))
    return known if isinstance(known, Inventory) else None


def keep_inventory(session: Session, commit: str, revisions: Revisions, policy: Policy, taken: Inventory) -> None:
    """Keep an inventory for later."""
    AnalysisCache(session.common_dir).put(_key(commit, revisions, policy), taken)


def _key(commit: str, revisions: Revisions, policy: Policy) -> str:
    """Return the name of an inventory in the cache: everything that it depends on."""
    commits = [f"{name}={revision.commit}" for name, revision in sorted(revisions.items())]
    called = [f"{name}:{' '.join(sorted(revision.names()))}" for name, revision in sorted(revisions.items())]
    return key_of("inventory", VERSION, commit, *commits, *called, repr(policy.paths))


def inventory_of(found: Gathered, policy: Policy, told: Callable[[], object], held: list[object]) -> Inventory:
    """Take an inventory of what was opened. `told` gives what another process knows of :func:`told_by_texts`.

    What is read is `held`: to free it piece by piece takes longer than to end a process.
    """
    from git_afd.core.contracts.inventory import inventory

    subject = _subject(found, policy)
    held.append(subject)
    packages = found.upstream.packages
    for package in packages.values():
        package.corpus()  # all of it is needed, and the other process is not ready yet

    def texts() -> Told:
        known = told()
        return known if isinstance(known, Told) else told_by_texts(found)

    result = inventory(subject, found.plugin, found.upstream.sources, texts)
    missing = {name: package.missing for name, package in packages.items() if package.missing}
    return replace(result, coverage={**result.coverage, "blobs_missing": missing})


def told_by_texts(found: Gathered) -> Told:
    """Return what the plugin's texts say by themselves."""
    from git_afd.core.contracts.inventory import read_texts

    return read_texts(_texts(found), _read(found.package, found.package.names))


def _texts(found: Gathered) -> dict[str, str]:
    """Return the plugin's files that may speak of versions."""
    from git_afd.core.identity.plugin import wanted_paths

    return _read(found.package, wanted_paths(found.package.ids))


def _read(package: SourceTree, paths: Iterable[str]) -> dict[str, str]:
    wanted = list(paths)
    package.read(wanted)
    return {path: text for path in wanted if isinstance(text := package.text(path), str)}


def _subject(found: Gathered, policy: Policy) -> Subject:
    """Read and parse every module of the plugin, and read what may speak of versions."""
    from git_afd.core.contracts.survey import Source

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
    return Subject(sources, policy.kind_of, unreadable, _texts(found), found.names)
