"""What changed between a definition and what stands for it: signature, return shape, body, value, in that order."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from git_afd.core.few import few
from git_afd.core.impacts.bodies import Body, NoBody, Returned, quiet, reordered
from git_afd.core.impacts.constructors import constructor
from git_afd.core.impacts.sides import Side
from git_afd.core.impacts.signatures import SignatureChange, signature_changes, spelt
from git_afd.core.source.definitions import Signature
from git_afd.core.source.versions import ASKS
from git_afd.core.source.world import Located

Kind = Literal["unchanged", "signature-changed", "return-changed", "body-changed", "value-changed", "member-removed"]
_SHOWN = 4
_LINE = 60
_PASSES_ON = re.compile(r"^\s*return (?:self\.)?\w+\(", re.MULTILINE)
_FIELD = re.compile(r"(?:[\w.]*\.)?[Ff]ield\(")


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs. `kind` is the state when the place is the same; `what` are sentences without subject.

    `body` says whether the body differs (`words` only: nothing but messages do); `order` are ordering notes.
    """

    kind: Kind
    what: tuple[str, ...] = ()
    signature: tuple[SignatureChange, ...] = ()
    body: bool = False
    words: bool = False
    returns: str = ""
    order: tuple[str, ...] = ()
    unknown: str = ""


def difference(old: Located, new: Located, sides: tuple[Side, Side]) -> Difference:
    """Compare two definitions."""
    if old.kind != new.kind:
        return Difference("signature-changed", (f"is a {new.kind} now, was a {old.kind}",))
    if old.kind == "function":
        return _function(old, new, sides)
    if old.kind == "class":
        return _class(old, new)
    if old.kind == "value":
        return _value(old, new)
    return Difference("unchanged")


def _function(old: Located, new: Located, sides: tuple[Side, Side]) -> Difference:
    before, after = _signature(old), _signature(new)
    changes = signature_changes(before, after)
    source = sides[0].source(old)
    if source == sides[1].source(new) and not _asks_version(old, sides):
        inside = _returns(old, new, sides) if source and _PASSES_ON.search(source) else ""
        return _decide(changes, inside, None, None)
    first, second = sides[0].body(old), sides[1].body(new)
    if isinstance(first, NoBody) or isinstance(second, NoBody):
        reason = first.reason if isinstance(first, NoBody) else second.reason if isinstance(second, NoBody) else ""
        return Difference("unchanged", unknown=reason)
    told = first.lines != second.lines or first.passed_on
    other = _other_decorators(before, after)
    return _decide(changes, _returns(old, new, sides) if told else "", first, second, other)


def _returns(old: Located, new: Located, sides: tuple[Side, Side]) -> str:
    before, after = sides[0].returned(old), sides[1].returned(new)
    return return_change(before, after) if before and after else ""


def _asks_version(old: Located, sides: tuple[Side, Side]) -> bool:
    source = sides[0].source(old)
    return source is not None and ASKS in source


def _signature(place: Located) -> Signature:
    found = place.definition.signature if place.definition else None
    return found or Signature(())


def _other_decorators(before: Signature, after: Signature) -> str:
    gone = [item for item in before.decorators if item not in after.decorators]
    new = [item for item in after.decorators if item not in before.decorators]
    told = [*(f"@{item} is gone" for item in gone), *(f"@{item} is new" for item in new)]
    return ", ".join(told)


def _decide(
    changes: tuple[SignatureChange, ...], returns: str, first: Body | None, second: Body | None, other: str = ""
) -> Difference:
    changed = first is not None and second is not None and first.lines != second.lines
    words = changed and first is not None and second is not None and quiet(first.lines) == quiet(second.lines)
    real = [item.what for item in changes if item.level == "real"]
    defaults = [item.what for item in changes if item.level == "default"]
    annotations = [item.what for item in changes if item.level == "annotation"]
    annotated = [item.what for item in changes if item.level == "return"]
    summary = summarised(first, second) if changed and first and second else ()
    what = (*real, *defaults, *annotations, *annotated, *((returns,) if returns else ()), *summary)
    order = (
        tuple(f"{a} came before {b}" for a, b in reordered(first.events, second.events))
        if changed and first and second
        else ()
    )
    kind: Kind = "unchanged"
    if real:
        kind = "signature-changed"
    elif returns or annotated:
        kind = "return-changed"
    elif annotations:
        kind = "signature-changed"
    elif defaults:
        kind = "value-changed"
    elif changed or other:
        kind = "body-changed"
    if other:
        what = (*what, other)
    return Difference(kind, what, changes, changed or bool(other), words, returns, order[:_SHOWN])


