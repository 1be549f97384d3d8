"""What is checked of each patch function: its markers, its header, its signature against the pinned upstream.

A patch function is one that is installed over an upstream function, or that holds marker blocks (workflow, Phase 4).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from git_afd.core.contracts.headers import Header, declared, header, is_true
from git_afd.core.contracts.likeness import body_start
from git_afd.core.contracts.markers import Block
from git_afd.core.contracts.signatures import compare, verdict
from git_afd.core.contracts.survey import Source
from git_afd.core.finding import Finding
from git_afd.core.patch_checks.model import Against, NotChecked
from git_afd.core.source.definitions import Definition
from git_afd.core.source.world import Located

_PARTS: Mapping[str, str] = {
    "reason": "Patch reason",
    "invariant": "Patch functionality",
    "signature": "Signature",
    "source": "Upstream source",
}
_INSTALLED = ("classmethod", "staticmethod")


@dataclass(frozen=True, slots=True)
class PatchFunction:
    """One patch function: its place, its node, and the upstream functions it stands in for (none: unknown)."""

    source: Source
    definition: Definition
    node: ast.FunctionDef | ast.AsyncFunctionDef
    targets: tuple[Located, ...]

    @property
    def place(self) -> str:
        """Where it begins, as ``path:line``."""
        return f"{self.source.path}:{self.node.lineno}"

    @property
    def text(self) -> str:
        """The function as it stands in its file, with the comment directly above it."""
        lines = self.source.text.split("\n")
        first = self.definition.line - 1
        while first and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        return "\n".join(lines[first : self.definition.end_line])

    def header(self) -> Header:
        """Return what the comments directly above it (or at its beginning) say."""
        return header(self.source.text.splitlines(), self.definition.line, body_start(self.node), "")


def markers(path: str, found: tuple[Block, ...]) -> Iterator[Finding]:
    """Yield marker blocks that are not whole."""
    said = {"no end": "has no PATCH END", "no start": "has no PATCH START", "other label": "ends under another label"}
    for block in found:
        marker = block.marker
        place = f"{path}:{marker.line or marker.end_line}"
        if marker.fault in said:
            message = f"the block {marker.label!r} {said[marker.fault]}"
            yield Finding("marker-unbalanced", place, message, "pair it: ### PATCH START: label … ### PATCH END: label")
        elif marker.fault:
            yield Finding("marker-unlabelled", place, f"the end of {marker.label!r} has no label", "repeat it", "note")


def headers(function: PatchFunction, against: Against) -> Iterator[Finding]:
    """Yield what the comments above a patch function do not say, or say wrongly."""
    said = function.header()
    lacking = [name for kind, name in _PARTS.items() if not said[kind]]
    if lacking:
        message = f"the comment above {function.definition.name} does not state {', '.join(lacking)}"
        yield Finding("header-incomplete", function.place, message, f"add a line '# {lacking[0]}: …' above it")
    stated = declared(said["source"])
    fits = [
        is_true(stated, target.path, target.symbol, against.refs.get(target.who, ())) for target in function.targets
    ]
    if said["source"] and fits and all(item is False for item in fits):
        target = function.targets[0]
        name = next(iter(against.refs.get(target.who, ())), "")
        message = f"{function.definition.name} states the source {said['source']!r}, and its target is"
        full = f"{message} {target.path}::{target.symbol} at {name}"
        yield Finding("source-untrue", function.place, full, "state the source that it was copied from")


def signatures(function: PatchFunction, against: Against) -> Iterator[Finding | NotChecked]:
    """Yield how a signature differs from each target's; or that it could not be compared."""
    ours = function.definition.signature
    if not function.targets:
        why = "; ".join(against.missing.values()) or "no upstream function is patched or named by it"
        yield NotChecked("signature", function.place, f"{function.definition.name}: {why}")
    for target in function.targets:
        theirs = target.definition.signature if target.definition else None
        if theirs is None or ours is None:
            yield NotChecked("signature", function.place, f"{target.dotted} has no signature that can be read")
            continue
        found = compare(theirs, ours, _INSTALLED)
        if found:
            what = "; ".join(
                f"{item.what}: {item.upstream or 'none'} upstream, {item.plugin or 'none'} here" for item in found
            )
            code = "signature-different" if verdict(found) == "different" else "signature-annotations"
            message = f"the signature of {function.definition.name} is not {target.dotted}'s ({what})"
            yield Finding(code, function.place, message, f"match {target.path}:{target.line} exactly")
