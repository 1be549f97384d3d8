"""Putting a rebuilt function into its file: the function's lines, and the imports it needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from git_afd.core.reconstruction.model import Reconstruction
from git_afd.core.reconstruction.own_imports import without


def put(text: str, found: Reconstruction) -> str:
    """Return a file's text with the rebuilt function in place of the old one.

    Imports that the module lacks go behind its last plain import, those of annotations into its TYPE_CHECKING block;
    those that nothing uses any more go, and one that follows its module takes the old one's place. Raises SyntaxError
    when the result does not parse.
    """
    lines = text.split("\n")
    lines[found.first - 1 : found.last] = found.text.rstrip("\n").split("\n")
    follows = dict(found.replaced)
    lines = without([follows.get(line, line) for line in lines], found.unused)
    late = "from __future__ import annotations" in lines
    row = _after_imports(lines)
    wanted = (*found.imports, *(() if late else found.typing))  # without the first line annotations are looked up
    lines[row:row] = [statement for statement in wanted if statement not in lines]
    lines = _with_typing(lines, found.typing if late else ())
    result = "\n".join(lines)
    ast.parse(result)
    return result


def _after_imports(lines: Sequence[str]) -> int:
    """Return how many lines stand before the end of the last import at module level that is no ``__future__``."""
    body = ast.parse("\n".join(lines)).body
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    if imports:
        return imports[-1].end_lineno or imports[-1].lineno
    first = body[0] if body else None
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return (first.end_lineno or 0) if first is not None and is_docstring else 0


def _with_typing(lines: Sequence[str], statements: Sequence[str]) -> list[str]:
    """Return the lines with imports in the module's block for type checkers; one is made where there is none."""
    body = ast.parse("\n".join(lines)).body
    block = next((node for node in body if isinstance(node, ast.If) and _last(node.test) == "TYPE_CHECKING"), None)
    known = {line.strip() for line in lines}
    wanted = [statement for statement in statements if statement not in known]
    if not wanted:
        return list(lines)
    if block is not None:
        row, margin = block.body[-1].end_lineno or block.lineno, " " * block.body[0].col_offset
        return [*lines[:row], *(margin + statement for statement in wanted), *lines[row:]]
    row = _after_imports(lines)
    bound = {item.asname or item.name for node in body if isinstance(node, ast.ImportFrom) for item in node.names}
    head = [] if "TYPE_CHECKING" in bound else ["from typing import TYPE_CHECKING"]
    return [*lines[:row], *head, "", "if TYPE_CHECKING:", *(f"    {statement}" for statement in wanted), *lines[row:]]


def _last(test: ast.expr) -> str:
    return ast.unparse(test).rpartition(".")[2]
