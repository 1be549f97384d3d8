"""Two signatures held against each other, and a call or a replacement held against a signature."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from git_afd.core.contracts.uses import Call
from git_afd.core.source.definitions import Parameter, Signature
from git_afd.core.source.world import Located

Level = Literal["real", "default", "annotation", "return"]
_POSITIONAL: Final = ("positional-only", "positional")
_BINDING: Final = (
    "staticmethod",
    "classmethod",
    "property",
    "cached_property",
    "contextmanager",
    "asynccontextmanager",
)
_SPELT: Final = (
    (re.compile(r"[\"']"), ""),
    (re.compile(r"\b(?:typing|t|collections\.abc)\."), ""),
    (re.compile(r"\b(List|Dict|Tuple|Set|Type)\["), lambda match: match.group(0).lower()),
    (re.compile(r"\b(?:\w+\.)*SkipValidation\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]"), r"\1"),
    (re.compile(r"\bOptional\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]"), r"\1 | None"),
    (re.compile(r"\s+"), ""),
)


@dataclass(frozen=True, slots=True)
class SignatureChange:
    """One difference: how much it matters, and a sentence."""

    level: Level
    what: str


def spelt(annotation: str | None) -> str:
    """Return an annotation without the spellings that mean the same (quotes, ``Optional``, ``List``, validation)."""
    text = annotation or ""
    for pattern, to in _SPELT:
        text = pattern.sub(to, text)
    return text


def signature_changes(old: Signature, new: Signature) -> tuple[SignatureChange, ...]:
    """Return what differs between two signatures, in order of the parameters."""
    found = [*_binding_changes(old, new), *_parameter_changes(old, new)]
    if spelt(old.returns) != spelt(new.returns):
        found.append(
            SignatureChange("return", f"returns {new.returns or 'unannotated'}, was {old.returns or 'unannotated'}")
        )
    return tuple(found)


def _binding_changes(old: Signature, new: Signature) -> Iterator[SignatureChange]:
    if old.is_async != new.is_async:
        yield SignatureChange("real", "is async now" if new.is_async else "is not async any more")
    before, after = binding_decorators(old), binding_decorators(new)
    if before != after:
        yield SignatureChange(
            "real", f"is {', '.join(after) or 'a plain function'} now, was {', '.join(before) or 'one'}"
        )


def binding_decorators(signature: Signature) -> tuple[str, ...]:
    """Return the decorators that change how a function is reached or what a call of it gives."""
    last = (item.partition("(")[0].rpartition(".")[2] for item in signature.decorators)
    return tuple(name for name in last if name in _BINDING)


def _parameter_changes(old: Signature, new: Signature) -> Iterator[SignatureChange]:
    before = {item.name: item for item in old.parameters}
    after = {item.name: item for item in new.parameters}
    for name, item in before.items():
        if name not in after:
            yield SignatureChange("real", f"parameter {name} is gone{_renamed(old, new, item)}")
    for name, item in after.items():
        if name not in before:
            need = "required" if is_required(item) else "optional"
            yield SignatureChange("real", f"{need} parameter {name} is new")
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        yield SignatureChange("real", "parameters stand in another order")
    for name in kept:
        yield from _one_changed(before[name], after[name])


def _one_changed(old: Parameter, new: Parameter) -> Iterator[SignatureChange]:
    name = old.name
    if old.kind != new.kind:
        yield SignatureChange("real", f"parameter {name} is {new.kind} now, was {old.kind}")
    if (old.default is None) != (new.default is None):
        told = "has no default any more" if new.default is None else f"has the default {new.default} now"
        yield SignatureChange("real", f"parameter {name} {told}")
    elif old.default != new.default:
        yield SignatureChange("default", f"the default of {name} is {new.default} now, was {old.default}")
    if spelt(old.annotation) != spelt(new.annotation):
        told = f"{new.annotation or 'nothing'}, was {old.annotation or 'nothing'}"
        yield SignatureChange("annotation", f"{name} is annotated {told}")


def _renamed(old: Signature, new: Signature, gone: Parameter) -> str:
    """Say what stands where a parameter was that is gone, when that name is new."""
    place = old.parameters.index(gone)
    here = new.parameters[place] if place < len(new.parameters) else None
    names = {item.name for item in old.parameters}
    return f" ({here.name} stands there)" if here and here.name not in names and here.kind == gone.kind else ""


def is_required(item: Parameter) -> bool:
    """Say whether a call must pass a parameter."""
    return item.default is None and item.kind in (*_POSITIONAL, "keyword")


def bound_parameters(signature: Signature, bound: str) -> tuple[Parameter, ...]:
    """Return the parameters that a caller fills; `bound` as in :class:`Call`."""
    given = signature.parameters
    is_static = "staticmethod" in binding_decorators(signature)
    implicit = bound in ("method", "super", "constructor", "class-method") and not is_static
    if bound == "unbound" and "classmethod" in binding_decorators(signature):
        implicit = True
    first = given[0] if given else None
    return given[1:] if implicit and first is not None and first.kind in _POSITIONAL else given


@dataclass(frozen=True, slots=True)
class Bound:
    """How a call binds: the parameter each positional argument reaches, or why it cannot be called so."""

    positional: tuple[str, ...] = ()
    fault: str = ""


def bind(call: Call, parameters: Sequence[Parameter]) -> Bound:
    """Bind a call's arguments as Python does; what stars bring in is given the benefit of the doubt."""
    order = [item for item in parameters if item.kind in _POSITIONAL]
    rest = any(item.kind == "var-positional" for item in parameters)
    if call.positional > len(order) and not rest:
        return Bound(fault=f"takes {len(order)} positional arguments, {call.positional} are passed")
    reached = tuple(item.name for item in order[: call.positional])
    by_name = {item.name: item for item in parameters if item.kind in ("positional", "keyword")}
    takes_any = any(item.kind == "var-keyword" for item in parameters)
    unknown = [name for name in call.keywords if name not in by_name]
    if unknown and not takes_any:
        return Bound(fault=f"accepts no keyword {', '.join(unknown)}")
    twice = [name for name in call.keywords if name in reached and by_name.get(name)]
    if twice:
        return Bound(fault=f"gets {', '.join(twice)} twice: by position and by keyword")
    missing = [item.name for item in parameters if _is_missing(item, call, reached)]
    if missing:
        return Bound(fault=f"requires {', '.join(missing)}, which is not passed")
    return Bound(reached)


