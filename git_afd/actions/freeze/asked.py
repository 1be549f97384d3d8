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
    """All by upstream: sources, their fingerprints, the targets and currents that were named; the worktrees' folder."""

    request: Request
    sources: Mapping[str, Source]
    before: Mapping[str, Fingerprint]
    targets: Mapping[str, Resolved]
    currents: Mapping[str, Resolved]
    folder: Path
