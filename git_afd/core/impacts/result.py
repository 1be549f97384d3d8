"""What a comparison gives, and what git says of the range: values only, so that a kept one is read at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from git_afd.core.impacts.files import Change, PluginFile, Reverted, UpstreamFile
from git_afd.core.outcome import Json
from git_afd.core.workbook.impacts import Impact


@dataclass(frozen=True, slots=True)
class History:
    """What happened between the two commits of each upstream: changed files, and what was undone on the way."""

    changes: Mapping[str, Sequence[Change]]
    reverts: Mapping[str, Sequence[Reverted]] = field(default_factory=dict)

    @property
    def renames(self) -> Mapping[str, Mapping[str, str]]:
        """Files that git sees as renamed: old path to new path, by upstream."""
        return {who: {item.old: item.path for item in items if item.old} for who, items in self.changes.items()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Impacts in the order of the contracts, files of both kinds, and what the comparison covers."""

    impacts: tuple[Impact, ...]
    files: tuple[PluginFile, ...]
    upstream_files: tuple[UpstreamFile, ...]
    coverage: Mapping[str, Json]
