"""Expressions and signatures as they are written, white space folded."""

from __future__ import annotations

import ast
import re
from typing import Final

from git_afd.core.source.definitions import Parameter, ParameterKind, Signature

_FOLD = re.compile(r"\s+")
_AFTER_OPENING: Final = re.compile(r"([(\[{]) ")
_BEFORE_CLOSING: Final = re.compile(r",? ([)\]}])")
_LAST_COMMA: Final = re.compile(r",([)\]}])")
_FOLDABLE: Final = re.compile(r"[^\S ]|  |[(\[{] | [)\]}]|,[)\]}]")
"""What folding changes: white space that is not one blank, and what only formatting puts beside brackets."""


class Written:
    """The source of any node, white space folded: slices by line, since ast.unparse costs as much as parsing."""

    def __init__(self, text: str) -> None:
        """Keep a text's lines: an expression's columns are counted in bytes of UTF-8."""
        self._lines = text.encode("utf-8", "surrogatepass").split(b"\n")

    def __call__(self, node: ast.expr) -> str:
        """Return an expression as it is written."""
        if type(node) is ast.Name:
            return node.id
        if type(node) is ast.Constant and node.value is None:
            return "None"
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if first == last:
            data = self._lines[first][node.col_offset : node.end_col_offset]
        else:
            middle = self._lines[first + 1 : last]
            data = b"\n".join(
                [self._lines[first][node.col_offset :], *middle, self._lines[last][: node.end_col_offset]]
            )
        return fold_space(data.decode("utf-8", "surrogatepass"))


def fold_space(text: str) -> str:
    """Fold white space and drop what only formatting adds, so that a re-wrapped expression reads the same."""
    if not _FOLDABLE.search(text):
        return text.strip()
    folded = _FOLD.sub(" ", text).strip()
    if " " in folded or folded.endswith((",)", ",]", ",}")):
        folded = _AFTER_OPENING.sub(r"\1", folded)
        folded = _BEFORE_CLOSING.sub(r"\1", folded)
        folded = _LAST_COMMA.sub(r"\1", folded)
    return folded


def signature_of(node: ast.FunctionDef | ast.AsyncFunctionDef, text: Written) -> Signature:
    """Return a function node's signature; `text` turns an expression into its source."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    found: list[Parameter] = []
    for place, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        kind: ParameterKind = "positional-only" if place < len(arguments.posonlyargs) else "positional"
        found.append(_parameter(argument, kind, default, text))
    if arguments.vararg:
        found.append(_parameter(arguments.vararg, "var-positional", None, text))
    found += [
        _parameter(argument, "keyword", default, text)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        found.append(_parameter(arguments.kwarg, "var-keyword", None, text))
    return Signature(
        tuple(found),
        text(node.returns) if node.returns else None,
        tuple(text(item) for item in node.decorator_list),
        isinstance(node, ast.AsyncFunctionDef),
    )


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None, text: Written) -> Parameter:
    annotation = text(argument.annotation) if argument.annotation else None
    return Parameter(argument.arg, kind, text(default) if default else None, annotation)
