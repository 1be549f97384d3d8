"""The reconstruction of one plugin function: gather the three versions, replay, say what is left. Pure and total."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from git_afd.core.contracts.model import Marker
from git_afd.core.contracts.signatures import compare, verdict
from git_afd.core.reconstruction.compose import Composed, composed
from git_afd.core.reconstruction.deviations import Wrap, deviations, wraps
from git_afd.core.reconstruction.heading import at_target, comments_above
from git_afd.core.reconstruction.layout import dedented, indent_of, shifted
from git_afd.core.reconstruction.leftovers import missing_names, skipped, unset_attributes
from git_afd.core.reconstruction.model import BlockFate, Copy, Deviation, Names, Part, Question, Reconstruction
from git_afd.core.reconstruction.own_imports import unused
from git_afd.core.reconstruction.replay import Edit, Placed, replay
from git_afd.core.reconstruction.scene import covered_by
from git_afd.core.reconstruction.skeleton import Skeleton, function_in, rewritten, signature_in
from git_afd.core.reconstruction.units import NoUnits, Reading, read_units
from git_afd.core.reconstruction.versions import Versions, read_versions
from git_afd.core.reconstruction.words import quoted
from git_afd.core.reconstruction.wrapper import is_wrapper, rewrapped

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class _Case:
    """One function while it is reconstructed. Rows of `lines` are those of the function, from the margin."""

    copy: Copy
    parts: Sequence[Part]
    names: Names
    lines: list[str]
    markers: tuple[Marker, ...]
    node: _Function
    indent: str
    comments: list[str]
    questions: list[Question] = field(default_factory=list)

    @property
    def offset(self) -> int:
        """What is added to a row of the function to get a line of the file."""
        return self.copy.line - 1

    @property
    def reading(self) -> Reading:
        plugin, upstream = self.names.plugin, self.names.upstream
        theirs = {dotted: name for name, dotted in upstream.items()}
        renamed = {name: theirs[dotted] for name, dotted in plugin.items() if theirs.get(dotted, name) != name}
        return Reading(self.names.aliases, {one: two for one, two in renamed.items() if one not in upstream})


def reconstruct(
    copy: Copy, parts: Sequence[Part], names: Names, dropped: frozenset[str] = frozenset()
) -> Reconstruction:
    """Return the plugin's function rebuilt on the target; `dropped` are deviations (``D1``) decided for the target.

    Total: what cannot be read or decided is a question, and the text that is handed out parses or says it does not.
    """
    try:
        case = _case(copy, parts, names)
    except SyntaxError as error:
        return _stuck(copy, (), f"the plugin's function cannot be read: {error.msg}")
    gone = [part for part in parts if not part.new]
    if gone:
        return _gone(case, gone)
    try:
        joined = composed(parts, case.node, "\n".join(case.lines))
        skeleton = rewritten(joined.new, case.node, names, joined.klass, method=copy.method)
        if is_wrapper(read_units(case.lines, case.reading), read_units(joined.old, case.reading), case.node.name):
            return _wrapping(case, joined, skeleton)
        versions = read_versions(case.lines, joined.old, list(skeleton.lines), case.markers, case.reading)
    except (NoUnits, SyntaxError) as error:
        return _stuck(copy, case.comments, f"one of the versions cannot be read: {error}")
    case.questions += joined.questions
    return _built(case, versions, skeleton, dropped)


def _case(copy: Copy, parts: Sequence[Part], names: Names) -> _Case:
    lines = copy.text.split("\n")
    last = max([copy.end_line, *(marker.end_line for marker in copy.markers)])
    rows = lines[copy.line - 1 : last]
    indent = indent_of(rows[0])
    body = shifted(rows, indent, "")
    markers = tuple(
        replace(item, line=max(item.line - copy.line + 1, 0), end_line=max(item.end_line - copy.line + 1, 0))
        for item in copy.markers
    )
    node = function_in(body[: copy.end_line - copy.line + 1])
    return _Case(copy, parts, names, body, markers, node, indent, comments_above(lines, copy.line))


def _stuck(copy: Copy, comments: Sequence[str], why: str) -> Reconstruction:
    rows = copy.text.split("\n")[copy.line - 1 : copy.end_line]
    question = Question("unreadable", f"{why}: mend it, then run this again", copy.line)
    text = "\n".join([*comments, *rows]) + "\n"
    return Reconstruction(text, complete=False, questions=(question,), first=copy.line, last=copy.end_line)


def _gone(case: _Case, gone: Sequence[Part]) -> Reconstruction:
    rows = shifted(case.lines, "", case.indent)
    fates = tuple(
        BlockFate(item.label, 1, 0, "conflict", item.line + case.offset, item.end_line + case.offset, "")
        for item in case.markers
    )
    labels = quoted(list(dict.fromkeys(item.label for item in case.markers))) or "what it does"
    questions = tuple(
        Question("target-gone", f"{part.gone}: which upstream function shall hold {labels} now, or can it go?")
        for part in gone
    )
    first = case.copy.line - len(case.comments)
    text = "\n".join([*case.comments, *rows]) + "\n"
    return Reconstruction(text, complete=False, blocks=fates, questions=questions, first=first, last=_last(case))


def _last(case: _Case) -> int:
    return case.offset + len(case.lines)


def _wrapping(case: _Case, joined: Composed, skeleton: Skeleton) -> Reconstruction:
    lines, questions = rewrapped(case.lines, joined.old, skeleton.lines, case.reading)
    fates = tuple(
        BlockFate(item.label, 1, 1, "placed", item.line + case.offset, item.end_line + case.offset, "delegates")
        for item in case.markers
    )
    case.questions += questions
    note = "it copies nothing but delegates to the original: only its signature is the target's"
    return _finished(case, lines, fates, (), _as_wrapper(skeleton, note))


def _as_wrapper(skeleton: Skeleton, note: str) -> Skeleton:
    """Return the skeleton with one more note, and without imports that only the target's body needs."""
    return Skeleton(skeleton.lines, [], skeleton.typing_only, [], [*skeleton.notes, note])


