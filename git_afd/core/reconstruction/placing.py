"""Putting a rebuilt function into its file: the function's lines, and the imports it needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from git_afd.core.reconstruction.model import Reconstruction
from git_afd.core.reconstruction.own_imports import without


def put(text: str, found: Reconstruction) -> str:
    """Return a file's text with the rebuilt function in place of the old one.

    Imports that the module lacks go behind its last plain import, those that nothing uses any more go, and one that
    follows its module takes the old one's place. Raises SyntaxError when the result does not parse.
    """
    lines = text.split("\n")
    lines[found.first - 1 : found.last] = found.text.rstrip("\n").split("\n")
    follows = dict(found.replaced)
    lines = without([follows.get(line, line) for line in lines], found.unused)
    row = _after_imports(lines)
    lines[row:row] = [statement for statement in found.imports if statement not in lines]
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
