"""What one Python source says about the names that rows claim: where each is bound, and whether two are alike.

Built on :mod:`git_afd.core.source`; added are attributes that methods assign on ``self`` (``Class.attribute``),
since the plugin relies on them, and a comparison of definitions that comments and formatting do not touch.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from git_afd.core.source.definitions import Definition, Module, Signature, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import imported


class Unparsable(ValueError):
    """The source is no Python that this interpreter can read; the text says where."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a name is bound: first and last line (from 1, decorators included).

    `shape` is its syntax as text, without comments and formatting; `signature` what callers see of it.
    """

    line: int
    end_line: int
    shape: str
    signature: Signature | str


@dataclass(frozen=True, slots=True)
class Source:
    """What is known of one source: the bindings of the names that were asked for.

    `hides` says why an absent name may still be reachable: ``import *`` or a module ``__getattr__``.
    """

    found: Mapping[str, Binding]
    hides: str = ""


def look_up(source: bytes, symbols: Iterable[str]) -> Source:
    """Return the bindings of `symbols` (``Class.method``) in `source`. Raises Unparsable."""
    text = source.decode("utf-8", "surrogateescape")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an upstream's invalid escape sequence is not ours to report
        module = index_module(text, "")
        if isinstance(module, Unreadable):
            raise Unparsable(module.reason)
        wanted = {plain(symbol) for symbol in symbols}
        found = {name: binding for name in wanted if (binding := _binding(module, name, text))}
        owners = {name.rpartition(".")[0] for name in wanted - found.keys()}
        if any(module.definitions[owner].kind == "class" for owner in owners if owner in module.definitions):
            own = {name: binding for name, binding in _own_attributes(text) if name in wanted}
            found = {**own, **found}
    return Source(found, _hides(module))


def plain(symbol: str) -> str:
    """Return the name as it is looked up: Python's own ``outer.<locals>.inner`` is ``outer.inner``."""
    return symbol.replace(".<locals>.", ".")


def _binding(module: Module, name: str, text: str) -> Binding | None:
    definition = module.definitions.get(name)
    if definition is not None:
        shape = _shape(text, definition)
        return Binding(definition.line, definition.end_line, shape, _signature(definition) or shape)
    bound = imported(module, name)
    if bound is not None:
        target = f"{bound.module}:{bound.symbol}"
        return Binding(bound.line, bound.line, target, target)
    lazy = module.lazy.get(name)
    return Binding(1, 1, lazy, lazy) if lazy else None


def _signature(definition: Definition) -> Signature | str:
    if definition.kind == "class" and definition.signature:
        return ", ".join((*definition.bases, *definition.signature.decorators))
    return definition.signature or ""


def _shape(text: str, definition: Definition) -> str:
    """Return the syntax of a definition; text that does not stand alone (``elif`` parts) counts as it is written."""
    lines = text.splitlines()[definition.line - 1 : definition.end_line]
    part = textwrap.dedent("\n".join(lines))
    try:
        return ast.dump(ast.parse(part))
    except (SyntaxError, ValueError, RecursionError):
        return part


def _own_attributes(text: str) -> Iterator[tuple[str, Binding]]:
    for name, klass in _classes(ast.parse(text).body, ""):
        for method in klass.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from ((f"{name}.{attribute}", binding) for attribute, binding in _assigned_on_self(method))


def _classes(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, node
            yield from _classes(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try):
            handlers = node.handlers if isinstance(node, ast.Try) else []
            inner = [*node.body, *node.orelse, *(item for handler in handlers for item in handler.body)]
            yield from _classes(inner, prefix)


def _assigned_on_self(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, Binding]]:
    parameters = [*method.args.posonlyargs, *method.args.args]
    owner = parameters[0].arg if parameters else ""
    for node in ast.walk(method):
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == owner:
                shape = ast.dump(node)
                yield target.attr, Binding(node.lineno, node.end_lineno or node.lineno, shape, shape)


def _hides(module: Module) -> str:
    if module.stars:
        return f"it imports * from {module.stars[0]}"
    return "it serves names through __getattr__" if module.dynamic else ""