def _is_missing(item: Parameter, call: Call, reached: Sequence[str]) -> bool:
    if not is_required(item) or item.name in reached:
        return False
    by_name = item.kind != "positional-only" and (item.name in call.keywords or call.star_star)
    return not by_name and not (call.star and item.kind in _POSITIONAL)


def misbound(old: Bound, new: Bound, renamed: Mapping[str, str]) -> str:
    """Say which positional argument reaches another parameter now; `renamed` maps old names to mere new spellings."""
    for place, (before, after) in enumerate(zip(old.positional, new.positional, strict=False), start=1):
        if before != after and renamed.get(before) != after and before.lstrip("_") != after.lstrip("_"):
            return f"positional argument {place} reaches {after} now, was {before}"
    return ""


def calls_of(signature: Signature, bound: str) -> tuple[Call, ...]:
    """Return the two plainest calls that a signature invites: required arguments by position, and by name."""
    given = bound_parameters(signature, bound)
    required = [item for item in given if is_required(item)]
    by_place = [item for item in required if item.kind in _POSITIONAL]
    names = tuple(item.name for item in required if item.kind == "keyword")
    first = Call(0, "function", len(by_place), names)
    only = [item for item in by_place if item.kind == "positional-only"]
    second = Call(0, "function", len(only), tuple(item.name for item in required if item.kind != "positional-only"))
    return first, second


def written(place: Located) -> str:
    """Return a definition in one line: a function's signature, a class with its bases, a value with its text."""
    definition = place.definition
    if definition is None:
        value = place.attribute.value if place.attribute else None
        return f"{place.symbol} = {value}" if value else place.symbol
    if definition.kind == "function" and definition.signature:
        returns = f" -> {definition.signature.returns}" if definition.signature.returns else ""
        head = "async def" if definition.signature.is_async else "def"
        return f"{head} {definition.name}({_listed(definition.signature.parameters)}){returns}"
    if definition.kind == "class":
        return f"class {definition.name}({', '.join(definition.bases)})"
    annotation = f": {definition.annotation}" if definition.annotation else ""
    return f"{definition.name}{annotation}" + (f" = {definition.value}" if definition.value else "")


def _listed(parameters: Sequence[Parameter]) -> str:
    shown: list[str] = []
    for number, item in enumerate(parameters):
        before = parameters[number - 1].kind if number else ""
        if before == "positional-only" != item.kind:
            shown.append("/")
        if item.kind == "keyword" and before not in ("keyword", "var-positional"):
            shown.append("*")
        stars = {"var-positional": "*", "var-keyword": "**"}.get(item.kind, "")
        told = f"{stars}{item.name}" + (f": {item.annotation}" if item.annotation else "")
        shown.append(
            told
            if item.default is None
            else f"{told} = {item.default}"
            if item.annotation
            else f"{told}={item.default}"
        )
    return ", ".join(shown)
