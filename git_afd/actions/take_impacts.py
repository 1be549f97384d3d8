"""Comparing the plugin's contracts at a target: gather both sides from git objects, ask the core, keep the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from git_afd.actions.gather_sources import Gathered, Opened, gather, opened
from git_afd.actions.reading_ahead import Shelf, reading_ahead
from git_afd.actions.take_inventory import (
    VERSION as INVENTORY_VERSION,
)
from git_afd.actions.take_inventory import (
    inventory_of,
    keep_inventory,
    kept_inventory,
    take_inventory,
    told_by_texts,
)
from git_afd.adapters.analysis_cache import AnalysisCache, key_of
from git_afd.adapters.beside import beside, each_beside
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_history import changes, reverts
from git_afd.adapters.upstream_sources import Revisions, few_collections, frozen_revisions, versions_of
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.subject import Inventory, Upstreams
from git_afd.core.impacts.result import Comparison, History
from git_afd.core.names import PACKAGES
from git_afd.core.policy import Policy
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.lookup import Tree
from git_afd.core.source.versions import ASKS
from git_afd.core.source.world import PLUGIN, World
from git_afd.core.state import Upgrade

if TYPE_CHECKING:
    from git_afd.core.impacts.sides import Side

VERSION: Final = "4"
"""Raised whenever the same sources give other impacts."""

HOW: Final = f"static analysis {VERSION}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is compared: the plugin's commit (full id), its upstreams now and at the target, the policy."""

    commit: str
    current: Revisions
    target: Revisions
    policy: Policy

    @property
    def key(self) -> str:
        """The name of the result in the cache: everything that it depends on."""
        sides = [(side, name, item) for side in ("current", "target") for name, item in sorted(self._of(side).items())]
        named = [f"{side} {name} {item.commit} {' '.join(sorted(item.names()))}" for side, name, item in sides]
        return key_of("impacts", INVENTORY_VERSION, VERSION, self.commit, *named, repr(self.policy.paths))

    def _of(self, side: str) -> Revisions:
        return self.current if side == "current" else self.target


def question_of(session: Session, up: Upgrade) -> Question:
    """Return what an upgrade's comparison asks: its base, and its four frozen commits."""
    current, target = (frozen_revisions(session.git, up.freeze, side) for side in ("current", "target"))
    return Question(up.freeze.base, current, target, session.policy(up).policy)


@dataclass(frozen=True, slots=True)
class Taken:
    """A comparison and the contracts that it speaks of, in the same order."""

    contracts: tuple[Contract, ...]
    comparison: Comparison


def take_impacts(session: Session, question: Question, given: tuple[Contract, ...] = ()) -> Taken:
    """Return the impacts of the target on the plugin's contracts; from the cache if they are there.

    `given` are contracts that were listed by hand: then those are compared, and nothing is kept.
    """
    known = kept_impacts(session, question) if not given else None
    asked = (session, question.commit, question.current, question.policy)
    if known is not None:
        return Taken(take_inventory(*asked).contracts, known)
    listed = Inventory(given, (), {}) if given else kept_inventory(*asked)
    held: list[object] = []
    with beside(lambda: _both(_analysed(session, question, listed, held))) as analysed:
        inventory, comparison = analysed()
    if not listed:
        keep_inventory(*asked, inventory)
    if not given:
        _keep_impacts(session, question, comparison)
    return Taken(inventory.contracts, comparison)


def kept_impacts(session: Session, question: Question) -> Comparison | None:
    """Return a comparison that was made before, None when none is kept."""
    known = AnalysisCache(session.common_dir).get(question.key)
    return known if isinstance(known, Comparison) else None


def _keep_impacts(session: Session, question: Question, made: Comparison) -> None:
    AnalysisCache(session.common_dir).put(question.key, made)


def inventory_with_impacts(session: Session, question: Question) -> Inventory:
    """Return the inventory alone, but where a second process can be had, compare it too and keep that for later.

    An upgrade's target is frozen, and both are one reading of the same sources. Only the inventory is the answer:
    where no comparison comes, for whatever reason, none is kept, and :func:`take_impacts` says why when it is asked.
    """
    asked = (session, question.commit, question.current, question.policy)
    known = kept_inventory(*asked)
    if known is not None:
        return known
    held: list[object] = []
    with each_beside(lambda: _analysed(session, question, None, held)) as results:
        inventory = next(results, None)
        if isinstance(inventory, Inventory):
            keep_inventory(*asked, inventory)
        comparison = next(results, None)
    if not isinstance(inventory, Inventory):
        return take_inventory(*asked)
    if isinstance(comparison, Comparison):
        _keep_impacts(session, question, comparison)
    return inventory


def _analysed(
    session: Session, question: Question, listed: Inventory | None, held: list[object]
) -> Iterator[Inventory | Comparison]:
    """Do the analysis: the inventory, then the comparison.

    What is read is `held`: to free it piece by piece takes longer than to end a process.
    """
    found = gather(session, question.commit, question.current)
    target = _target(session, found, question.target)
    sides = _sides(found, target)
    held += [found, target, sides]
    texts, corpora, kept = (partial(work, found, target) for work in (_texts, _corpora, _keep))
    history = partial(_history, question)
    first = found.upstream.shelves() if listed else (*found.upstream.shelves(), texts)
    ahead = reading_ahead(found.package, [*first, *_shelves(found, target), history, corpora, kept])
    with few_collections(), ahead as later:
        inventory = listed or inventory_of(found, question.policy, lambda: later(texts), held)
        yield inventory
        _settle(found, target, later(corpora))
        told = later(history)
        comparison = _compared(inventory.contracts, question, sides, told if isinstance(told, History) else history())
        if later(kept) is None:
            _keep(found, target)
        yield comparison


