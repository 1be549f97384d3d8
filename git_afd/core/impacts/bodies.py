"""A function's body as facts: normalised text, what it calls and writes in order, what it returns.

Comments, formatting, docstrings and annotations of local names never count; the dead branch of a test for the frozen
vLLM is left out, as it is everywhere else.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from git_afd.core.source.nodes import children
from git_afd.core.source.versions import ASKS, Versions, verdict

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_MESSAGES: Final = (
    *("debug", "info", "warning", "warning_once", "info_once", "debug_once", "error", "exception", "critical", "log"),
    *("warn", "print"),
)
_LOG: Final = re.compile(rf"^(\s*)[\w.]+\.(?:{'|'.join(_MESSAGES)})\(.*")
_RAISE: Final = re.compile(r"^(\s*raise [\w.]+)\(.*")
_ASSERT: Final = re.compile(r"^(\s*assert .*?), f?['\"].*")
_LEAVES: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call gives back: forms of its return expressions, whether it is a generator or a coroutine.

    `forms` holds ``none``, ``tuple:N``, ``literal`` (a number, text or truth value) and ``value``;
    empty when the body says nothing (abstract, or a stub).
    """

    forms: frozenset[str]
    generator: bool = False
    is_async: bool = False

    @property
    def lengths(self) -> frozenset[int]:
        """The lengths of the tuples that are returned as such."""
        return frozenset(int(form.partition(":")[2]) for form in self.forms if form.startswith("tuple:"))