def _built(case: _Case, versions: Versions, skeleton: Skeleton, dropped: frozenset[str]) -> Reconstruction:
    around = wraps(versions)
    placed = [_guarded(versions, around, item, index) for index, item in enumerate(replay(versions))]
    found = deviations(versions, covered_by(versions), dropped)
    lines = _assembled(versions.target.lines, [item.edit for item in placed if item.edit])
    case.questions += [item.question for item in placed if item.question]
    case.questions += skeleton.questions
    follows = [alias for alias in case.names.stale if skeleton.replaced]
    case.questions += missing_names(versions, placed, lines, case.node, case.names, follows)
    case.questions += unset_attributes(versions, placed, case.copy)
    asked = any(item.question and item.question.code == "unmarked-condition" for item in placed)
    case.questions += [_ask(item) for item in found if not item.decided and not (asked and item.form == "wraps")]
    fates = tuple(
        replace(item.fate, line=item.fate.line + case.offset, end_line=item.fate.end_line + case.offset)
        for item in placed
    )
    skeleton.notes += skipped(versions, placed)
    located = tuple(replace(item, line=item.line + case.offset) for item in found)
    return _finished(case, lines, fates, located, skeleton)


def _guarded(versions: Versions, around: Sequence[Wrap], placed: Placed, index: int) -> Placed:
    """Ask about a block that is reached through a condition which no marker covers."""
    block, units = versions.blocks[index], versions.copy.units
    for wrap in around:
        header = units[wrap.header]
        after = wrap.leaves and block.start >= wrap.end and block.start < len(units)
        if after and units[block.start].depth == header.depth and placed.edit is not None:
            text = (
                f"the block {block.marker.label!r} is reached only when the unmarked {quoted([header.key])} "
                f"(which holds all of upstream's body and leaves the function) does not hold; behind the target's body "
                f"it would run as well: shall the condition be marked and kept around the target's body, or shall the "
                f"block mark only those statements in which it differs from the target"
            )
            own = {unit.key for unit in units[block.start : block.end]}
            missing = [unit.key for unit in versions.target.units if unit.depth and unit.key not in own]
            tail = f" ({quoted([key for key in missing if key != 'docstring'])} it leaves out)?" if missing else "?"
            fate = replace(placed.fate, fate="conflict")
            return Placed(fate, None, Question("unmarked-condition", text + tail, block.marker.line))
    return placed


