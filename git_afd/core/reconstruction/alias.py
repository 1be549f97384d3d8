"""A module alias of the plugin when the target's function has left that module: whether its import can follow."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from git_afd.core.reconstruction.model import Copy, Question, Stale


def stale(copy: Copy, alias: str, module: str, klass: str, reach: frozenset[str], names: frozenset[str]) -> Stale:
    """Return what an alias of the old module means; see :class:`Stale` for `reach` and `names`.

    `klass` is the class that holds the target's function: the line that installs the function there may follow too.
    """
    tree = ast.parse(copy.text)
    rows = copy.text.split("\n")
    statement = next((rows[node.lineno - 1] for node in tree.body if _imports(node, alias)), "")
    simple = re.fullmatch(r"(?:import [\w.]+|from [\w.]+ import \w+) as \w+|from [\w.]+ import \w+", statement)
    name = _name(rows, copy.line)
    others = sorted({line for line, node in _uses(tree, copy, alias) if not _installs(node, alias, klass, name)})
    return Stale(module, reach, names, tuple(others), statement if simple else "")


def followed(found: Stale, alias: str, home: str, needed: list[str]) -> tuple[str, str] | Question:
    """Return the old import statement and the one that takes its place; a question when others need the old one."""
    where = f"the target's function stands in {home} now and reads {', '.join(needed)} there"
    ask = f"under which alias shall the plugin import {home}?"
    if found.others:
        lines = ", ".join(str(line) for line in found.others)
        text = f"{where}; {alias} is {found.module}, and other lines of this file use it too ({lines}): {ask}"
        return Question("alias-moved", text)
    if not found.statement:
        return Question("alias-moved", f"{where}; {alias} is bound by no import of its own line: {ask}")
    package, _, last = home.rpartition(".")
    head = f"import {home}" if found.statement.startswith("import ") else f"from {package} import {last}"
    return found.statement, head if head.endswith(f" {alias}") else f"{head} as {alias}"


def _imports(node: ast.stmt, alias: str) -> bool:
    bound = isinstance(node, ast.Import | ast.ImportFrom) and [item.asname or item.name for item in node.names]
    return bound == [alias]


def _name(rows: list[str], line: int) -> str:
    found = next((match for row in rows[line - 1 :] if (match := re.match(r"\s*(?:async )?def (\w+)", row))), None)
    return found[1] if found else ""


def _uses(tree: ast.Module, copy: Copy, alias: str) -> Iterator[tuple[int, ast.AST]]:
    """Yield every statement outside the function that reads the alias."""
    for node in tree.body:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id == alias and not copy.line <= part.lineno <= copy.end_line:
                yield part.lineno, node


def _installs(node: ast.AST, alias: str, klass: str, name: str) -> bool:
    """Say whether a statement puts the function over the target's: ``alias.Class.name = name``."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    value = node.value.args[0] if isinstance(node.value, ast.Call) and node.value.args else node.value
    target = ast.unparse(node.targets[0]).rpartition(".")[0]
    return isinstance(value, ast.Name) and value.id == name and target == ".".join(filter(None, (alias, klass)))
