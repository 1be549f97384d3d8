"""What went with a patch whose target is gone: the attributes that only it set, and the blocks that still read them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from git_afd.core.contracts.model import Marker
from git_afd.core.impacts.sides import Side
from git_afd.core.reconstruction.model import Lost, Question
from git_afd.core.source.definitions import Unreadable
from git_afd.core.source.parsing import parse
from git_afd.core.source.world import PLUGIN

Function = ast.FunctionDef | ast.AsyncFunctionDef
Place = tuple[str, str, int, tuple[Marker, ...]]
"""A plugin function: path, symbol, first line, its blocks."""

_ASKS = ("getattr", "hasattr")


def lost_setters(
    gone: Mapping[str, Place], living: Collection[Place], upstream: str, sides: tuple[Side, Side]
) -> tuple[Lost, ...]:
    """Return what the patches in `gone` set and nothing sets any more.

    `gone` maps what a patch stood in for (``path::symbol``) to the patch; `living` are the other patch functions.
    What a block set is the plugin's own; what upstream's own lines set counts as set while anything in the folder
    of the old function still sets an attribute of that name.
    """
    paths = {path for path, *_ in (*living, *gone.values())}
    trees = {path: parse(sides[0].texts(PLUGIN, path) or "", path) for path in paths}
    others = {name for place in living for name in _set_in(place, trees)}
    found: list[Lost] = []
    for target, place in gone.items():
        folder = target.partition("::")[0].rpartition("/")[0]
        near = [data for path, data in sides[1].corpus(upstream).items() if path.rpartition("/")[0] == folder]
        sets = {
            name: (line, label)
            for name, (line, label) in _set_in(place, trees).items()
            if name not in others and (label or not _is_set(name, near))
        }
        if sets:
            found.append(Lost(f"{place[0]}::{place[1]}", target, sets))
    return tuple(found)


def _is_set(name: str, texts: Sequence[bytes]) -> bool:
    pattern = re.compile(rb"\bself\.%b\b\s*(?::[^=\n]+)?=[^=]" % name.encode())
    return any(pattern.search(data) for data in texts)


def _set_in(place: Place, trees: Mapping[str, ast.Module | Unreadable]) -> dict[str, tuple[int, str]]:
    """Return the attributes of its first parameter that a function assigns: line (from 1) and the block's label.

    `trees` has the syntax tree of each plugin file by path.
    """
    path, symbol, line, markers = place
    node = _function(trees[path], symbol.rpartition(".")[2], line)
    parameters = [*node.args.posonlyargs, *node.args.args] if node else []
    found: dict[str, tuple[int, str]] = {}
    for part in ast.walk(node) if node and parameters else ():
        if not isinstance(part, ast.Attribute) or not isinstance(part.ctx, ast.Store):
            continue
        if isinstance(part.value, ast.Name) and part.value.id == parameters[0].arg:
            block = next((item.label for item in markers if item.line < part.lineno < item.end_line), "")
            found.setdefault(part.attr, (part.lineno, block))
    return found


def _function(tree: ast.Module | Unreadable, name: str, line: int) -> Function | None:
    nodes = ast.walk(tree) if isinstance(tree, ast.Module) else ()
    named = (item for item in nodes if isinstance(item, Function) and item.name == name)
    return next((item for item in named if _first(item) == line), None)


def _first(node: Function) -> int:
    return min([node.lineno, *(item.lineno for item in node.decorator_list)])


def unset(
    marker: Marker, nodes: Sequence[ast.AST], target: ast.AST, text: str, lost: Sequence[Lost]
) -> Iterator[Question]:
    """Yield a question for each lost patch whose attributes a block reads, itself or through the plugin's functions.

    `nodes` are the block's statements, `text` is the plugin's file. What the target's own function reads, it has.
    """
    tree = parse(text, "plugin") if lost else None
    body = tree.body if isinstance(tree, ast.Module) else []
    helpers = {item.name: item for item in body if isinstance(item, Function)}
    kept = {name for _, name in _attributes(target)}
    read: dict[str, str] = {}
    for name, through in _read(nodes, helpers):
        read.setdefault(name, through)
    for patch in lost:
        wanted = [name for name in read if name in patch.sets and name not in kept]
        if wanted:
            said = ", ".join(_said(name, read[name], *patch.sets[name]) for name in wanted)
            them = "it" if len(wanted) == 1 else "them"
            reads = (
                f"the block {marker.label!r} reads {said}; only {patch.place} set {them}, as patch of {patch.target}"
            )
            yield Question(
                "attribute-unset", f"{reads}, which the target no longer has: what sets {them} now?", marker.line
            )


def _said(name: str, through: str, line: int, label: str) -> str:
    way = f" through {through}" if through else ""
    where = f"line {line}, block {label!r}" if label else f"line {line}"
    return f"`{name}`{way} (set in {where})"


def _read(nodes: Sequence[ast.AST], helpers: Mapping[str, Function]) -> Iterator[tuple[str, str]]:
    """Yield the attributes that statements read of any name, with the helper that does it (empty: they themselves)."""
    for node in nodes:
        for _, name in _attributes(node):
            yield name, ""
    waiting = [call for node in nodes for call in _passed(node, helpers)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        helper, parameter = waiting.pop(0)
        if (helper, parameter) in seen:
            continue
        seen.add((helper, parameter))
        yield from ((name, helper) for owner, name in _attributes(helpers[helper]) if owner == parameter)
        waiting += list(_passed(helpers[helper], helpers, parameter))


def _attributes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (name, attribute) for every attribute that is read of a plain name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) and isinstance(part.value, ast.Name):
            yield part.value.id, part.attr
        asks = isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _ASKS
        if asks and isinstance(part, ast.Call) and len(part.args) > 1:
            owner, name = part.args[:2]
            if isinstance(owner, ast.Name) and isinstance(name, ast.Constant):
                yield owner.id, str(name.value)


def _passed(node: ast.AST, helpers: Mapping[str, Function], name: str = "") -> Iterator[tuple[str, str]]:
    """Yield (function, parameter) for every plain name (or only `name`) that is passed to one of the functions."""
    for part in ast.walk(node):
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name) or part.func.id not in helpers:
            continue
        parameters = helpers[part.func.id].args
        names = [item.arg for item in (*parameters.posonlyargs, *parameters.args)]
        given = [*zip(names, part.args, strict=False), *((item.arg or "", item.value) for item in part.keywords)]
        for parameter, value in given:
            if isinstance(value, ast.Name) and name in ("", value.id):
                yield part.func.id, parameter
