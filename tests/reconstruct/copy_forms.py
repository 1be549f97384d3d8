"""Builds one reconstruction from four texts: the plugin's file, the old upstream function, the new one, names."""

from __future__ import annotations

import textwrap

from git_afd.core.contracts.markers import blocks
from git_afd.core.reconstruction.model import Copy, Lost, Names, Part, Reconstruction
from git_afd.core.reconstruction.reconstruct import reconstruct
from git_afd.core.source.definitions import Module
from git_afd.core.source.index import index_module
from git_afd.core.source.parsing import parse

START, END = "# ### PATCH START: {}", "# ### PATCH END: {}"


def text(source: str) -> str:
    """Dedent a text; ``<x`` opens a block of label x, ``>x`` closes it (``>`` without a label)."""
    found = []
    for line in textwrap.dedent(source).strip("\n").split("\n"):
        margin, word = line[: len(line) - len(line.lstrip())], line.strip()
        if word.startswith("<"):
            line = margin + START.format(word[1:])  # noqa: PLW2901 - the line as it is meant
        elif word.startswith(">"):
            line = margin + END.format(word[1:]).removesuffix(": ")  # noqa: PLW2901 - same
        found.append(line)
    return "\n".join(found) + "\n"


def copy_of(source: str, symbol: str = "f", lost: tuple[Lost, ...] = ()) -> Copy:
    """Return the plugin's function `symbol` with its markers."""
    source = text(source)
    tree = parse(source, "plugin")
    module = index_module(source, "plugin")
    assert isinstance(module, Module)
    assert not hasattr(tree, "reason")
    place = module.definitions[symbol]
    markers = tuple(item.marker for item in blocks(source, module, tree) if item.symbol == symbol)
    return Copy(source, place.line, place.end_line, markers, method="." in symbol, lost=lost)


def rebuilt(
    copy: str,
    old: str,
    new: str,
    names: Names | None = None,
    *,
    klass: str = "",
    dropped: frozenset[str] = frozenset(),
    lost: tuple[Lost, ...] = (),
) -> Reconstruction:
    """Reconstruct function ``f``."""
    part = Part("f", "up/core.py", text(old), text(new) if new else "", klass, "up/core.py::f is gone")
    return reconstruct(copy_of(copy, lost=lost), [part], names or Names(), dropped)