def return_change(old: Returned, new: Returned) -> str:
    """Say how what a call gives back changed its shape, empty when it did not or nothing can be told."""
    if old.generator != new.generator:
        return "is a generator now" if new.generator else "is no generator any more"
    if old.is_async != new.is_async or not old.forms or not new.forms:
        return ""
    if old.lengths != new.lengths:
        return f"returns {_forms(new)} now, was {_forms(old)}"
    if (old.forms == {"none"}) != (new.forms == {"none"}):
        return f"returns {_forms(new)} now, was {_forms(old)}"
    return ""


def _forms(returned: Returned) -> str:
    words = {"none": "None", "value": "a value", "literal": "a constant"}
    shown = sorted(returned.forms, key=lambda form: (form == "none", form))
    return " or ".join(words.get(form, f"a tuple of {form.partition(':')[2]}") for form in shown)


def summarised(old: Body, new: Body) -> tuple[str, ...]:
    """Say in a few words what changed in a body: calls and writes that are gone or new."""
    before, after = Counter(old.events), Counter(new.events)
    gone, added = list(dict.fromkeys((before - after).elements())), list(dict.fromkeys((after - before).elements()))
    told: list[str] = []
    for word, verb in (("call", "calls"), ("write", "writes")):
        for names, head in ((gone, f"no longer {verb}"), (added, f"now {verb}")):
            mine = [name.partition(" ")[2] for name in names if name.startswith(f"{word} ")]
            if mine:
                told.append(f"{head} {few(mine, _SHOWN)}")
    return tuple(told) or ("its body differs",)


def _class(old: Located, new: Located) -> Difference:
    before = old.definition.bases if old.definition else ()
    after = new.definition.bases if new.definition else ()
    gone = [base for base in before if base not in after]
    added = [base for base in after if base not in before]
    what = (*(f"base {base} is gone" for base in gone), *(f"base {base} is new" for base in added))
    return Difference("member-removed" if gone else "unchanged", what)


def _value(old: Located, new: Located) -> Difference:
    before, after = _said(old), _said(new)
    what: list[str] = []
    if not _reads_the_same(effective(before[0]), effective(after[0])):
        what.append(f"is {_short(after[0], before[0])} now, was {_short(before[0], after[0])}")
    if spelt(before[1]) != spelt(after[1]):
        what.append(f"is annotated {after[1] or 'nothing'} now, was {before[1] or 'nothing'}")
    return Difference("value-changed" if what else "unchanged", tuple(what))


def _reads_the_same(old: str | None, new: str | None) -> bool:
    """Say whether two values are the same expression, however they are wrapped, bracketed and commented."""
    if old == new or old is None or new is None:
        return old == new
    try:
        return ast.dump(ast.parse(old, mode="eval")) == ast.dump(ast.parse(new, mode="eval"))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False


def _said(place: Located) -> tuple[str | None, str | None]:
    if place.definition is not None:
        return place.definition.value, place.definition.annotation
    return (place.attribute.value, place.attribute.annotation) if place.attribute else (None, None)


def effective(value: str | None) -> str | None:
    """Return the value that a field has by default: ``Field(default=1, ge=1)`` gives 1 as plain ``1`` does."""
    match = _FIELD.match(value or "")
    if match is None:
        return value
    try:
        call = ast.parse(value or "", mode="eval").body
    except SyntaxError:
        return value
    if not isinstance(call, ast.Call):
        return value
    given = [item.value for item in call.keywords if item.arg == "default"] or call.args[:1]
    return ast.unparse(given[0]) if given else value


def is_literal(place: Located) -> bool:
    """Say whether a value is written down as a constant."""
    try:
        ast.literal_eval(_said(place)[0] or "")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _short(text: str | None, other: str | None) -> str:
    """Return a text that fits on a line: from a little before the place where it begins to differ from the other."""
    if text is None:
        return "without a value"
    if len(text) <= _LINE:
        return text
    same = next((at for at, (a, b) in enumerate(zip(text, other or "", strict=False)) if a != b), 0)
    start = max(same - _LINE // 3, 0)
    return f"{'…' if start else ''}{text[start : start + _LINE - 2]}…"


def constructor_difference(old: Located, new: Located, sides: tuple[Side, Side]) -> Difference:
    """Compare what two classes may be constructed with."""
    before, after = constructor(old, sides[0]), constructor(new, sides[1])
    if before is None or after is None:
        return Difference("unchanged")
    return _decide(signature_changes(Signature(before), Signature(after)), "", None, None)
