"""Names of imported modules: relative ones made absolute, and tables that a module serves names from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

_LAZY: Final = re.compile(r"(?P<module>\.*[\w.]*):(?P<symbol>\w+)\Z")


def absolute(module: str, level: int, name: str, *, is_package: bool) -> str:
    """Return the absolute form of a (relative) import in module `name`."""
    if not level:
        return module
    parts = name.split(".")
    keep = len(parts) - level + (1 if is_package else 0)
    return ".".join([*parts[: max(keep, 0)], *([module] if module else [])])


def lazy_entries(table: ast.Dict, name: str, *, is_package: bool) -> Iterator[tuple[str, str]]:
    """Yield the names that a table of the module `name` serves, each with ``module:symbol``, made absolute.

    It reads ``{"Name": ".module:Symbol"}`` and ``{"Name": ".module"}`` (then the symbol has the name itself).
    """
    for key, value in zip(table.keys, table.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            return
        match = _LAZY.match(value.value) or re.fullmatch(r"(?P<module>\.+\w[\w.]*)(?P<symbol>)", value.value)
        if match is None:
            return
        path = match["module"]
        level = len(path) - len(path.lstrip("."))
        module = absolute(path.lstrip("."), level, name, is_package=is_package)
        yield key.value, f"{module}:{match['symbol'] or key.value}"
