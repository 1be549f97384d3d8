"""Plugin functions that copy nothing but delegate to the original: only their signature follows the target."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from git_afd.core.reconstruction.align import align
from git_afd.core.reconstruction.model import Question
from git_afd.core.reconstruction.skeleton import function_in, signature_in
from git_afd.core.reconstruction.units import Reading, Unit, read_units

_TAKEN: Final = 0.2


def is_wrapper(copy: Sequence[Unit], old: Sequence[Unit], name: str) -> bool:
    """Say whether a function calls the original (by its own name, or as such) and holds next to nothing of its body."""
    call = re.compile(rf"\w*(?:orig|upstream|wrapped|(?<!def ){re.escape(name)})\w*\(", re.IGNORECASE)
    if not any(call.search(unit.key) for unit in copy if unit.depth):
        return False
    body = [unit for unit in old if unit.depth and unit.kind != "docstring"]
    ours = {unit.key for unit in copy if unit.depth}
    held = [unit for unit in body if unit.key in ours]
    if not body or len(held) >= _TAKEN * len(body):
        return False
    near = align(copy, old) if len(body) <= 200 else {}  # noqa: PLR2004 - a quadratic comparison that decides nothing there
    changed = [index for index, other in near.items() if old[other].depth and copy[index].key != old[other].key]
    return len(held) + len(changed) < _TAKEN * len(body)


def rewrapped(
    copy: Sequence[str], old: Sequence[str], target: Sequence[str], reading: Reading
) -> tuple[list[str], tuple[Question, ...]]:
    """Return the plugin's body under the target's signature, and what its call of the original may lack."""
    head = _head(target, reading)
    body = list(copy[len(_head(copy, reading)) :])
    return [*head, *body], tuple(_lacking(copy, old, target))


def _head(lines: Sequence[str], reading: Reading) -> list[str]:
    units = read_units(lines, reading)
    last = next(unit.last for unit in units if unit.kind in ("def", "async"))
    return list(lines[:last])


def _lacking(copy: Sequence[str], old: Sequence[str], target: Sequence[str]) -> Iterator[Question]:
    before, after = signature_in(list(old)), signature_in(list(target))
    if before is None or after is None:
        return
    then = [item.name for item in before.parameters]
    now = [item.name for item in after.parameters]
    named = {part.id for part in ast.walk(function_in(copy)) if isinstance(part, ast.Name)}
    for name in now:
        if name not in then:
            text = f"the target takes {name}, which this function does not pass on to the original"
            yield Question("parameter", f"{text}: shall it be passed on as it is?")
    for name in then:
        if name not in now and name in named:
            text = f"this function uses the parameter {name}, which the target no longer takes"
            yield Question("name-gone", f"{text}: by what does it get it now?")
