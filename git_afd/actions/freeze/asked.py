"""What a freeze was asked for, looked at: sources opened, names resolved, nothing decided yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from git_afd.adapters.revisions import Resolved
from git_afd.adapters.sources import Source
from git_afd.adapters.untouched import Fingerprint
from git_afd.core.freezing import Request


@dataclass(frozen=True, slots=True)
class Asked:
    """All by upstream: sources, their fingerprints and dirty paths, the targets and currents that were named.

    `folder` is where worktrees go.
    """

    request: Request
    sources: Mapping[str, Source]
    before: Mapping[str, Fingerprint]
    dirty: Mapping[str, tuple[str, ...]]
    targets: Mapping[str, Resolved]
    currents: Mapping[str, Resolved]
    folder: Path

    def serves(self, upstream: str) -> bool:
        """Say whether a provided checkout holds exactly the target, so that it can serve as the target tree."""
        source = self.sources[upstream]
        at_target = source.root is not None and source.head == self.targets[upstream].commit
        return at_target and not self.dirty[upstream] and not source.sparse
