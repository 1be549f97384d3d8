"""All checks of patch files together. Pure: the hooks, the gates and ``git afd verify --patches`` call the same."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from git_afd.core.contracts.book import Book
from git_afd.core.contracts.copies import targets_of
from git_afd.core.contracts.headers import declared
from git_afd.core.contracts.markers import Block, blocks
from git_afd.core.contracts.origins import Origins
from git_afd.core.contracts.patches import sort_writes
from git_afd.core.contracts.survey import Source, Survey, survey
from git_afd.core.finding import Finding
from git_afd.core.patch_checks.added import added_rows, imports, reflection, said
from git_afd.core.patch_checks.functions import PatchFunction, headers, markers, signatures
from git_afd.core.patch_checks.model import Against, Checked, NotChecked, PatchedFile, Read
from git_afd.core.reconstruction.units import Reading, normal_key
from git_afd.core.source.definitions import Module
from git_afd.core.source.index import index_module
from git_afd.core.source.parsing import parse
from git_afd.core.source.world import PLUGIN, Located, World


def patch_findings(files: Sequence[PatchedFile], against: Against) -> Checked:
    """Check these files: markers, headers, signatures, reflection and imports on added lines.

    Takes the files with their text now and at the base, and what they are held against; returns every finding with
    its place (``path:line``), what could not be looked at with its reason, and which functions are not as at the
    base. Raises nothing: a file that does not parse is a finding.

    It is one judgement with several doors: ``git afd verify --patches`` shows all of it, the static gate fails by all
    of it, and commit, pre-commit and push refuse by what ``refused.py`` takes from it. Codes, places and the meaning
    of the three fields stay as they are; a new check adds a code.
    """
    world = World({PLUGIN: against.plugin, **against.upstreams})
    reads: list[tuple[Read, Source]] = []
    found: list[Finding] = []
    for file in files:
        tree = parse(file.text, file.module)
        module = (
            index_module(file.text, file.module, versions=against.versions, tree=tree)
            if isinstance(tree, ast.Module)
            else tree
        )
        if isinstance(tree, ast.Module) and isinstance(module, Module):
            read = Read(file, module, added_rows(file.base, file.text))
            reads.append((read, Source(file.path, file.module, file.text, tree)))
        else:
            reason = getattr(tree, "reason", "it cannot be read")
            found.append(Finding("patch-unparsable", file.path, f"{file.path} does not parse: {reason}", "mend it"))
    known = survey([source for _, source in reads], world, against.versions)
    targets = targets_of(known, sort_writes(known.facts, world).patches, Book(), world)
    origins = Origins(world, lambda _: {}, frozenset())
    functions: dict[str, list[PatchFunction]] = {}
    left: list[NotChecked] = []
    for read, source in reads:
        marked = blocks(source.text, read.module, source.tree) if "PATCH" in source.text else ()
        functions[source.path] = list(_functions(source, marked, known, targets, origins))
        answers = _file(read, source, marked, functions[source.path], against, world)
        for answer in answers:
            (found if isinstance(answer, Finding) else left).append(answer)  # type: ignore[arg-type]  # told apart
    bases = {file.path: file.base for file in files}
    touched = [one.place for path, items in functions.items() for one in items if one.text not in (bases[path] or "")]
    return Checked(tuple(sorted(found)), tuple(left), sum(map(len, functions.values())), frozenset(touched))


def _file(
    read: Read,
    source: Source,
    marked: tuple[Block, ...],
    functions: Sequence[PatchFunction],
    against: Against,
    world: World,
) -> Iterator[Finding | NotChecked]:
    yield from markers(source.path, marked)
    for function in functions:
        yield from headers(function, against)
        yield from signatures(function, against)
    taken, spared = _of_upstream(read, marked, functions, against)
    yield from reflection(read, source.tree, taken, spared)
    yield from imports(read, world, against.missing)


def _functions(
    source: Source,
    marked: tuple[Block, ...],
    known: Survey,
    targets: Mapping[Located, tuple[Located, ...]],
    origins: Origins,
) -> Iterator[PatchFunction]:
    """Yield the file's functions that are installed over an upstream one, or hold markers."""
    symbols = {block.symbol for block in marked if block.symbol}
    for place, waiting in known.functions_in(source.path):
        if place.definition is None:
            continue
        found = targets.get(place, ())
        if not found and place.symbol not in symbols:
            continue
        function = PatchFunction(source, place.definition, waiting.node, found)
        stated = declared(function.header()["source"]) if not found else None
        origin = origins.stated(stated, waiting.node.name, place) if stated else None
        yield PatchFunction(source, place.definition, waiting.node, (origin,)) if origin else function


def _of_upstream(
    read: Read, marked: Iterable[Block], functions: Sequence[PatchFunction], against: Against
) -> tuple[set[str], set[int]]:
    """Return what upstream's own functions hold (as text), and rows of copies whose upstream is not at hand."""
    inside = {row for block in marked for row in range(block.marker.line, block.marker.end_line + 1)}
    taken: set[str] = set()
    spared: set[int] = set()
    reading = Reading(tuple(item.local for item in read.module.imports if not item.symbol))
    for function in functions:
        for target in function.targets:
            text = against.source(target.who, target.path)
            taken |= _expressions(text, target.line, target.end_line, reading) if text else set()
        if not function.targets:
            spared |= set(range(function.definition.line, function.definition.end_line + 1)) - inside
    return taken, spared


def _expressions(text: str, first: int, last: int, reading: Reading) -> set[str]:
    lines = text.split("\n")[first - 1 : last]
    tree = parse("if 1:\n" + "\n".join(lines) if lines and lines[0][:1] == " " else "\n".join(lines), "upstream")
    nodes = list(ast.walk(tree)) if isinstance(tree, ast.Module) else []
    kept = [node for node in nodes if isinstance(node, ast.Call | ast.ExceptHandler | ast.arg | ast.AnnAssign)]
    heads = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {said(node) for node in (*kept, *heads)} | {normal_key(node, reading) for node in kept}
