"""A block that encloses upstream statements which the target changed: the block's own differences, replayed inside.

The target's statements are what is kept; the block adds, drops or changes some of them. Where both changed the same
thing, nothing is guessed: the statement is named.
"""

from __future__ import annotations

import ast
import difflib
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, field

from git_afd.core.reconstruction.layout import moved
from git_afd.core.reconstruction.model import Question
from git_afd.core.reconstruction.units import Unit, normal_key, parsed_line
from git_afd.core.reconstruction.versions import Block, Versions
from git_afd.core.reconstruction.words import quoted

_MAIN = ("test", "value", "iter")


@dataclass(slots=True)
class _Merge:
    """Collects the lines of one block while its statements are gone through in the old upstream's order."""

    versions: Versions
    block: Block
    covered: tuple[int, int]
    target: tuple[int, int]
    lines: list[str] = field(default_factory=list)
    shift: int = 0

    def own(self, index: int) -> None:
        """Emit a unit of the copy."""
        unit = self.versions.copy.units[index]
        first = unit.first if index == self.block.start else unit.lead
        self.lines += moved(self.versions.copy.lines[first - 1 : unit.last], self.columns)

    def theirs(self, index: int, columns: int | None = None) -> None:
        """Emit a unit of the target with the comments and empty lines above it."""
        units = self.versions.target.units
        if columns is not None:
            self.shift = columns
        first = units[index - 1].last + 1 if index > self.target[0] else units[index].first
        self.lines += moved(self.versions.target.lines[first - 1 : units[index].last], self.shift)

    @property
    def columns(self) -> int:
        """How far the copy's lines move."""
        return self.versions.target.units[self.target[0]].column - self.versions.copy.units[self.block.start].column


def merged(versions: Versions, block: Block, covered: tuple[int, int], target: tuple[int, int]) -> list[str] | Question:
    """Return the lines of the block for the target, markers included, or what has to be decided."""
    if block.start == block.end:
        return _gone_and_changed(versions, block, range(*covered))
    work = _Merge(versions, block, covered, target)
    head = versions.copy.lines[block.first - 1 : versions.copy.units[block.start].first - 1]
    work.lines = moved(head, work.columns)
    own, theirs = _groups(versions, block, covered), _new_groups(versions, covered, target)
    back = {old: index for index, old in versions.to_old.items() if block.start <= index < block.end}
    for index in (*range(*covered), covered[1]):
        both = _between(work, own.get(index, []), theirs.get(index, []))
        if both is not None:
            return both
        if index < covered[1]:
            fault = _one(work, index, back.get(index), versions.to_target.get(index))
            if fault is not None:
                return fault
    tail = versions.copy.lines[versions.copy.units[block.end - 1].last : block.last]
    return [*work.lines, *moved(tail, work.columns)]


def _groups(versions: Versions, block: Block, covered: tuple[int, int]) -> dict[int, list[int]]:
    """Map old indices to the block's own units that stand before them."""
    found: dict[int, list[int]] = {}
    for index in range(block.start, block.end):
        if versions.to_old.get(index) is None:
            after = (versions.to_old[item] for item in range(index, block.end) if item in versions.to_old)
            found.setdefault(min(next(after, covered[1]), covered[1]), []).append(index)
    return found


def _new_groups(versions: Versions, covered: tuple[int, int], target: tuple[int, int]) -> dict[int, list[int]]:
    """Map old indices to the target's new units that stand before them."""
    images = {new: old for old, new in versions.to_target.items()}
    found: dict[int, list[int]] = {}
    for index in range(*target):
        if index not in images:
            after = (images[item] for item in range(index, target[1]) if item in images)
            found.setdefault(min(next(after, covered[1]), covered[1]), []).append(index)
    return found


def _between(work: _Merge, own: Sequence[int], theirs: Sequence[int]) -> Question | None:
    if own and theirs:
        copies, targets = work.versions.copy.units, work.versions.target.units
        text = (
            f"in the block {work.block.marker.label!r} both add statements at one place: the plugin "
            f"{quoted([copies[item].key for item in own])}, the target {quoted([targets[item].key for item in theirs])}"
        )
        return Question("order", f"{text}: which come first?", copies[own[0]].first)
    for item in own:
        work.own(item)
    for item in theirs:
        work.theirs(item)
    return None


def _one(work: _Merge, index: int, own: int | None, theirs: int | None) -> Question | None:
    """Emit what becomes of one old statement."""
    versions = work.versions
    old = versions.old.units[index]
    mine = versions.copy.units[own] if own is not None else None
    new = versions.target.units[theirs] if theirs is not None else None
    if own is None or mine is None:
        same = new is None or new.key == old.key
        return None if same else _both_changed(work, "leaves out", old, None, new)
    if theirs is None or new is None:
        return None if mine.key == old.key else _both_changed(work, "changes", old, mine, None)
    if mine.key == old.key:
        work.theirs(theirs, mine.column + work.columns - new.column)
    elif new.key == old.key:
        work.own(own)
    else:
        text = _both(work, mine, old, new)
        if text is None:
            return _both_changed(work, "changes", old, mine, new)
        work.lines += text
        work.shift = mine.column + work.columns - new.column
    return None


