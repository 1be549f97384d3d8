"""The inventory of a plugin that is a few texts, against the fixture upstream of one version."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

from git_afd.core.contracts.inventory import inventory
from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.subject import Inventory, Subject, Upstreams
from git_afd.core.contracts.survey import Source
from git_afd.core.names import PACKAGES
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Tree, module_paths
from git_afd.core.source.parsing import parse

UPSTREAM = Path(__file__).parent / "upstream"
VERSIONS = {"v1": "1.0.0", "v2": "2.0.0"}


def sources_of(files: Mapping[str, str], version: str) -> Tree:
    """Return the tree of modules that texts by path are."""
    paths = module_paths(list(files))
    names = {path: name for name, path in paths.items()}

    def load(path: str) -> Module | Unreadable:
        package = path.endswith("__init__.py")
        return index_module(files[path], names[path], is_package=package, versions={"vllm": VERSIONS[version]})

    return Tree(paths, load)


def upstream_files(version: str, package: str) -> dict[str, str]:
    """Return the fixture's files of one package, by repository-relative path."""
    folder = UPSTREAM / version
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((folder / package).rglob("*.py"))
    }


def upstreams_at(version: str, more: Mapping[str, str] | None = None) -> Upstreams:
    """Return both upstreams at a version of the fixture; `more` adds files."""
    files = {
        who: {
            **upstream_files(version, package),
            **{p: t for p, t in (more or {}).items() if p.startswith(f"{package}/")},
        }
        for who, package in PACKAGES.items()
    }
    trees = {who: sources_of(texts, version) for who, texts in files.items()}
    corpora = {who: {path: text.encode() for path, text in texts.items()} for who, texts in files.items()}
    return Upstreams(trees, lambda who: corpora[who], {"vllm": VERSIONS[version]})


def taken(
    files: Mapping[str, str],
    *,
    version: str = "v1",
    upstream: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Inventory:
    """Return the inventory of a plugin that holds `files`."""
    plugin = sources_of(files, version)
    sources: list[Source] = []
    unreadable: dict[str, str] = {}
    for name, path in plugin.paths.items():
        tree = parse(files[path], name)
        if isinstance(tree, ast.Module):
            sources.append(Source(path, name, files[path], tree))
        else:
            unreadable[path] = tree.reason
    refs = {"vllm": ("v1.0.0", "1.0.0", "a1" * 20), "vllm-ascend": ("v1.0.0rc1", "b2" * 20)}
    kind = lambda path: "test" if path.startswith("tests/") else "production"  # noqa: E731 - a table of one row
    subject = Subject(sources, kind, unreadable, {**files, **(texts or {})}, refs)
    return inventory(subject, plugin, upstreams_at(version, upstream))


def contracts(text: str, path: str = "plug/patch.py", **more: Mapping[str, str]) -> dict[str, Contract]:
    """Return the contracts of a plugin of one file, by id without kind-independent noise: ``kind upstream@symbol``."""
    found = taken({"plug/__init__.py": "", path: text}, **more).contracts  # type: ignore[arg-type]
    return {short(row): row for row in found}


def short(row: Contract) -> str:
    """Return ``kind upstream-symbol@plugin-symbol``, the path where there is no symbol, the name where no path."""
    upstream = row.upstream.symbol or row.upstream.path or row.upstream.named
    return f"{row.kind} {upstream}@{row.plugin.symbol}"
