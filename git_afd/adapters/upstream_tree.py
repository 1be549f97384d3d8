"""Reading Python sources at a commit from git objects: listed once, read in bulk, parsed on demand, trees dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from git_afd.adapters.objects import Objects
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Tree, module_names
from git_afd.core.source.versions import Versions

if TYPE_CHECKING:
    from git_afd.adapters.module_facts import ModuleFacts

MISSING = "its blob is missing in this clone"


@dataclass(slots=True)
class SourceTree:
    """The files of one commit (full id) below a folder. Nothing is checked out and nothing is imported.

    `folder` is repository-relative without a trailing slash, empty for the whole tree; `wanted` picks paths.
    """

    objects: Objects
    commit: str
    folder: str = ""
    wanted: Callable[[str], bool] = lambda path: path.endswith(".py")
    _ids: dict[str, str] | None = None
    _data: dict[str, bytes | None] = field(default_factory=dict)
    _corpus: dict[str, bytes] | None = None

    @property
    def ids(self) -> Mapping[str, str]:
        """Blob ids by path, in git's order. Raises Blocked when the commit cannot be listed."""
        if self._ids is None:
            listed = self.objects.entries(self.commit, self.folder)
            self._ids = {
                item.path: item.id
                for item in listed
                if item.kind == "blob" and item.mode != "120000" and self.wanted(item.path)
            }
        return self._ids

    def read(self, paths: Iterable[str]) -> None:
        """Read these paths in one batch; what is read is kept."""
        ids = {path: self.ids[path] for path in paths if path in self.ids and path not in self._data}
        found = self.objects.blobs(ids.values()) if ids else {}
        self._data.update({path: found.get(name) for path, name in ids.items()})

    def learn(self, data: Mapping[str, bytes]) -> None:
        """Take files' bytes that were read elsewhere."""
        self._data.update(data)

    def data(self, path: str) -> bytes | None:
        """Return a file's bytes, None when its blob is missing."""
        if path not in self._data:
            self.read([path])
        return self._data.get(path)

    def outside(self, path: str) -> str | None:
        """Return the text of a file of the commit that need not lie in the folder, None when there is none."""
        blob = next((item.id for item in self.objects.entries(self.commit, path) if item.path == path), None)
        data = self.objects.blobs([blob]).get(blob) if blob else None
        return data.decode("utf-8", "replace") if data is not None else None

    @property
    def missing(self) -> int:
        """How many of the files that were asked for have no blob in this clone."""
        return sum(data is None for data in self._data.values())

    def text(self, path: str) -> str | Unreadable:
        """Return a file's text, or why it cannot be read."""
        data = self.data(path)
        if data is None:
            return Unreadable(path, MISSING)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            return Unreadable(path, f"it is not UTF-8 (byte {error.start})")

    def corpus(self) -> Mapping[str, bytes]:
        """Return all files' bytes; missing ones are left out (whoever asks for them by name is told)."""
        if self._corpus is None:
            self.read(self.ids)
            self._corpus = {path: data for path in self.ids if (data := self._data.get(path)) is not None}
        return self._corpus

    def tree(self, versions: Versions, facts: ModuleFacts | None = None) -> Tree:
        """Return the tree of modules, each read when it is first needed; `facts` are those that are known already."""
        names = self.names

        def load(path: str) -> Module | Unreadable:
            known = facts.get(path) if facts else None
            if known is not None:
                return known
            text = self.text(path)
            if isinstance(text, Unreadable):
                return Unreadable(names[path], text.reason)
            found = index_module(text, names[path], is_package=path.endswith("__init__.py"), versions=versions)
            if facts and isinstance(found, Module):
                facts.learn(path, found)
            return found

        return Tree({name: path for path, name in names.items()}, load)

    @property
    def names(self) -> dict[str, str]:
        """The dotted names of the modules, by path. A ``src/`` at the top is no part of a name."""
        return module_names([*self.ids])
