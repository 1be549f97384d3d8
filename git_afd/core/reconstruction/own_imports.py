"""The imports of the plugin's module once a function is rebuilt: those that nothing uses any more."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

_Import = ast.Import | ast.ImportFrom


def unused(text: str, first: int, last: int, new: str) -> tuple[str, ...]:
    """Return module-level imports that only lines `first` to `last` (from 1) of a file use and `new` does not.

    `new` is what takes the place of those lines. A name that stands in a string (``__all__``) counts as used.
    """
    tree = ast.parse(text)
    inside, outside = set[str](), set[str]()
    for part in ast.walk(tree):
        for name in _used(part):
            (inside if first <= getattr(part, "lineno", 0) <= last else outside).add(name)
    now = {name for part in ast.walk(_function(new)) for name in _used(part)}
    gone = inside - outside - now
    return tuple(local for node in _imports(tree) for local in _locals(node) if local in gone)


def without(lines: Sequence[str], names: Collection[str]) -> list[str]:
    """Return a file's lines without the imports of these names. What cannot be taken out row by row stays."""
    found = list(lines)
    for node in reversed(list(_imports(ast.parse("\n".join(lines))))):
        kept = [alias for alias in node.names if _local(alias) not in names]
        if len(kept) == len(node.names):
            continue
        last = node.end_lineno or node.lineno
        if not kept:
            found[node.lineno - 1 : last] = []
        elif last == node.lineno and found[node.lineno - 1].rstrip().endswith(_text(node.names[-1])):
            node.names = kept
            found[node.lineno - 1] = ast.unparse(node)
        else:
            rows = [alias.lineno for alias in node.names]
            for alias in reversed(node.names):
                if alias not in kept and rows.count(alias.lineno) == 1 and node.lineno < alias.lineno < last:
                    del found[alias.lineno - 1]
    return found


def _imports(tree: ast.Module) -> Iterator[_Import]:
    return (node for node in tree.body if isinstance(node, _Import) and getattr(node, "module", "") != "__future__")


def _locals(node: _Import) -> list[str]:
    return [_local(alias) for alias in node.names]


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _text(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _used(part: ast.AST) -> Iterator[str]:
    if isinstance(part, ast.Name):
        yield part.id
    elif isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value


def _function(text: str) -> ast.Module:
    """Parse a function that may be indented."""
    try:
        return ast.parse("if 1:\n" + text if text[:1].isspace() else text)
    except SyntaxError:
        return ast.Module([], [])
