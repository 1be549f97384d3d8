"""Comparing a plugin function's signature with upstream's: exact, annotations only, or different, and in what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from git_afd.core.contracts.model import Difference, SignatureMatch
from git_afd.core.source.definitions import Parameter, Signature

_LOOSE: Final = re.compile(r"[\s\"']+")
_STARS: Final = {"var-positional": "*", "var-keyword": "**"}
_REAL: Final = ("parameters", "order", "kind", "default", "async", "decorators")


def compare(upstream: Signature, plugin: Signature, ignore: tuple[str, ...] = ()) -> tuple[Difference, ...]:
    """Return every difference. `ignore` are decorators that installing adds (``classmethod``, ``staticmethod``)."""
    return tuple(_differences(upstream, plugin, ignore))


def verdict(differences: tuple[Difference, ...]) -> SignatureMatch:
    """Say what the differences amount to: only annotations and return annotation, or something that binds."""
    if not differences:
        return "exact"
    return "different" if any(item.what.partition(" ")[0] in _REAL for item in differences) else "annotations"


def _differences(upstream: Signature, plugin: Signature, ignore: tuple[str, ...]) -> Iterator[Difference]:
    theirs, ours = upstream.parameters, plugin.parameters
    names, mine = [item.name for item in theirs], [item.name for item in ours]
    if names != mine:
        what = "order" if sorted(names) == sorted(mine) else "parameters"
        yield Difference(what, ", ".join(map(shown, theirs)), ", ".join(map(shown, ours)))
    by_name = {item.name: item for item in ours}
    for item in theirs:
        own = by_name.get(item.name)
        if own is not None:
            yield from _parameter(item, own)
    if _loose(upstream.returns) != _loose(plugin.returns):
        yield Difference("returns", upstream.returns or "", plugin.returns or "")
    if upstream.is_async != plugin.is_async:
        yield Difference("async", str(upstream.is_async), str(plugin.is_async))
    left, right = (
        sorted({_unqualified(name) for name in item.decorators} - set(ignore)) for item in (upstream, plugin)
    )
    if left != right:
        yield Difference("decorators", ", ".join(left), ", ".join(right))


def _parameter(theirs: Parameter, ours: Parameter) -> Iterator[Difference]:
    if theirs.kind != ours.kind:
        yield Difference(f"kind of {theirs.name}", theirs.kind, ours.kind)
    if _value(theirs.default) != _value(ours.default):
        yield Difference(f"default of {theirs.name}", theirs.default or "none", ours.default or "none")
    if _loose(theirs.annotation) != _loose(ours.annotation):
        yield Difference(f"annotation of {theirs.name}", theirs.annotation or "", ours.annotation or "")


def shown(item: Parameter) -> str:
    """Return a parameter as it is written, without its annotation."""
    name = f"{_STARS.get(item.kind, '')}{item.name}"
    return f"{name}={item.default}" if item.default is not None else name


def _unqualified(decorator: str) -> str:
    """Return a decorator without the module it is reached through (``contextlib.contextmanager``)."""
    name, parenthesis, rest = decorator.partition("(")
    return name.rpartition(".")[2] + parenthesis + rest if not name.endswith((".setter", ".getter")) else decorator


def _loose(text: str | None) -> str:
    return _LOOSE.sub("", text or "")


def _value(text: str | None) -> str | None:
    return None if text is None else text.replace("'", '"')
