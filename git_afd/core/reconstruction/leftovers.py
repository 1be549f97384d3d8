"""What a placed block may lack at the target: names that are gone, statements that an early return skips."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from git_afd.core.reconstruction.model import Names, Question
from git_afd.core.reconstruction.replay import Placed
from git_afd.core.reconstruction.skeleton import bound_names, function_in
from git_afd.core.reconstruction.units import parsed_line
from git_afd.core.reconstruction.versions import Block, Versions
from git_afd.core.reconstruction.words import quoted

Function = ast.FunctionDef | ast.AsyncFunctionDef


def missing_names(
    versions: Versions, placed: Sequence[Placed], lines: Sequence[str], copy: Function, names: Names
) -> list[Question]:
    """Return a question for each name of a block that the copy's function defined and the target's does not."""
    local = bound_names(copy)
    try:
        now = bound_names(function_in(lines))
    except SyntaxError:
        return []
    found: dict[str, Question] = {}
    for index, item in enumerate(placed):
        if item.edit is None:
            continue
        block = versions.blocks[index]
        loaded = _loaded(versions, block)
        for name in sorted(loaded & local - now - set(names.plugin)):
            text = f"the block {block.marker.label!r} uses {name}, which the target's function no longer defines"
            found.setdefault(name, Question("name-gone", f"{text}: by what does it get it now?", block.marker.line))
        for name in sorted(_through_alias(versions, names, index) - set(names.upstream)):
            text = f"the block {block.marker.label!r} uses {names.aliases[0]}.{name}, which the target's module lacks"
            if names.upstream:
                found.setdefault(name, Question("name-gone", f"{text}: what takes its place?", block.marker.line))
    return list(found.values())


def _loaded(versions: Versions, block: Block) -> set[str]:
    """Return the names that a block reads, as written."""
    found: set[str] = set()
    for unit in versions.copy.units[block.start : block.end]:
        rows = versions.copy.lines[unit.first - 1 : unit.last]
        text = "\n".join(rows).strip()
        node = parsed_line(f"f({text})" if unit.kind == "argument" else text)
        found.update(part.id for part in (ast.walk(node) if node else ()) if isinstance(part, ast.Name))
    return found


def _through_alias(versions: Versions, names: Names, index: int) -> set[str]:
    block = versions.blocks[index]
    text = "\n".join(versions.copy.lines[block.first : block.last])
    found: set[str] = set()
    for alias in names.aliases:
        found.update(_after(text, f"{alias}."))
    return found


def _after(text: str, prefix: str) -> Iterator[str]:
    return (match[1] for match in re.finditer(rf"(?<![\w.]){re.escape(prefix)}(\w+)", text))


def skipped(versions: Versions, placed: Sequence[Placed]) -> Iterator[str]:
    """Say which statements of the target are new and never run when a block at the start returns early."""
    old = set(versions.to_target.values())
    new = [unit.key for index, unit in enumerate(versions.target.units) if index not in old and unit.kind == "call"]
    for index, item in enumerate(placed):
        block = versions.blocks[index]
        own = versions.copy.units[block.start : block.end]
        if item.edit and item.fate.does == "inserts" and any(unit.kind == "return" for unit in own) and new:
            yield f"the block {block.marker.label!r} returns early, past what the target added: {quoted(new)}"
