"""What goes into a reconstruction and what comes out of it. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from git_afd.core.contracts.model import Marker
from git_afd.core.outcome import Json

Fate = Literal["placed", "merged", "absorbed", "conflict"]
"""What became of a block: put in as it stands, put in with what the target changed inside it, already there, or not."""

DeviationForm = Literal["added", "left out", "changed", "wraps"]


@dataclass(frozen=True, slots=True)
class Lost:
    """A patch whose target is gone, and what it alone used to set.

    `place` is the plugin's function and `target` what it stood in for (both ``path::symbol``); `sets` maps an
    attribute to the line of the plugin's file (from 1) that set it and the label of its block, empty outside of any.
    """

    place: str
    target: str
    sets: Mapping[str, tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Copy:
    """The plugin's function. `text` is its whole file; `line` and `end_line` (from 1) are the function's.

    `markers` are its blocks with lines of the file; `method` says that it stands in a class of the plugin, so that
    ``super()`` and the target's ``staticmethod`` mean the same there. `lost` are patches whose target is gone.
    """

    text: str
    line: int
    end_line: int
    markers: tuple[Marker, ...] = ()
    method: bool = False
    lost: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One upstream function that the plugin's stands in for.

    `symbol` and `path` at the target; `old` and `new` are the sources of the function at both commits, `new` empty
    when there is none; `klass` is the class that holds it, empty for a module-level function. `gone` says why there
    is no new one, and where its nearest relatives are.
    """

    symbol: str
    path: str
    old: str
    new: str
    klass: str = ""
    gone: str = ""


@dataclass(frozen=True, slots=True)
class Stale:
    """What a module alias of the plugin means when the target's function has left that module.

    `module` is the dotted name of the old one. `reach` are names of the function's new module that mean the same in
    the old one still, `names` all that the old one has. `others` are lines of the plugin's file (from 1) that use the
    alias besides the function and what installs it; `statement` is its import, empty when that cannot be replaced.
    """

    module: str
    reach: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    others: tuple[int, ...] = ()
    statement: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """What names mean on both sides.

    `aliases` are the plugin's names for the upstream module that holds the function, the usual one first; `plugin`
    maps the names bound there at run time to dotted names (its own definitions as ``plugin:name``), `typing` are
    those that only type checkers see; `upstream` maps the names of the target's module; `imports` maps an upstream
    name to the statement that imports it. `ref` is what the target is called in a source annotation, `old_refs` what
    the current commit may be called there. `broken` are names that the plugin imports from where the target has them
    no longer. `home` is the target's module where it is another one than before, and
    `stale` says what the aliases of the old one mean now.
    """

    aliases: tuple[str, ...] = ()
    plugin: Mapping[str, str] = field(default_factory=dict)
    typing: frozenset[str] = frozenset()
    upstream: Mapping[str, str] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    ref: str = ""
    old_refs: tuple[str, ...] = ()
    broken: frozenset[str] = frozenset()
    home: str = ""
    stale: Mapping[str, Stale] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BlockFate:
    """What became of one marked block: how often its anchors were expected and found, and its lines in the copy."""

    label: str
    expected: int
    found: int
    fate: Fate
    line: int
    end_line: int
    does: str

    def as_json(self) -> dict[str, Json]:
        """Return it with the fixed field names."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Deviation:
    """One difference of the old copy from the old upstream outside any block.

    `decided` says by which rule the target's form stands; empty when somebody has to decide.
    """

    id: str
    form: DeviationForm
    line: int
    copy: str
    upstream: str
    decided: str = ""

    def as_json(self) -> dict[str, Json]:
        """Return it with the fixed field names."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Question:
    """What a person has to decide: a stable code, the sentence, the line of the copy it is about (from 1)."""

    code: str
    text: str
    line: int = 0

    def as_json(self) -> dict[str, Json]:
        """Return it as an entry of ``questions[]``."""
        return {"code": self.code, "text": self.text, "line": self.line}


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """The new function with its header comments, and what is left over.

    `complete` means: every block placed or absorbed, every deviation decided, the text parses, its signature is the
    target's, its markers are balanced. `imports` are statements that the plugin's module lacks, `replaced` pairs of
    one that it has and the one that takes its place, `unused` the names that it imports for nothing afterwards, and
    `typing` statements that only annotations need;
    `notes` are facts that need no decision before the text may stand. `first` and `last` are the lines of the file it
    takes the place of (from 1). `target` is the target's function as it would stand without any block.
    """

    text: str
    complete: bool
    blocks: tuple[BlockFate, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    questions: tuple[Question, ...] = ()
    imports: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    first: int = 0
    last: int = 0
    target: str = ""
    replaced: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()
    typing: tuple[str, ...] = ()