class Body:
    """A function's body. What it is asked for is worked out then: most bodies are compared as texts and no more."""

    def __init__(self, node: _Function) -> None:
        """Keep the normalised function."""
        self._node = node

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The normalised text."""
        return tuple(line for statement in self._node.body for line in ast.unparse(statement).split("\n"))

    @cached_property
    def events(self) -> tuple[str, ...]:
        """The calls and attribute writes in source order (``call name``, ``write self.x``)."""
        return tuple(_events(self._nodes))

    @cached_property
    def returned(self) -> Returned:
        """What a call gives back."""
        return _returned(self._node, self._nodes)

    @cached_property
    def passed_on(self) -> tuple[str, ...]:
        """The functions whose results are returned as they are (``f``, ``self.f``), in order."""
        values = (node.value for node in self._nodes if isinstance(node, ast.Return))
        called = (_dotted(value.func) for value in values if isinstance(value, ast.Call))
        return tuple(dict.fromkeys(name for name in called if name.removeprefix("self.").isidentifier()))

    @property
    def only_passes_on(self) -> bool:
        """Whether nothing but the results of those functions is returned as a value."""
        values = [node.value for node in self._nodes if isinstance(node, ast.Return)]
        told = [_dotted(item.func) in self.passed_on if isinstance(item, ast.Call) else False for item in values]
        return all(known or _form(item) != "value" for known, item in zip(told, values, strict=True))

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return _in_order(self._node.body, [])


@dataclass(frozen=True, slots=True)
class NoBody:
    """A body that cannot be read: why."""

    reason: str


def parse_function(source: str) -> _Function | NoBody:
    """Return the function that a slice of source holds, whatever its indentation."""
    head = "if 1:\n" if source[:1] in (" ", "\t") else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = ast.parse(head + source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return NoBody(f"its source cannot be read: {type(error).__name__}")
    if head and isinstance(nodes[0], ast.If):
        nodes = nodes[0].body
    found = nodes[0] if nodes else None
    return found if isinstance(found, _Function) else NoBody("it is no function statement")


def read_body(source: str, versions: Versions | None = None) -> Body | NoBody:
    """Boil a function's source down to its body's facts."""
    node = parse_function(source)
    if isinstance(node, NoBody):
        return node
    try:
        return Body(_Normal(versions or {}, asked=ASKS in source).function(node))
    except RecursionError:
        return NoBody("it is nested too deeply")


class _Normal(ast.NodeTransformer):
    """Drops what does not run: docstrings, annotations of names, branches for another vLLM.

    `asked` says that the source asks for the vLLM version anywhere: only then expressions are looked into.
    """

    def __init__(self, versions: Versions, *, asked: bool) -> None:
        self._versions = versions
        self._asked = asked

    def function(self, node: _Function) -> _Function:
        """Normalise a function in place."""
        node.body = self._block(node.body)
        return node

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Expr) and _is_text(statement.value):
                continue
            if isinstance(statement, ast.If):
                decided = verdict(statement.test, self._versions)
                if decided is not None:
                    kept += self._block(statement.body if decided else statement.orelse)
                    if kept and isinstance(kept[-1], _LEAVES):
                        break
                    continue
            visited = self.visit(statement)
            if visited is not None:
                kept.append(visited)
            if kept and isinstance(kept[-1], _LEAVES):
                break  # what follows never runs
        return kept

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit expressions as usual and blocks one by one."""
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                kept = self._block(block)
                setattr(node, name, kept or ([ast.Pass()] if name == "body" else []))
        for name in ("handlers", "cases"):
            for part in getattr(node, name, None) or []:
                self.generic_visit(part)
        for name, value in ast.iter_fields(node) if self._asked else ():
            if isinstance(value, ast.expr) and name != "annotation":
                setattr(node, name, self.visit(value))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        """``x: T = v`` runs as ``x = v``; ``x: T`` does nothing."""
        if node.value is None:
            return None
        plain = ast.Assign([node.target], self.visit(node.value), lineno=node.lineno)
        return ast.copy_location(plain, node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Decide a conditional expression about the frozen vLLM."""
        decided = verdict(node.test, self._versions)
        if decided is None:
            return node
        chosen: ast.expr = self.visit(node.body if decided else node.orelse)
        return chosen


def quiet(lines: Sequence[str]) -> tuple[str, ...]:
    """Blank what only people read in normalised lines: log calls, the words of exceptions and assertions."""
    return tuple(_RAISE.sub(r"\1", _ASSERT.sub(r"\1", _LOG.sub(r"\1pass", line))) for line in lines)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (isinstance(node.value, str) or node.value is Ellipsis)


def _in_order(nodes: Iterable[ast.AST], found: list[ast.AST]) -> list[ast.AST]:
    """Collect nodes after their parts, values before the targets they are assigned to; not nested definitions."""
    for node in nodes:
        if isinstance(node, _NESTED):
            continue
        assigns = isinstance(node, ast.Assign)
        _in_order((node.value, *node.targets) if assigns else children(node), found)  # type: ignore[attr-defined]  # of an Assign
        found.append(node)
    return found


def _events(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield calls and attribute writes as they run: a statement's value before its target."""
    for node in nodes:
        if isinstance(node, ast.Call):
            name = _dotted(node.func)
            if name and name.rpartition(".")[2] not in _MESSAGES:
                yield f"call {name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = _dotted(node)
            if name:
                yield f"write {name}"


def _dotted(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return ".".join([node.id, *reversed(names)])
    return ".".join(["…", *reversed(names)]) if names else ""


def _returned(node: _Function, nodes: Sequence[ast.AST]) -> Returned:
    generator = any(isinstance(item, ast.Yield | ast.YieldFrom) for item in nodes)
    returns = [item for item in nodes if isinstance(item, ast.Return)]
    stub = all(isinstance(item, ast.Pass | ast.Raise) for item in node.body)
    forms = {_form(item.value) for item in returns}
    if not returns and not stub:
        forms.add("none")
    return Returned(frozenset(forms), generator, isinstance(node, ast.AsyncFunctionDef))


def _form(value: ast.expr | None) -> str:
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return "none"
    if isinstance(value, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in value.elts):
        return f"tuple:{len(value.elts)}"
    return "literal" if isinstance(value, ast.Constant) else "value"


def similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """Return how much of two bodies is the same, as a fraction from 0 to 1 (shared lines, counted twice over all)."""
    total = len(first) + len(second)
    if not total:
        return 1.0
    shared = Counter(line.strip() for line in first) & Counter(line.strip() for line in second)
    return 2 * sum(shared.values()) / total


def reordered(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of events that happened in this order at the current commit and the other way round now.

    Only events that happen exactly once on both sides are compared: for others no order can be told.
    """
    before, after = Counter(old), Counter(new)
    both = [item for item in old if before[item] == 1 and after[item] == 1]
    place = {item: number for number, item in enumerate(new) if before[item] == 1 and after[item] == 1}
    return tuple((first, second) for first, second in pairwise(both) if place[first] > place[second])
