"""What is inventoried, against what, and what comes of it: values only, so that a kept inventory is read at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from git_afd.core.contracts.model import Contract
from git_afd.core.outcome import Json
from git_afd.core.workbook.inventory import Feature

if TYPE_CHECKING:
    from git_afd.core.contracts.features import Cells
    from git_afd.core.contracts.survey import Source
    from git_afd.core.identity.candidates import Candidate
    from git_afd.core.source.lookup import Tree
    from git_afd.core.source.search import Corpus
    from git_afd.core.source.versions import Versions


@dataclass(frozen=True, slots=True)
class Subject:
    """What is inventoried.

    `sources` are the plugin's readable modules, `unreadable` maps a path to why it cannot be read; `texts` are
    files that may speak of versions and entry points; `kind_of` is the policy's (production, test, …); `refs` names
    the current commit of each upstream.
    """

    sources: Sequence[Source]
    kind_of: Callable[[str], str]
    unreadable: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inventory:
    """The contracts, the feature matrix, and what they cover."""

    contracts: tuple[Contract, ...]
    features: tuple[Feature, ...]
    coverage: Mapping[str, Json]


@dataclass(slots=True)
class Upstreams:
    """The upstreams at their current commits: trees, raw texts, and the versions that prune dead branches."""

    trees: Mapping[str, Tree]
    corpus: Corpus
    versions: Versions


@dataclass(frozen=True, slots=True)
class Told:
    """What the plugin's texts say by themselves, whatever the upstreams are: cells by path, and version evidence."""

    cells: Mapping[str, Cells]
    versions: tuple[Candidate, ...]
