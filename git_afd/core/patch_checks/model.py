"""What the checks of patch files take and give. Values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from git_afd.core.finding import Finding
from git_afd.core.source.definitions import Module
from git_afd.core.source.lookup import Tree
from git_afd.core.source.versions import Versions


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """One Python file to look at: repository-relative path, dotted module name, its text now.

    `base` is the text that added lines are told from; None when the file is new: then every line is added.
    """

    path: str
    module: str
    text: str
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Against:
    """What the files are held against.

    `plugin` is the plugin's tree with these files as they are now; `upstreams` are the trees of the upstreams whose
    source is at hand, at the commit that counts; `refs` names that commit (tag, version, id) by upstream; `missing`
    says of each other upstream why it is not at hand. `source` gives the text of an upstream's file.
    """

    plugin: Tree
    upstreams: Mapping[str, Tree]
    source: Callable[[str, str], str | None]
    versions: Versions = field(default_factory=dict)
    refs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A check that could not be made: what of which place, and why. It never counts as passed."""

    check: str
    place: str
    why: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer: what is wrong, what could not be looked at, and how many functions were.

    `touched` are the places (``path:line``, as in the findings) of the patch functions that are not as at the base,
    the comment above them included.
    """

    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    functions: int
    touched: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Read:
    """A file while it is checked: its facts and the rows (from 1) that were added."""

    file: PatchedFile
    module: Module
    added: frozenset[int]