def _both(parts: Iterable[Inventory | Comparison]) -> tuple[Inventory, Comparison]:
    told = iter(parts)
    inventory = next(part for part in told if isinstance(part, Inventory))
    comparison = next(part for part in told if isinstance(part, Comparison))
    return inventory, comparison


def _texts(found: Gathered, _: Opened) -> object:
    return told_by_texts(found)


def _corpora(_: Gathered, target: Opened) -> dict[str, dict[str, bytes]]:
    return {name: dict(package.corpus()) for name, package in target.packages.items()}


def _settle(found: Gathered, target: Opened, corpora: object) -> None:
    """Take what the other process read, and read the rest that both halves need, before this one forks again."""
    for name, package in target.packages.items():
        if isinstance(corpora, dict):
            package.learn(corpora[name])
        package.corpus()
        target.facts[name].settle()
        found.upstream.packages[name].corpus()


def _keep(found: Gathered, target: Opened) -> bool:
    found.keep()
    for facts in target.facts.values():
        facts.keep()
    return True


def _compared(
    contracts: Sequence[Contract], question: Question, sides: tuple[Side, Side], history: History
) -> Comparison:
    """Compare every contract: one half here, the other one in a second process, each with the files that it needs."""
    from git_afd.core.impacts.comparison import compared, halves, impacts_of

    mine, others = halves(contracts)
    with beside(lambda: impacts_of([contracts[at] for at in others], sides, history)) as rest:
        rows = dict(zip(mine, impacts_of([contracts[at] for at in mine], sides, history), strict=True))
        rows |= zip(others, rest(), strict=True)
    return compared(contracts, [rows[at] for at in range(len(contracts))], history, question.policy.kind_of)


def sides_of(session: Session, question: Question) -> tuple[Side, Side]:
    """Return the current and the target side; the plugin is the same on both."""
    found = gather(session, question.commit, question.current)
    return _sides(found, _target(session, found, question.target))


def _target(session: Session, found: Gathered, target: Revisions) -> Opened:
    """Open the target's upstreams. No file is read again there that is the same blob at the current commit."""
    versions = versions_of({name: revision.names() for name, revision in target.items()})
    fresh = opened(target, AnalysisCache(session.common_dir), versions)
    trees = {name: _sharing(tree, fresh.packages[name], found, name) for name, tree in fresh.sources.trees.items()}
    return Opened(fresh.packages, fresh.facts, Upstreams(trees, fresh.sources.corpus, versions))


def _sharing(tree: Tree, package: SourceTree, found: Gathered, name: str) -> Tree:
    before = found.upstream.sources.trees[name]

    def load(path: str) -> Module | Unreadable:
        known = before.module(tree.name_of(path)) if _is_same(path, package, found, name) else None
        return known if known is not None else tree.load(path)

    return Tree(tree.paths, load)


def _is_same(path: str, package: SourceTree, found: Gathered, name: str) -> bool:
    """Say whether a file says the same at both commits. One that asks for the vLLM version reads differently."""
    old = found.upstream.packages[name]
    return old.ids.get(path) == package.ids[path] and ASKS.encode() not in (package.data(path) or b"")


def _shelves(found: Gathered, target: Opened) -> Iterator[Shelf]:
    for name, shelf in zip(target.packages, target.shelves(), strict=True):
        yield replace(shelf, wanted=partial(_differs, package=shelf.package, found=found, name=name))


def _differs(path: str, package: SourceTree, found: Gathered, name: str) -> bool:
    return not _is_same(path, package, found, name)


def _sides(found: Gathered, target: Opened) -> tuple[Side, Side]:
    return _side(found, found.upstream), _side(found, target)


def _side(found: Gathered, upstream: Opened) -> Side:
    from git_afd.core.impacts.sides import Side

    packages = {PLUGIN: found.package, **upstream.packages}

    def text(who: str, path: str) -> str | None:
        said = packages[who].text(path) if who in packages else None
        return said if isinstance(said, str) else None

    def corpus(who: str) -> Mapping[str, bytes]:
        return upstream.packages[who].corpus() if who in upstream.packages else {}

    world = World({PLUGIN: found.plugin, **upstream.sources.trees})
    return Side(world, text, corpus, upstream.sources.versions, _torch(upstream))


def _torch(upstream: Opened) -> dict[str, str]:
    """Return the torch that each upstream's own metadata is built for; nothing where it cannot be read."""
    from git_afd.core.identity.pins import pinned

    said = {name: package.outside("pyproject.toml") or "" for name, package in upstream.packages.items()}
    return {name: version for name, text in said.items() if (version := pinned(text, "torch"))}


def _history(question: Question) -> History:
    """Return what git says of both ranges."""
    changed, undone = {}, {}
    for name, old in question.current.items():
        new, folder = question.target[name].commit, PACKAGES[name]
        changed[name] = changes(old.git, old.commit, new, folder)
        undone[name] = reverts(old.git, old.commit, new, folder)
    return History(changed, undone)
