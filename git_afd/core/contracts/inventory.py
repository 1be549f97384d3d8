"""The whole inventory of one plugin: sources and upstreams in, contracts and coverage out. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from git_afd.core.contracts.book import Book, Draft
from git_afd.core.contracts.copies import Copies, targets_of
from git_afd.core.contracts.elsewhere import Setters, setters
from git_afd.core.contracts.facts import Faked, Write
from git_afd.core.contracts.features import cells_of, features, refusals
from git_afd.core.contracts.imports import add_imports
from git_afd.core.contracts.mentions import add_entry_points, add_environment, add_fakes, add_pins, add_texts
from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.origins import Origins
from git_afd.core.contracts.overrides import add_classes
from git_afd.core.contracts.patches import Sorted, add_patches, add_writers, sort_writes
from git_afd.core.contracts.subject import Inventory, Subject, Told, Upstreams
from git_afd.core.contracts.surfaces import surfaces
from git_afd.core.contracts.survey import Source, Survey, survey
from git_afd.core.contracts.touches import add_calls, add_reads, unexplained
from git_afd.core.identity.plugin import plugin_candidates
from git_afd.core.names import PACKAGES
from git_afd.core.outcome import Json
from git_afd.core.source.lookup import Tree
from git_afd.core.source.search import Corpus, assignments
from git_afd.core.source.world import PLUGIN, World


def read_texts(texts: Mapping[str, str], sources: Mapping[str, str]) -> Told:
    """Read what the plugin's texts say by themselves; `texts` may speak of versions, `sources` are its modules."""
    return Told(cells_of({**texts, **sources}), plugin_candidates(texts))


def inventory(
    subject: Subject, plugin: Tree, upstreams: Upstreams, told: Callable[[], Told] | None = None
) -> Inventory:
    """Take the inventory: read everything once, then one theme after the other.

    `told` gives what :func:`read_texts` says of the subject's texts, where they are read elsewhere meanwhile.
    """
    world = World({PLUGIN: plugin, **upstreams.trees})
    found = survey(subject.sources, world, upstreams.versions)
    facts, book = found.facts, Book()
    tests = [source for source in subject.sources if subject.kind_of(source.path) == "test"]
    production = [source for source in subject.sources if subject.kind_of(source.path) != "test"]
    _fakes_by_assignment(found, {source.path for source in tests})
    writes = sort_writes(facts, world)
    drafts = add_patches(book, facts, world, writes, upstreams.corpus)
    add_writers(drafts, writes.patches, _other_writers(drafts, upstreams))
    add_classes(book, world, facts)
    add_reads(book, facts, (*writes.states, *writes.kept), _set_elsewhere(found, world, upstreams.corpus), world)
    add_calls(book, facts)
    add_imports(book, subject.sources, world, facts)
    add_texts(book, facts, world)
    add_fakes(book, facts, world)
    add_environment(book, facts, world)
    for path, text in subject.texts.items():
        if path == "pyproject.toml":
            add_entry_points(book, path, text, world)
    sources = {source.path: source.text for source in subject.sources}
    texts = told() if told else read_texts(subject.texts, sources)
    add_pins(book, texts.versions)
    marked = _copies(book, found, writes, subject, (production, tests), upstreams)
    contracts = tuple(book.contracts())
    cells = features({**subject.texts, **sources}, refusals(production), texts.cells)
    return Inventory(contracts, cells, coverage(contracts, subject, marked))


def _copies(
    book: Book,
    found: Survey,
    writes: Sorted,
    subject: Subject,
    parts: tuple[Sequence[Source], Sequence[Source]],
    upstreams: Upstreams,
) -> tuple[int, int]:
    wanted = frozenset(place.symbol.rpartition(".")[2] for place in found.functions)
    copies = Copies(book, found, Origins(found.world, upstreams.corpus, wanted), subject.refs, parts[1])
    copies.targets = targets_of(found, writes.patches, book, found.world)
    return copies.add(parts[0])


def _fakes_by_assignment(found: Survey, tests: set[str]) -> None:
    """Move what tests assign on upstream modules and classes to the stand-ins: a test patches nothing for good."""
    for write in [item for item in found.facts.writes if item.spot.path in tests]:
        del found.facts.writes[write]
        dotted = f"{write.owner.dotted}.{write.attribute}"
        found.facts.faked.append(Faked(write.spot, dotted, "assignment"))


def _other_writers(drafts: Mapping[str, Draft], upstreams: Upstreams) -> dict[str, tuple[Write, ...]]:
    """Return what the upstreams themselves write on each other's modules and classes (vLLM-Ascend's patches)."""
    found: dict[str, tuple[Write, ...]] = {}
    for who, tree in upstreams.trees.items():
        others = {name: other for name, other in upstreams.trees.items() if name != who}
        names = {key.rpartition(".")[2] for key, draft in drafts.items() if draft.upstream.name != who}
        if not others or not names:
            continue
        corpus = upstreams.corpus(who)
        packages = [PACKAGES[name].encode() for name in others]
        if not any(package in data for data in corpus.values() for package in packages):
            continue  # it does not know the others at all
        paths = dict.fromkeys(path for path, *_ in assignments(corpus, names))
        world = World({PLUGIN: tree, **others})
        sources = [source for path in paths if (source := _source(tree, path, corpus[path])) is not None]
        written = survey(sources, world, upstreams.versions).facts.writes if sources else {}
        found[who] = tuple(write for write in written if f"{write.owner.dotted}.{write.attribute}" in drafts)
    return found


def _source(tree: Tree, path: str, data: bytes) -> Source | None:
    import ast

    from git_afd.core.source.parsing import parse

    name = tree.name_of(path)
    text = data.decode("utf-8", "replace")
    parsed = parse(text, name)
    return Source(path, name, text, parsed) if isinstance(parsed, ast.Module) else None


def _set_elsewhere(found: Survey, world: World, corpus: Corpus) -> Setters:
    touched = {read.place.path for read in found.facts.reads if read.place}
    touched |= {item.place.path for item in found.facts.calls}
    return setters(unexplained(found.facts, world), world, corpus, touched)


def coverage(contracts: Iterable[Contract], subject: Subject, marked: tuple[int, int]) -> dict[str, Json]:
    """Say what the inventory covers and where its gaps are: counts, never assumptions."""
    rows = list(contracts)
    bodies = [row for row in rows if row.kind in ("copied-body", "monkeypatch", "shadow-copy")]
    functions = {(row.plugin.path, row.plugin.symbol): row for row in bodies if row.notes}
    unknown = [row for row in rows if row.unknown]
    return {
        "production": sum(subject.kind_of(row.plugin.path) != "test" for row in rows),
        "markers": marked[0],
        "markers_sound": marked[1],
        "copied_functions": len(functions),
        "with_source": sum(bool(row.notes and row.notes.declared) for row in functions.values()),
        "with_true_source": sum(bool(row.notes and row.notes.declared_true) for row in functions.values()),
        "with_reason": sum(bool(row.notes and row.notes.reason) for row in functions.values()),
        "with_tests": sum(bool(row.notes and row.notes.tests) for row in functions.values()),
        "with_removal": sum(bool(row.notes and row.notes.removal) for row in functions.values()),
        "surfaces": surfaces(rows),
        "unknown_reasons": dict(Counter(row.unknown for row in unknown).most_common()),
        "files_read": len(subject.sources),
        "files_unreadable": dict(subject.unreadable),
    }
