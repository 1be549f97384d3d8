"""A function as a sequence of units: one for each logical line, comparable whatever its formatting.

Two units are the same when their keys are. A key is the line's syntax with everything left out that is understood
to differ in a copy: comments, quotes, trailing commas, annotations of names, the module alias through which an
upstream name is read, ``super(Class, self)`` for ``super()``, type arguments of a call.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_SKIPPED: Final = (tokenize.NL, tokenize.COMMENT, tokenize.ENCODING, tokenize.ENDMARKER)
_WORD: Final = re.compile(r"[A-Za-z_]\w*|\d+|\S")
_HEADS: Final = ("elif", "else", "except", "finally", "case", "try", "match")
BRANCHES: Final = ("elif", "else", "except", "finally", "case")


@dataclass(frozen=True, slots=True)
class Unit:
    """One logical line: depth (the ``def`` has 0), kind (its first word or form), key, rows from 1, column.

    `opens` says that it is a header whose body follows. `lead` is the first row of the comments above it.
    """

    depth: int
    kind: str
    key: str
    first: int
    last: int
    lead: int
    column: int
    opens: bool = False
    words: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """How names of a text are read: aliases that stand for the upstream module, names that stand for others."""

    aliases: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)


class NoUnits(Exception):
    """A text that cannot be read as Python: why."""


def read_units(lines: Sequence[str], reading: Reading) -> list[Unit]:
    """Return the units of a function's lines. Raises NoUnits."""
    found: list[Unit] = []
    try:
        for depth, rows in _logical(lines):
            text = "\n".join(lines[rows[0] - 1 : rows[1]])
            kind, key, opens = _read(text.strip(), reading)
            lead = _lead(lines, rows[0], found[-1].last if found else 0)
            column = len(lines[rows[0] - 1]) - len(lines[rows[0] - 1].lstrip())
            found.append(Unit(depth, kind, key, rows[0], rows[1], lead, column, opens, Counter(_WORD.findall(key))))
    except (tokenize.TokenError, IndentationError, SyntaxError, ValueError, RecursionError) as error:
        raise NoUnits(f"{type(error).__name__}: {error}") from error
    return found


def _logical(lines: Sequence[str]) -> Iterator[tuple[int, tuple[int, int]]]:
    depth, first = 0, 0
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.NEWLINE:
            yield depth, (first, token.start[0])
            first = 0
        elif token.type not in _SKIPPED and not first:
            first = token.start[0]


def _lead(lines: Sequence[str], first: int, floor: int) -> int:
    """Return the first row of the comments that stand directly above a row."""
    row = first
    while row - 1 > floor and lines[row - 2].lstrip().startswith("#"):
        row -= 1
    return row


def _read(text: str, reading: Reading) -> tuple[str, str, bool]:
    word = re.match(r"@|[A-Za-z_]+", text)
    first = word[0] if word else ""
    if first == "@":
        name = ast.unparse(_Normal(reading).visit(_parsed(text + "\ndef f(): pass").body[0]).decorator_list[0])
        head, parenthesis, rest = name.partition("(")
        return "@", f"@{head.rpartition('.')[2]}{parenthesis}{rest}", False
    node, opens = _statement(text, first)
    if node is None:
        return first, first, True
    node = _Normal(reading).visit(node)
    key = ast.unparse(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return "docstring", "docstring", False
    if first == "elif":
        key = "el" + key
    return _kind(node, first), key.removesuffix("\n    pass"), opens


def _statement(text: str, first: str) -> tuple[ast.AST | None, bool]:
    """Parse one logical line; None for a bare ``else:``, ``try:``, ``finally:``."""
    if first in _HEADS and re.fullmatch(r"(?:else|try|finally)\s*:(?:\s*#.*)?", text):
        return None, True
    if first == "elif":
        return _statement(text[2:], "if")
    if first == "except":
        tried = _parsed(f"try:\n    pass\n{text}\n    pass").body[0]
        return (tried.handlers[0] if isinstance(tried, ast.Try | ast.TryStar) else tried), True
    for tail, opens in (("", False), ("\n    pass", True), ("\n    case _: pass", True)):
        try:
            return _parsed(text + tail).body[0], opens
        except SyntaxError:
            continue
    if first == "case":
        chosen = _parsed(f"match x:\n  {text}\n    pass").body[0]
        return (chosen.cases[0] if isinstance(chosen, ast.Match) else chosen), True
    raise SyntaxError(text)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _kind(node: ast.AST, first: str) -> str:
    plain = {ast.Assign: "=", ast.AugAssign: "=", ast.AnnAssign: "annotation", ast.Expr: "call"}
    return plain.get(type(node), first)


class _Normal(ast.NodeTransformer):
    """Takes away what is understood to differ in a copy."""

    def __init__(self, reading: Reading) -> None:
        self._aliases = reading.aliases
        self._renamed = reading.renamed

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Read ``alias.name`` as ``name``."""
        if isinstance(node.value, ast.Name) and node.value.id in self._aliases:
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Read a name that was imported as another one by its own."""
        node.id = self._renamed.get(node.id, node.id)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Read ``x: T = v`` as ``x = v``."""
        self.generic_visit(node)
        if node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Read ``super(Class, self)`` as ``super()`` and ``Class[T]()`` as ``Class()``."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = []
        if isinstance(node.func, ast.Subscript):
            node.func = node.func.value
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """Read a signature without annotations."""
        return self._unannotated(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        """Read a signature without annotations."""
        return self._unannotated(node)

    def _unannotated(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Read a parameter without its annotation."""
        node.annotation = None
        node.arg = self._renamed.get(node.arg, node.arg)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        """Read the name of an exception as any other."""
        self.generic_visit(node)
        node.name = self._renamed.get(node.name, node.name) if node.name else None
        return node


def normal_key(node: ast.AST, reading: Reading) -> str:
    """Return the key of any node."""
    import copy

    return ast.unparse(_Normal(reading).visit(copy.deepcopy(node)))


def parsed_line(text: str) -> ast.AST | None:
    """Return the node of one logical line, None for one without an expression."""
    word = re.match(r"[A-Za-z_]+", text.strip())
    if not text.strip():
        return None
    try:
        return _statement(text.strip(), word[0] if word else "")[0]
    except SyntaxError:
        return None


def body_end(units: Sequence[Unit], index: int) -> int:
    """Return the index after the last unit that belongs to the body of a header."""
    end = index + 1
    while end < len(units) and units[end].depth > units[index].depth:
        end += 1
    return end


def alike(one: Unit, other: Unit) -> float:
    """Return how alike two units are, as a fraction: 1 only for the same key."""
    if one.key == other.key:
        return 1.0
    total = sum(one.words.values()) + sum(other.words.values())
    if not total:
        return 0.0
    shared = sum(min(count, other.words.get(word, 0)) for word, count in one.words.items())
    return min(2 * shared / total, 0.99)
