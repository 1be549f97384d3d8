"""A text's syntax tree, or why there is none."""

from __future__ import annotations

import ast
import warnings

from git_afd.core.source.definitions import Unreadable


def parse(text: str, name: str) -> ast.Module | Unreadable:
    """Return a module's syntax tree, or why there is none. Warnings about its style are nobody's business here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Unreadable(name, _reason(error))


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}"
