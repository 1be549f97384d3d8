"""What the modules of one tree say, kept between runs: parsing is most of an analysis, and a commit never changes.

Only modules that could be read are kept. What could not be read is tried again each time: another Python may parse
it, and a missing blob may have come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.adapters.analysis_cache import AnalysisCache, key_of
from git_afd.adapters.upstream_sources import Revisions
from git_afd.core.names import PACKAGES
from git_afd.core.source.definitions import Module
from git_afd.core.source.versions import Versions

VERSION: Final = "1"
"""Raised whenever the same text gives other facts."""


@dataclass(slots=True)
class ModuleFacts:
    """The modules of a commit's tree (below a folder), by path; read at the first question, and kept when they grew.

    `ahead` gives modules that another process read meanwhile; it is asked once.
    """

    cache: AnalysisCache
    key: str
    ahead: Callable[[], Mapping[str, Module]] | None = None
    _known: dict[str, Module] | None = None
    _kept: int = 0

    @classmethod
    def of(cls, cache: AnalysisCache, commit: str, folder: str, versions: Versions) -> ModuleFacts:
        """Return the facts of a commit (full id) below a folder, as these released versions read it."""
        named = [f"{name}={version}" for name, version in sorted(versions.items())]
        return cls(cache, key_of("modules", VERSION, commit, folder, *named))

    @classmethod
    def of_all(cls, cache: AnalysisCache, revisions: Revisions, versions: Versions) -> dict[str, ModuleFacts]:
        """Return the facts of both upstreams' packages, by upstream."""
        return {name: cls.of(cache, item.commit, PACKAGES[name], versions) for name, item in revisions.items()}

    @property
    def any(self) -> bool:
        """Whether anything is known."""
        return bool(self._all())

    def settle(self) -> None:
        """Take what was read ahead; whoever forks does so before."""
        self._all()

    def get(self, path: str) -> Module | None:
        """Return a module by path, None when it is not known."""
        return self._all().get(path)

    def learn(self, path: str, module: Module) -> None:
        """Note what was read."""
        self._all()[path] = module

    def keep(self) -> None:
        """Keep what is known for later runs."""
        known = self._all()
        if len(known) > self._kept:
            self.cache.put(self.key, known)
            self._kept = len(known)

    def _all(self) -> dict[str, Module]:
        if self._known is None:
            kept = self.cache.get(self.key)
            self._known = dict(kept) if isinstance(kept, dict) else {}
            self._kept = len(self._known)
        if self.ahead is not None:
            ahead, self.ahead = self.ahead, None
            self._known |= ahead()
        return self._known
