"""Contracts from copied bodies: marked ones, and copies without markers; and what is known about either."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from git_afd.core.contracts.book import Book, Draft, target_of
from git_afd.core.contracts.facts import Facts, Write
from git_afd.core.contracts.headers import Header, declared, header, is_true
from git_afd.core.contracts.likeness import body_start, code_lines
from git_afd.core.contracts.markers import Block, blocks
from git_afd.core.contracts.model import Difference, Marker, Notes, Place, Target
from git_afd.core.contracts.origins import Origins
from git_afd.core.contracts.signatures import compare, verdict
from git_afd.core.contracts.survey import Source, Survey
from git_afd.core.contracts.uses import Copy, Override
from git_afd.core.source.definitions import Signature
from git_afd.core.source.world import PLUGIN, Located, World

Refs = Mapping[str, Sequence[str]]
"""How the current commit of each upstream may be called: tag, version, full id."""


@dataclass(slots=True)
class Copies:
    """Finds the copies of one plugin. `tests` maps a path to the test sources in it."""

    book: Book
    survey: Survey
    origins: Origins
    refs: Refs
    tests: Sequence[Source]
    targets: Mapping[Located, tuple[Located, ...]] = field(default_factory=dict)
    _dependencies: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)

    def add(self, sources: Sequence[Source]) -> tuple[int, int]:
        """Add the contracts of these production files; return the numbers of marker blocks, and those without fault."""
        self._note_dependencies(self.survey.facts)
        marked = sound = 0
        for source in sources:
            module = self.survey.world.module(PLUGIN, source.module)
            if module is None:
                continue
            found = blocks(source.text, module, source.tree) if "PATCH" in source.text else ()
            marked += len(found)
            sound += sum(not block.marker.fault for block in found)
            self._file(source, found)
        return marked, sound

    def _file(self, source: Source, found: tuple[Block, ...]) -> None:
        grouped: dict[str, list[Marker]] = {}
        for block in found:
            grouped.setdefault(self._owner(source, block.symbol), []).append(block.marker)
        lines = source.text.splitlines()
        for place, waiting in self.survey.functions_in(source.path):
            if place.definition is not None:
                function = _Function(source, lines, place, waiting.node)
                markers = tuple(grouped.pop(place.symbol, ()))
                if markers:
                    self._marked(function, markers)
                elif place not in self.targets or self._is_override(place):
                    self._unmarked(function)
        for symbol, left in grouped.items():
            self._lost(source, symbol, tuple(left))

    def _is_override(self, place: Located) -> bool:
        outer = place.symbol.rpartition(".")[0]
        module = self.survey.world.module(PLUGIN, place.module)
        return bool(module and outer in module.definitions and module.definitions[outer].kind == "class")

    def _owner(self, source: Source, symbol: str) -> str:
        """Return the function a block belongs to: the innermost one with an upstream target, else the innermost."""
        name = symbol
        while name:
            place = Located(PLUGIN, source.path, source.module, name)
            if place in self.targets:
                return name
            name = name.rpartition(".")[0]
        return symbol

    def _marked(self, function: _Function, markers: tuple[Marker, ...]) -> None:
        said = function.header()
        targets, unknown = self.targets.get(function.place, ()), ""
        if not targets:
            origin = self.origins.stated(declared(said["source"]), function.name, function.place)
            best, alike = self.origins.best(function.code, self.origins.namesakes(function.name, function.code))
            origin = origin or (
                best if best and (self.origins.is_copy(function.code, self.origins.lines(best)) or alike > 0) else None
            )
            targets = (origin,) if origin else ()
            unknown = "" if targets else "no upstream function is named, patched, overridden or like it"
        parts = tuple(item.dotted for item in targets)
        for target in targets:
            alike = round(self.origins.score(function.code, self.origins.lines(target)), 3)
            use = Copy(
                function.place.line, alike, function.signature, tuple(name for name in parts if name != target.dotted)
            )
            draft = self.book.add("copied-body", target_of(target), function.at, use, "marker blocks")
            self.describe(draft, function, target, markers)
        if not targets:
            use = Copy(function.place.line, 0.0, function.signature)
            target_ = Target("vllm", "", function.name, "", function.place.dotted)
            draft = self.book.add("copied-body", target_, function.at, use, "marker blocks", unknown)
            draft.markers = markers
            draft.notes = self.notes(function, None)

    def _unmarked(self, function: _Function) -> None:
        """Look for a body without markers in the overridden member, the stated source and namesakes."""
        if sum(function.code.values()) < 1:
            return
        stated = self.origins.stated(declared(function.header()["source"]), function.name, function.place)
        near = [*([stated] if stated else []), *self.targets.get(function.place, ())]
        copied = [item for item in near if self.origins.is_copy(function.code, self.origins.lines(item), near=True)]
        if not copied:
            others = self.origins.namesakes(function.name, function.code)
            copied = [item for item in others if self.origins.is_copy(function.code, self.origins.lines(item))]
        best, alike = self.origins.best(function.code, copied)
        if best is not None:
            use = Copy(function.place.line, round(alike, 3), function.signature)
            draft = self.book.add("shadow-copy", target_of(best), function.at, use, "like body without markers")
            self.describe(draft, function, best, ())

    def _lost(self, source: Source, symbol: str, markers: tuple[Marker, ...]) -> None:
        line = markers[0].line or markers[0].end_line
        place = Place(source.path, symbol, line, max(item.end_line for item in markers) or line)
        target = Target("vllm", "", "", "", f"{source.module}.{symbol}".rstrip("."))
        reason = "the markers stand outside any function"
        self.book.add("copied-body", target, place, Copy(line, 0.0), "marker blocks", reason).markers = markers

    def describe(self, draft: Draft, function: _Function, target: Located, markers: tuple[Marker, ...]) -> None:
        """Add to a contract what comments, tests and the comparison of signatures say."""
        theirs = target.definition.signature if target.definition else None
        differences: tuple[Difference, ...] = ()
        if theirs and function.signature:
            ignore = ("classmethod", "staticmethod") if function.place in self.targets else ()
            differences = compare(theirs, function.signature, ignore)
            draft.signature = verdict(differences)
        draft.markers = markers
        draft.notes = self.notes(function, target, differences)

    def notes(self, function: _Function, target: Located | None, differences: tuple[Difference, ...] = ()) -> Notes:
        """Return what is said about a function, and what it depends on."""
        said = function.header()
        stated = declared(said["source"])
        true = is_true(stated, target.path, target.symbol, self.refs.get(target.who, ())) if target else None
        return Notes(
            declared=said["source"],
            declared_true=true,
            reason=said["reason"],
            invariant=said["invariant"],
            exception=said["exception"],
            stated_signature=said["signature"],
            removal=said["removal"],
            differences=differences,
            dependencies=tuple(self._dependencies.get((function.place.path, function.place.symbol), ())),
            tests=tuple(focused_tests(self.tests, function.place)),
        )

    def _note_dependencies(self, facts: Facts) -> None:
        for path, symbol, dotted in _touched(facts):
            name = symbol
            while name:
                self._dependencies.setdefault((path, name), {})[dotted] = None
                name = name.rpartition(".")[0]


@dataclass(slots=True)
class _Function:
    """A plugin function while it is compared."""

    source: Source
    lines: Sequence[str]
    place: Located
    node: ast.FunctionDef | ast.AsyncFunctionDef
    _said: Header | None = None
    _code: Counter[str] | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def at(self) -> Place:
        return Place(self.place.path, self.place.symbol, self.place.line, self.place.end_line)

    @property
    def signature(self) -> Signature | None:
        return self.place.definition.signature if self.place.definition else None

    @property
    def code(self) -> Counter[str]:
        if self._code is None:
            self._code = code_lines(self.lines, self.place.line, self.place.end_line)
        return self._code

    def header(self) -> Header:
        """Return the function's header; what the module's docstring says fills its gaps."""
        if self._said is None:
            docstring = ast.get_docstring(self.node) or ""
            own = header(self.lines, self.place.line, body_start(self.node), docstring)
            whole = header((), 1, 1, ast.get_docstring(self.source.tree) or "")
            self._said = Header({**whole.said, **own.said})
        return self._said


def _touched(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for read in facts.reads:
        if read.place is not None:
            yield read.spot.path, read.spot.symbol, read.place.dotted
    for called in facts.calls:
        yield called.spot.path, called.spot.symbol, called.place.dotted


def focused_tests(tests: Sequence[Source], place: Located) -> Iterator[str]:
    """Yield test ids that speak of a plugin function's module and its name; the file when no function names it."""
    name = place.symbol.rpartition(".")[2]
    owner = place.symbol.split(".")[0]
    last = place.module.rpartition(".")[2]
    for source in tests:
        if place.module not in source.text and not (
            last in source.text and place.module.rpartition(".")[0] in source.text
        ):
            continue
        lines = source.text.splitlines()
        named = [
            node.name
            for node in source.tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith("test")
            and any(name in line or owner in line for line in lines[node.lineno - 1 : node.end_lineno])
        ]
        yield from (f"{source.path}::{item}" for item in named)
        if not named:
            yield source.path


def targets_of(
    survey: Survey, patches: Sequence[Write], book: Book, world: World
) -> dict[Located, tuple[Located, ...]]:
    """Return for each plugin function the upstream functions it stands in for: patched, then overridden."""
    found: dict[Located, dict[Located, None]] = {}
    for write in patches:
        if write.value.place is not None:
            theirs = world.member(write.owner, write.attribute) if write.owner.kind == "class" else None
            theirs = theirs or world.symbol(write.owner.module, write.attribute)
            if isinstance(theirs, Located) and theirs.kind == "function":
                found.setdefault(write.value.place, {})[theirs] = None
    for draft in book.drafts.values():
        if draft.kind == "override" and any(isinstance(use, Override) and use.signature for use in draft.uses):
            theirs = world.resolve(f"{draft.upstream.module}.{draft.upstream.symbol}")
            module = next((item.module for item in survey.functions if item.path == draft.plugin.path), "")
            ours = Located(PLUGIN, draft.plugin.path, module, draft.plugin.symbol)
            if isinstance(theirs, Located) and theirs.kind == "function":
                found.setdefault(ours, {})[theirs] = None
    return {place: tuple(items) for place, items in found.items()}
