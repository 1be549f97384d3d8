"""Holding patch files against the upstreams: one reading for the daily check, the commit, its hook and the push."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from git_afd.adapters.objects import open_objects
from git_afd.adapters.upstream_sources import Reader, Revisions, few_collections, packages_of, versions_of
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.patch_checks.check import patch_findings
from git_afd.core.patch_checks.model import Against, Checked, PatchedFile
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Tree, module_names
from git_afd.core.source.versions import Versions

if TYPE_CHECKING:
    from git_afd.adapters.analysis_cache import AnalysisCache
    from git_afd.adapters.module_facts import ModuleFacts


def check_patches(
    files: Mapping[str, tuple[str, str | None]],
    held: SourceTree | None,
    revisions: Revisions,
    missing: Mapping[str, str],
    reader: Reader = open_objects,
    cache: AnalysisCache | None = None,
) -> Checked:
    """Check files (path to text now and text at the base) of a plugin whose other files `held` has.

    `revisions` are the upstreams at the commits that count, `missing` says why others are not at hand; `reader`
    opens their objects. Where a `cache` is given, what their modules say is taken from there, and kept there.
    """
    with few_collections():
        refs = {name: revision.names() for name, revision in revisions.items()}
        versions = versions_of(refs)
        packages = packages_of(revisions, reader)
        names = module_names([*(held.ids if held else ()), *files])
        patched = [PatchedFile(path, names[path], now, then) for path, (now, then) in files.items()]

        def load(path: str) -> Module | Unreadable:
            text = files[path][0] if path in files else held.text(path) if held else Unreadable(path, "is not there")
            if isinstance(text, Unreadable):
                return text
            return index_module(text, names[path], is_package=path.endswith("__init__.py"), versions=versions)

        def source(who: str, path: str) -> str | None:
            found = packages[who].text(path) if who in packages else None
            return found if isinstance(found, str) else None

        plugin = Tree({name: path for path, name in names.items()}, load)
        facts = _facts(cache, revisions, versions)
        upstreams = {name: package.tree(versions, facts.get(name)) for name, package in packages.items()}
        found = patch_findings(patched, Against(plugin, upstreams, source, versions, refs, missing))
        for known in facts.values():
            known.keep()
        return found


def _facts(cache: AnalysisCache | None, revisions: Revisions, versions: Versions) -> Mapping[str, ModuleFacts]:
    from git_afd.adapters.module_facts import ModuleFacts

    return ModuleFacts.of_all(cache, revisions, versions) if cache else {}
