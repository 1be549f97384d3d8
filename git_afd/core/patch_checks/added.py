"""What the added lines of a file may not hold: new reflection, and imports that the target does not have.

AGENTS-style rules of the workflow: access known upstream members directly, no broad ``except``, no ``Any`` and
``object`` where a type is known. What a copy takes over from upstream's own function is upstream's.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator
from typing import Final

from git_afd.core.finding import Finding
from git_afd.core.names import PACKAGES
from git_afd.core.patch_checks.model import NotChecked, Read
from git_afd.core.source.definitions import Import
from git_afd.core.source.lookup import Absent, Unknown
from git_afd.core.source.world import World

_LOOSE: Final = ("Any", "object")
_BROAD: Final = ("Exception", "BaseException")
_DIRECT: Final = "access the known member directly, and let a contract that changed show itself as an error"


def added_rows(base: str | None, text: str) -> frozenset[int]:
    """Return the rows (from 1) of a text that its base does not have."""
    lines = text.split("\n")
    if base is None:
        return frozenset(range(1, len(lines) + 1))
    codes = difflib.SequenceMatcher(None, base.split("\n"), lines, autojunk=False).get_opcodes()
    return frozenset(row + 1 for kind, _, _, first, last in codes if kind != "equal" for row in range(first, last))


def reflection(read: Read, tree: ast.Module, upstreams: Collection[str], spared: Collection[int]) -> Iterator[Finding]:
    """Yield new reflection. `upstreams` are expressions of upstream's own functions; `spared` rows are copies."""
    for node in ast.walk(tree):
        row = getattr(node, "lineno", 0)
        if row not in read.added or row in spared:
            continue
        found = _reflective(node)
        if found is None or said(node) in upstreams:
            continue
        code, what, remedy = found
        yield Finding(code, f"{read.file.path}:{row}", f"{what} is added", remedy)


def said(node: ast.AST) -> str:
    """Return a node's text, of a function only what it says to return, of a handler only what it catches."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{node.name} -> {ast.unparse(node.returns) if node.returns else ''}"
    if isinstance(node, ast.ExceptHandler):
        return f"except {ast.unparse(node.type) if node.type else ''}"
    return ast.unparse(node)


def _reflective(node: ast.AST) -> tuple[str, str, str] | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
        return f"reflection-{node.func.id}", f"{ast.unparse(node)[:60]}", _DIRECT
    if isinstance(node, ast.ExceptHandler):
        caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
        if node.type is None or any(isinstance(item, ast.Name) and item.id in _BROAD for item in caught):
            what = f"except {ast.unparse(node.type)}" if node.type else "a bare except"
            return "broad-except", what, "name the exception that can come, or let it pass"
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None and _is_loose(node.annotation):
        name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
        return "loose-type", f"{name}: {ast.unparse(node.annotation)}", "name the type; upstream's classes have names"
    if (
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.returns is not None
        and _is_loose(node.returns)
    ):
        return "loose-type", f"{node.name}() -> {ast.unparse(node.returns)}", "name the type that comes back"
    return None


def _is_loose(annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value in _LOOSE
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return name in _LOOSE


def imports(read: Read, world: World, missing: Collection[str]) -> Iterator[Finding | NotChecked]:
    """Yield added imports of upstream names that the target does not have, and those that cannot be looked up."""
    for item in read.module.imports:
        dotted = item.dotted
        place = f"{read.file.path}:{item.line}"
        owner = next((who for who, package in PACKAGES.items() if dotted.partition(".")[0] == package), "")
        if item.line not in read.added or not owner:
            continue
        if owner in missing or owner not in world.trees:
            yield NotChecked("import", place, f"{dotted}: no source of {owner} is at hand")
            continue
        yield from _import(item, place, world)


def _import(item: Import, place: str, world: World) -> Iterator[Finding | NotChecked]:
    dotted = item.dotted
    answer = world.resolve(dotted)
    if isinstance(answer, Absent):
        where = answer.place or item.module
        message = f"{dotted} is imported, and {where} has no {answer.name.removeprefix(f'{where}.')}"
        yield Finding("import-unresolved", place, message, "git afd diff --show, to see where it went")
    elif isinstance(answer, Unknown):
        yield NotChecked("import", place, f"{dotted}: {answer.reason}")
