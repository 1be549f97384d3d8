"""How alike two function bodies are: a fraction of their code lines, comments and formatting aside."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_SPACE: Final = re.compile(r"\s+")
_ALIAS: Final = re.compile(r"\b\w+_module\.")
_PASSED_ON: Final = re.compile(r"(\w+)=(?:self\.)?\1,?\Z")
_NOISE: Final = ("", ")", "]", "}", "),", "],", "},", "else:", "try:", "pass", "return", "):", "finally:")


def code_lines(lines: Sequence[str], first: int, last: int) -> Counter[str]:
    """Return the code lines of the function between two line numbers (from 1), folded.

    Its signature, comments, arguments that are merely passed on (``name=name,``) and lines that say nothing are left
    out: they are alike in functions that are not.
    """
    found: Counter[str] = Counter()
    for line in lines[_after_signature(lines, first, last) : last]:
        text = line.strip()
        if text.startswith("#"):
            continue
        text = _folded(text.partition("  #")[0].strip())
        if text not in _NOISE and not ("=" in text and _PASSED_ON.match(text)):
            found[text] += 1
    return found


def _folded(text: str) -> str:
    """Fold white space and leave out module aliases; most lines hold neither, which a look tells faster."""
    if "  " in text or not text.isprintable():
        text = _SPACE.sub(" ", text)
    return _ALIAS.sub("", text) if "_module." in text else text


def _after_signature(lines: Sequence[str], first: int, last: int) -> int:
    """Return the index of the first line after the colon that ends a function's signature."""
    started = False
    for index in range(first - 1, min(last, len(lines))):
        text = lines[index].partition("  #")[0].strip()
        started = started or text.startswith(("def ", "async def "))
        if started and text.endswith(":"):
            return index + 1
    return first


def likeness(ours: Counter[str], theirs: Counter[str]) -> float:
    """Return twice the common lines over all lines, 0 when either is empty."""
    total = sum(ours.values()) + sum(theirs.values())
    return 2 * sum((ours & theirs).values()) / total if total else 0.0


def share(ours: Counter[str], theirs: Counter[str]) -> float:
    """Return which fraction of our lines stands in theirs."""
    total = sum(ours.values())
    return sum((ours & theirs).values()) / total if total else 0.0


def body_start(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the line of the first statement after the docstring: comments that introduce a body stand above it."""
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return node.body[1].lineno if len(node.body) > 1 else first.lineno
    return first.lineno
