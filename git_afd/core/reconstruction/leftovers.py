"""What a placed block may lack at the target: names that are gone, statements that an early return skips."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from git_afd.core.reconstruction.lost import unset
from git_afd.core.reconstruction.model import Copy, Names, Question
from git_afd.core.reconstruction.replay import Placed
from git_afd.core.reconstruction.skeleton import bound_names, function_in
from git_afd.core.reconstruction.units import parsed_line
from git_afd.core.reconstruction.versions import Block, Versions
from git_afd.core.reconstruction.words import quoted

_LOGS = re.compile(r"(?:\w+\.)*log(?:ger)?\.\w+\(")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def missing_names(
    versions: Versions,
    placed: Sequence[Placed],
    lines: Sequence[str],
    copy: Function,
    names: Names,
    follows: Collection[str] = (),
) -> list[Question]:
    """Return a question for each name of a block that the copy's function defined and the target's does not.

    `follows` are aliases whose import is brought to the target's module.
    """
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
        for alias, name in sorted(_through_alias(versions, names, index)):
            stays = names.stale.get(alias) if alias not in follows else None
            if names.upstream and name not in (stays.names if stays else names.upstream):
                module = stays.module if stays else names.home or "the target's module"
                text = f"the block {block.marker.label!r} uses {alias}.{name}, which {module} lacks"
                found.setdefault(name, Question("name-gone", f"{text}: what takes its place?", block.marker.line))
    return list(found.values())


def unset_attributes(versions: Versions, placed: Sequence[Placed], copy: Copy) -> Iterator[Question]:
    """Yield a question for each block that reads what only a patch without a target used to set."""
    for index, item in enumerate(placed):
        if item.edit is not None and copy.lost:
            block = versions.blocks[index]
            nodes = list(_statements(versions, block))
            yield from unset(block.marker, nodes, function_in(versions.target.lines), copy.text, copy.lost)


def _loaded(versions: Versions, block: Block) -> set[str]:
    """Return the names that a block reads, as written."""
    nodes = _statements(versions, block)
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _statements(versions: Versions, block: Block) -> Iterator[ast.AST]:
    for unit in versions.copy.units[block.start : block.end]:
        rows = versions.copy.lines[unit.first - 1 : unit.last]
        text = "\n".join(rows).strip()
        text = re.sub(r"^(?:and|or)\b", "", text) if unit.kind == "operand" else text
        node = parsed_line(f"f({text})" if unit.kind in ("argument", "operand") else text)
        if node is not None:
            yield node


def _through_alias(versions: Versions, names: Names, index: int) -> set[tuple[str, str]]:
    block = versions.blocks[index]
    text = "\n".join(versions.copy.lines[block.first : block.last])
    return {(alias, name) for alias in names.aliases for name in _after(text, f"{alias}.")}


def _after(text: str, prefix: str) -> Iterator[str]:
    return (match[1] for match in re.finditer(rf"(?<![\w.]){re.escape(prefix)}(\w+)", text))


def skipped(versions: Versions, placed: Sequence[Placed]) -> Iterator[str]:
    """Say which statements of the target are new and never run when a block at the start returns early.

    All of them are named, but those that only log, and those that the block does itself.
    """
    old = set(versions.to_target.values())
    calls = [unit for index, unit in enumerate(versions.target.units) if index not in old and unit.kind == "call"]
    new = [unit.key for unit in calls if not _LOGS.match(unit.key)]
    for index, item in enumerate(placed):
        block = versions.blocks[index]
        own = versions.copy.units[block.start : block.end]
        left = [key for key in new if key not in {unit.key for unit in own}]
        if item.edit and item.fate.does == "inserts" and any(unit.kind == "return" for unit in own) and left:
            past = f"past what the target added: {quoted(left, every=True)}"
            yield f"the block {block.marker.label!r} returns early, {past}"
