"""What one Python source says about the names that rows claim: where each is bound, and whether two are alike.

Built on :mod:`git_afd.core.source`; added is a comparison of definitions that comments and formatting do not touch,
and the question whether a name that its file no longer defines can still be reached.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from git_afd.core.source.definitions import Definition, Module, Signature, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Unknown, imported
from git_afd.core.source.world import Located, World
from git_afd.core.workbook.inventory import module_of


class Unparsable(ValueError):
    """The source is no Python that this interpreter can read; the text says where."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a name is bound: first and last line (from 1, decorators included).

    `shape` is its syntax as text, without comments and formatting; `signature` what callers see of it. `imported`
    is ``module:symbol`` when the name is only imported here: then nothing is known of its definition.
    """

    line: int
    end_line: int
    shape: str
    signature: Signature | str
    imported: str = ""


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
    return Source(found, _hides(module))


def plain(symbol: str) -> str:
    """Return the name as it is looked up: Python's own ``outer.<locals>.inner`` is ``outer.inner``."""
    return symbol.replace(".<locals>.", ".")


def _binding(module: Module, name: str, text: str) -> Binding | None:
    definition = module.definitions.get(name)
    if definition is not None:
        shape = _shape(text, definition)
        return Binding(definition.line, definition.end_line, shape, _signature(definition) or shape)
    attribute = module.attributes.get(name)
    if attribute is not None:
        said = f"{attribute.annotation} = {attribute.value}"
        return Binding(attribute.line, attribute.line, said, said)
    bound = imported(module, name)
    if bound is not None:
        target = f"{bound.module}:{bound.symbol}"
        return Binding(bound.line, bound.line, target, target, target)
    lazy = module.lazy.get(name)
    return Binding(1, 1, lazy, lazy, lazy) if lazy else None


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


def still_reached(world: World, path: str, symbol: str) -> str:
    """Say how a name that `path` does not define may still be reached through it; empty when it is proven not to.

    Followed are re-exports, lazy tables, stars and bases in both upstreams. A base outside of them (``torch``) is
    nobody's contract here and proves nothing.
    """
    module, name = module_of(path), plain(symbol)
    owner, _, last = name.rpartition(".")
    found = world.resolve(f"{module}.{owner}" if owner else module)
    if isinstance(found, Located) and found.kind == "function" and found.path == path:
        return ""  # a function's inner names are told by its own text
    answer = world.resolve(f"{module}.{name}")
    if isinstance(answer, Located):
        return f"{symbol} is still reached there: {answer.path} defines {answer.symbol or answer.module}"
    return f"whether {last} is gone cannot be told: {answer.reason}" if isinstance(answer, Unknown) else ""


def _hides(module: Module) -> str:
    if module.stars:
        return f"it imports * from {module.stars[0]}"
    return "it serves names through __getattr__" if module.dynamic else ""
