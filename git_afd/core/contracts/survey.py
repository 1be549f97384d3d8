"""Reading all of a plugin's modules: facts in, with what patched functions are called with taken from their targets."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from git_afd.core.contracts.evaluate import Evaluator
from git_afd.core.contracts.facts import Facts, Passed, Write
from git_afd.core.contracts.kinds import Kinds
from git_afd.core.contracts.passing import tells
from git_afd.core.contracts.uses import Wrapping
from git_afd.core.contracts.values import Instance, Thing, Value
from git_afd.core.contracts.walk import Waiting, Walk
from git_afd.core.contracts.writes import invoke
from git_afd.core.source.versions import Versions
from git_afd.core.source.world import PLUGIN, Located, World

_ROUNDS: Final = 4
_SETS: Final = 64
"""So often a function is read again at most."""


@dataclass(frozen=True, slots=True)
class Source:
    """One module of the plugin: path, dotted name, text and syntax tree."""

    path: str
    module: str
    text: str
    tree: ast.Module


@dataclass(slots=True)
class Survey:
    """What reading gave: the facts, the functions by place, and the plugin's kinds for further questions."""

    world: World
    kinds: Kinds
    facts: Facts
    functions: Mapping[Located, Waiting] = field(default_factory=dict)
    _by_path: dict[str, list[tuple[Located, Waiting]]] = field(default_factory=dict)

    def functions_in(self, path: str) -> Sequence[tuple[Located, Waiting]]:
        """Return the functions of a file in the order in which they were read."""
        if not self._by_path:
            for place, waiting in self.functions.items():
                self._by_path.setdefault(place.path, []).append((place, waiting))
        return self._by_path.get(path, [])


def survey(sources: Sequence[Source], world: World, versions: Versions) -> Survey:
    """Read every module in the order given; then once more each function that replaces an upstream one."""
    kinds, facts = Kinds(world), Facts()
    walk = Walk(Evaluator(world, kinds, facts, invoke), versions)
    walk.parameters = lambda waiting: _inherited(waiting, world, kinds)
    for source in sources:
        walk.module(source.tree, source.module, source.path)
    for write in list(facts.writes):
        waiting = walk.functions.get(write.value.place) if write.value.place else None
        if waiting is not None and waiting.klass is None:
            walk.function(waiting, _seeds(write, waiting, world, kinds))
    _read_as_called(walk, kinds, facts)
    return Survey(world, kinds, facts, walk.functions)


def _read_as_called(walk: Walk, kinds: Kinds, facts: Facts) -> None:
    """Read functions again with what the plugin itself passes to parameters that say nothing about themselves.

    Once for each different set of values: a helper that installs patches is called for many targets. What is read
    then may pass on what it was given, so this is repeated until nothing new is said.
    """
    done: dict[Located, set[tuple[tuple[str, Value | None], ...]]] = {}
    for _ in range(_ROUNDS):
        todo = list(facts.passed)
        facts.passed.clear()
        for passed in todo:
            waiting = walk.functions.get(passed.place)
            fresh = _fresh(passed, kinds)
            seen = done.setdefault(passed.place, set())
            if waiting is None or not any(tells(value) for _, value in fresh) or fresh in seen or len(seen) > _SETS:
                continue
            seen.add(fresh)
            walk.function(waiting, {}, replace(passed, values=fresh))


def _fresh(passed: Passed, kinds: Kinds) -> tuple[tuple[str, Value | None], ...]:
    """Return what is passed to parameters whose annotation says nothing."""
    known = kinds.parameters(passed.place)
    return tuple((name, value) for name, value in passed.values if known.get(name) is None)


def _inherited(waiting: Waiting, world: World, kinds: Kinds) -> dict[str, Value | None]:
    """Return what an overridden upstream method's annotations say of the parameters of the same names."""
    if waiting.klass is None:
        return {}
    for base in world.ancestry(waiting.klass).classes[1:]:
        member = world.own(base, waiting.node.name) if base.who != PLUGIN else None
        if member is not None and member.kind == "function":
            return dict(kinds.parameters(member))
    return {}


def _seeds(write: Write, waiting: Waiting, world: World, kinds: Kinds) -> dict[str, Value | None]:
    """Return what the parameters of a replacement are: the patched class's object, and upstream's annotations."""
    arguments = [*waiting.node.args.posonlyargs, *waiting.node.args.args]
    if write.owner.kind != "class":
        found = world.symbol(write.owner.module, write.attribute)
        return dict(kinds.parameters(found)) if isinstance(found, Located) else {}
    member = world.member(write.owner, write.attribute)
    seeds = dict(kinds.parameters(member)) if isinstance(member, Located) else {}
    if arguments:
        seeds[arguments[0].arg] = _first(write.value.wrapped, write.owner) or seeds.get(arguments[0].arg)
    return seeds


def _first(wrapped: Wrapping, owner: Located) -> Value | None:
    if wrapped == "staticmethod":
        return None
    return Thing(owner) if wrapped == "classmethod" else Instance(owner)
