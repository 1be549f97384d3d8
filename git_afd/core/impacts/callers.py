"""Who in an upstream calls what a plugin function stands for: the calls that may reach it, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.contracts.uses import Call
from git_afd.core.impacts.effect import Case
from git_afd.core.impacts.sides import Side
from git_afd.core.source.definitions import Module
from git_afd.core.source.lookup import imported
from git_afd.core.source.nodes import walk
from git_afd.core.source.world import PLUGIN, Located

_TOO_MANY: Final = 40
"""Files that call something of a name: more, and the name says nothing about what is called."""


@dataclass(frozen=True, slots=True)
class Seam:
    """What is replaced: upstream's definition now, how it is called, and the one file that calls it (empty: any)."""

    new: Located
    bound: str
    within: str = ""

    def name(self, case: Case) -> str:
        """Return the name by which it is called: who makes an object names its class."""
        outer, _, name = self.new.symbol.rpartition(".")
        if name != "__init__":
            return name
        return (case.now.owner.symbol if case.now.owner else outer).rpartition(".")[2]


def upstream_calls(
    side: Side, who: str, name: str, *, within: str = "", says: Sequence[str] = ()
) -> Iterator[tuple[str, ast.Call]]:
    """Yield calls of a name in an upstream's sources with the file's path.

    `within` is the one file to look into (empty: all); only files that give one of the keywords `says` are read.
    """
    for path in _calling(side, who, name, within, says):
        yield from ((path, node) for node in _calls(side.corpus(who)[path].decode("utf-8", "replace"), name))


def _calling(side: Side, who: str, name: str, within: str = "", says: Sequence[str] = ()) -> list[str]:
    corpus, keywords = side.corpus(who), [f"{item}=".encode() for item in says]
    paths = [path for path in side.holding(who, f"{name}(") if not within or path == within]
    return [path for path in paths if not keywords or any(item in corpus[path] for item in keywords)]


def reaching(case: Case, seam: Seam, *, says: Sequence[str] = ()) -> Iterator[tuple[str, ast.Call]]:
    """Yield the target's calls that may reach the plugin's function; `says` as for :func:`upstream_calls`."""
    who = case.contract.upstream.name if seam.within else seam.new.who
    for path, node in upstream_calls(case.sides[1], who, seam.name(case), within=seam.within, says=says):
        if case.contract.kind != "override" or _comes_down(case, seam, who, (path, node)):
            yield path, node


def never_runs(case: Case, seam: Seam) -> bool:
    """Say whether upstream calls it, but only where the plugin's class has put its own method."""
    who = seam.new.who
    if len(_calling(case.sides[1], who, seam.name(case))) > _TOO_MANY:
        return False
    some = next(upstream_calls(case.sides[1], who, seam.name(case)), None)
    return some is not None and next(reaching(case, seam), None) is None


def _comes_down(case: Case, seam: Seam, who: str, site: tuple[str, ast.Call]) -> bool:
    """Say whether a call may reach an override: not through super(), not from a method that is overridden too."""
    path, node = site
    module = case.sides[1].module_at(who, path)
    if module is None:
        return True
    if isinstance(node.func, ast.Name):
        name = node.func.id  # a class that is named is itself; one in a local name may be the plugin's
        made = seam.new.symbol.endswith(".__init__")
        return not made or (name not in module.definitions and imported(module, name) is None)
    taken = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(taken, ast.Call) and isinstance(taken.func, ast.Name) and taken.func.id == "super":
        return False
    return not (isinstance(taken, ast.Name) and taken.id == "self" and _is_overridden(case, module, node.lineno))


def _is_overridden(case: Case, module: Module, line: int) -> bool:
    """Say whether the method around a line is one that the plugin's class defines itself."""
    around = [
        item for item in module.definitions.values() if item.kind == "function" and item.line <= line <= item.end_line
    ]
    if not around:
        return False
    outer, _, name = min(around, key=lambda item: len(item.name)).name.rpartition(".")
    klass = plugin_class(case)
    if klass is None:
        return False
    family = {(place.module, place.symbol) for place in case.sides[1].world.ancestry(klass).classes}
    if (module.name, outer) not in family:
        return False
    nearest = case.sides[1].world.member(klass, name)
    return isinstance(nearest, Located) and nearest.who == PLUGIN


def plugin_class(case: Case) -> Located | None:
    """Return the plugin's class around a contract's place, as it is at the target; None when there is none."""
    tree = case.sides[1].tree(PLUGIN)
    path, symbol = case.contract.plugin.path, case.contract.plugin.symbol.rpartition(".")[0]
    module = tree.name_of(path) if tree else ""
    found = case.sides[1].world.resolve(f"{module}.{symbol}") if module and symbol else None
    return found if isinstance(found, Located) and found.kind == "class" else None


def called_before(case: Case, seam: Seam, path: str) -> tuple[Call, ...]:
    """Return how a file called it at the current commit."""
    who = case.contract.upstream.name if seam.within else seam.new.who
    found = upstream_calls(case.sides[0], who, seam.name(case), within=path)
    return tuple(call_of(node) for _, node in found)


def is_telling(case: Case, seam: Seam) -> bool:
    """Say whether the name alone tells what is called: few files call anything of that name."""
    return len(_calling(case.sides[1], seam.new.who, seam.name(case), seam.within)) <= _TOO_MANY


def call_of(node: ast.Call) -> Call:
    """Return what a call in an upstream passes."""
    stars = any(isinstance(item, ast.Starred) for item in node.args)
    keywords = tuple(item.arg for item in node.keywords if item.arg)
    count = sum(not isinstance(item, ast.Starred) for item in node.args)
    return Call(node.lineno, "function", count, keywords, stars, len(keywords) != len(node.keywords))


def _calls(text: str, name: str) -> Iterator[ast.Call]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == name:
                yield node