def _both_changed(work: _Merge, does: str, old: Unit, mine: Unit | None, new: Unit | None) -> Question:
    label, line = work.block.marker.label, (mine.first if mine else work.block.first)
    became = f"the target has {quoted([new.key])} (line {new.first}) instead" if new else "the target no longer has it"
    to = f" to {quoted([mine.key])}" if mine else ""
    text = f"the block {label!r} {does} upstream's {quoted([old.key])}{to}, and {became}"
    return Question("both-changed", f"{text}: what shall stand there?", line)


def _gone_and_changed(versions: Versions, block: Block, covered: range) -> Question:
    keys = [versions.old.units[index].key for index in covered]
    text = f"the block {block.marker.label!r} leaves out upstream's {quoted(keys)}, which the target changed"
    return Question("both-changed", f"{text}: shall the new form be left out too?", block.first)


def _both(work: _Merge, mine: Unit, old: Unit, new: Unit) -> list[str] | None:
    """Return one statement with both changes: the target's expression inside the plugin's, else word by word."""
    versions = work.versions
    texts = ["\n".join(side.lines[unit.first - 1 : unit.last]) for side, unit in (
        (versions.copy, mine), (versions.old, old), (versions.target, new)
    )]  # fmt: skip
    return _wrapped(work, mine, new, texts) or _by_words(work, mine, texts)


def _wrapped(work: _Merge, mine: Unit, new: Unit, texts: Sequence[str]) -> list[str] | None:
    """Put the target's expression where the plugin put upstream's whole one into a larger one."""
    outer, old, inner = (_main(text) for text in texts)
    if outer is None or old is None or inner is None:
        return None
    wanted = normal_key(old, work.versions.reading)
    held = [part for part in ast.walk(outer) if isinstance(part, ast.expr)]
    found = [part for part in held if normal_key(part, work.versions.reading) == wanted]
    if len(found) != 1 or found[0] is outer:
        return None
    place = _rows(texts[0], found[0])
    source = ast.get_source_segment(texts[2].strip(), inner) or ""
    shift = mine.column - new.column
    first, *rest = source.split("\n")
    body = [first, *moved(rest, shift)]
    before, after = place
    if not isinstance(inner, ast.Name | ast.Call | ast.Attribute) and not before.rstrip().endswith("("):
        body = [f"({body[0]}", *body[1:]]
        body[-1] += ")"
    return moved((before + "\n".join(body) + after).split("\n"), work.columns)


def _main(text: str) -> ast.expr | None:
    node = parsed_line(text)
    return next((part for name in _MAIN if isinstance(part := getattr(node, name, None), ast.expr)), None)


def _rows(text: str, node: ast.expr) -> tuple[str, str]:
    """Return the text before and after a node of one logical line."""
    margin = len(text) - len(text.lstrip())
    lines = text.split("\n")
    start = _offset(lines, node.lineno, node.col_offset, margin)
    end = _offset(lines, node.end_lineno or node.lineno, node.end_col_offset or 0, margin)
    return text[:start], text[end:]


def _offset(lines: Sequence[str], row: int, column: int, margin: int) -> int:
    line = lines[row - 1]
    inside = len(line.encode()[: column + (margin if row == 1 else 0)].decode(errors="ignore"))
    return sum(len(item) + 1 for item in lines[: row - 1]) + inside


def _by_words(work: _Merge, mine: Unit, texts: Sequence[str]) -> list[str] | None:
    """Replay the plugin's changed words on the target's statement, where the words around them are unchanged."""
    own, old, target = (_tokens(text.strip()) for text in texts)
    if not own or not old or not target:
        return None
    words = [[token.string for token in side] for side in (own, old, target)]
    matches = difflib.SequenceMatcher(None, words[1], words[2], autojunk=False).get_matching_blocks()
    image = {block.a + step: block.b + step for block in matches for step in range(block.size)}
    image.update({-1: -1, len(old): len(target)})
    result = texts[2].strip()
    changes = difflib.SequenceMatcher(None, words[1], words[0], autojunk=False).get_opcodes()
    for kind, first, last, start, end in reversed(changes):
        if kind == "equal":
            continue
        left = image.get(first - 1, -2) + 1
        right = left + last - first
        if [image.get(index) for index in range(first, last + 1)] != list(range(left, right + 1)):
            return None
        result = _patched(result, target, (left, right), texts[0].strip(), own[start:end])
    if parsed_line(result) is None:
        return None
    return moved((" " * mine.column + result).split("\n"), work.columns)


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)
    try:
        return [item for item in tokenize.generate_tokens(io.StringIO(text).readline) if item.type not in skipped]
    except (tokenize.TokenError, IndentationError):
        return []


def _patched(
    text: str,
    tokens: Sequence[tokenize.TokenInfo],
    place: tuple[int, int],
    source: str,
    added: Sequence[tokenize.TokenInfo],
) -> str:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    left, right = place
    begin = starts[tokens[left - 1].end[0] - 1] + tokens[left - 1].end[1] if left else 0
    finish = starts[tokens[right - 1].end[0] - 1] + tokens[right - 1].end[1] if right else 0
    rows = source.split("\n")
    new = ""
    if added:
        first, last = added[0], added[-1]
        joined = "\n".join(rows[first.start[0] - 1 : last.end[0]])
        tail = len(rows[last.end[0] - 1]) - last.end[1]
        new = joined[first.start[1] : len(joined) - tail]
    gap = " " if new and (new[0].isalnum() or new[0] in "\"'_") and begin and text[begin - 1] not in "([{." else ""
    return text[:begin] + gap + new + text[max(finish, begin) :]
