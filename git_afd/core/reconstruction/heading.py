"""The comments above a patch function: kept, with the source they state brought to the target."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from git_afd.core.contracts.headers import declared, header
from git_afd.core.reconstruction.model import Part

_WIDTH: Final = 88


def comments_above(lines: Sequence[str], first: int) -> list[str]:
    """Return the comment lines directly above a line (from 1)."""
    row = first - 1
    while row > 0 and lines[row - 1].lstrip().startswith("#"):
        row -= 1
    return list(lines[row : first - 1])


def at_target(comments: Sequence[str], parts: Sequence[Part], ref: str, old_refs: Sequence[str]) -> list[str]:
    """Return the comments with the stated source's refs replaced by the target's; a source is added where none is."""
    if not ref:
        return list(comments)
    said = header([*comments, "def f(): pass"], len(comments) + 1, len(comments) + 1, "")
    source = declared(said["source"])
    if not said["source"]:
        margin = re.match(r"\s*", comments[0])[0] if comments else ""  # type: ignore[index]  # matches always
        paths = list(dict.fromkeys(part.path for part in parts))
        stated = [(path, " and ".join(f"``{part.symbol}``" for part in parts if part.path == path)) for path in paths]
        text = f"Upstream source: {'; '.join(f'``{path}`` {names}' for path, names in stated)} at ``{ref}``."
        return [*comments, *textwrap.wrap(text, _WIDTH, initial_indent=f"{margin}# ", subsequent_indent=f"{margin}# ",
                                          break_long_words=False, break_on_hyphens=False)]  # fmt: skip
    refs = [name for name in (*source.refs, *old_refs) if name]
    return [_with_ref(line, refs, ref) if _is_source(line, said["source"]) else line for line in comments]


def _is_source(line: str, statement: str) -> bool:
    text = line.lstrip("# ").strip()
    return bool(text) and (text.partition(":")[2].strip() or text) in statement


def _with_ref(line: str, refs: Sequence[str], ref: str) -> str:
    for old in sorted(set(refs), key=len, reverse=True):
        line = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w])", ref, line)
    return line