def _assembled(target: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    lines = list(target)
    ordered = sorted(enumerate(edits), key=lambda item: (item[1].first, item[0]), reverse=True)
    for _, edit in ordered:
        lines[edit.first - 1 : edit.last] = edit.lines
    return lines


def _ask(item: Deviation) -> Question:
    first = quoted([item.copy]) if item.copy else ""
    theirs = quoted([item.upstream]) if item.upstream else ""
    what = {
        "left out": f"the copy leaves out upstream's {theirs} without a marker",
        "added": f"the copy adds {first} without a marker",
        "changed": f"the copy has {first} where upstream has {theirs}, without a marker",
        "wraps": f"the copy puts {first} around upstream's statements without a marker",
    }[item.form]
    text = f"{what}: mark it as the plugin's, or take the target's form (--drop {item.id})?"
    return Question("deviation", text, item.line)


def _finished(
    case: _Case,
    lines: Sequence[str],
    fates: tuple[BlockFate, ...],
    found: tuple[Deviation, ...],
    skeleton: Skeleton,
) -> Reconstruction:
    """Put the header on, and judge whether everything is settled."""
    questions = [_placed_in_file(case, item) for item in case.questions]
    questions += _unsound(case, lines, skeleton)
    comments = at_target(case.comments, case.parts, case.names.ref, case.names.old_refs)
    text = "\n".join([*comments, *shifted(list(lines), "", case.indent)]).rstrip("\n") + "\n"
    notes = list(skeleton.notes)
    if skeleton.typing_only:
        notes.append(f"annotations name what only type checkers need: {'; '.join(skeleton.typing_only)}")
    notes += [f"{new} takes the place of {old}" for old, new in skeleton.replaced]
    notes += [f"{name} is imported from where the target has it" for name in skeleton.rebound]
    idle = unused(case.copy.text, case.copy.line, _last(case), text) if not questions else ()
    if idle:
        notes.append(f"nothing here uses these imports any more: {', '.join(idle)}")
    return Reconstruction(
        text,
        complete=not questions,
        blocks=fates,
        deviations=found,
        questions=tuple(questions),
        imports=tuple(skeleton.imports),
        notes=tuple(notes),
        first=case.copy.line - len(case.comments),
        last=_last(case),
        target="\n".join(shifted(list(skeleton.lines), "", case.indent)) + "\n",
        replaced=tuple(skeleton.replaced),
        unused=(*idle, *skeleton.rebound),
        typing=tuple(skeleton.typing_only),
    )


def _placed_in_file(case: _Case, item: Question) -> Question:
    return replace(item, line=item.line + case.offset) if item.line and item.code != "composition" else item


def _unsound(case: _Case, lines: Sequence[str], skeleton: Skeleton) -> Iterator[Question]:
    """Yield what is wrong with the text itself: it does not parse, its signature differs, its markers do not pair."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            compile("\n".join(lines), "reconstruction", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        yield Question(
            "unparsable", f"the reconstruction does not parse ({error}): which block broke it?", case.copy.line
        )
        return
    ours, theirs = signature_in(list(lines)), signature_in(dedented("\n".join(skeleton.lines)))
    if ours and theirs and verdict(compare(theirs, ours)) != "exact":
        yield Question("signature", "the reconstruction's signature is not the target's", case.copy.line)
    starts = sum("PATCH START" in line for line in lines)
    ends = sum("PATCH END" in line for line in lines)
    if starts != ends:
        yield Question("markers", f"the reconstruction has {starts} PATCH START and {ends} PATCH END", case.copy.line)
