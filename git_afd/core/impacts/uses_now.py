"""Whether a use of a contract still works at the target: one check per sort of use. Only evidence breaks anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, assert_never

from git_afd.core.contracts.uses import (
    Attribute,
    Call,
    Copy,
    Fake,
    Import,
    Mention,
    Override,
    Patch,
    Pin,
    Subclass,
    Use,
    Variable,
)
from git_afd.core.impacts.bodies import Body, Returned
from git_afd.core.impacts.callers import upstream_calls
from git_afd.core.impacts.constructors import constructor
from git_afd.core.impacts.effect import Case, Fault
from git_afd.core.impacts.places import given_by_plugin
from git_afd.core.impacts.replacing import override_faults, patch_faults
from git_afd.core.impacts.returns import other_elements, returned_class
from git_afd.core.impacts.signatures import Bound, bind, binding_decorators, bound_parameters, misbound
from git_afd.core.source.definitions import Parameter, Signature
from git_afd.core.source.lookup import Absent
from git_afd.core.source.world import Located

_PROPERTIES = ("property", "cached_property")


def faults_of(case: Case) -> tuple[Fault, ...]:
    """Return what fails or binds wrongly, in the order of the uses."""
    if not case.contract.uses:
        return tuple(_unknown_use(case))
    return tuple(fault for use in case.contract.uses for fault in _faults(case, use))


def _unknown_use(case: Case) -> Iterator[Fault]:
    """Judge a contract that was listed by hand: what is done with it is not said, that it is needed is."""
    if case.now.standing != "unknown" and (case.now.place is None or not case.now.reachable):
        yield Fault(case.contract.plugin.line, f"it is not there: {case.now.why}")


def _faults(case: Case, use: Use) -> Iterator[Fault]:
    match use:
        case Override():
            yield from override_faults(case, use)
            for each in use.supers:
                yield from call_faults(case, each)
        case Import() | Mention():
            yield from _name_faults(case, use)
        case Subclass():
            if not case.now.reachable:
                yield Fault(use.line, f"the base cannot be reached: {case.now.why}")
        case Call() | Attribute() | Patch() | Fake() | Variable():
            yield from _CHECKS[type(use)](case, use)
        case Copy() | Pin():
            return
        case _:
            assert_never(use)


def call_faults(case: Case, call: Call) -> Iterator[Fault]:
    """Check a call: the callee is there, the arguments bind to the same parameters, the result fits."""
    new = case.now.place
    by_name = call.bound in ("function", "constructor", "unbound") or case.now.standing == "believed"
    if new is None or (not case.now.reachable and by_name):
        if not call.soft and case.now.standing != "unknown":
            yield Fault(call.line, f"what is called is not there: {case.now.why}")
        return
    before, after = _parameters(case.old, call, case, 0), _parameters(new, call, case, 1)
    if before is not None and after is not None:
        yield from _binding_faults(call.line, bind(call, before), bind(call, after), case)
    if new.kind == "function" and case.old.kind == "function":
        yield from _result_faults(case, call, new)


def _binding_faults(line: int, before: Bound, after: Bound, case: Case) -> Iterator[Fault]:
    if before.fault:
        return  # it did not bind in our reading at the current commit either: nothing can be concluded
    if after.fault:
        yield Fault(line, f"the call {after.fault}")
    elif wrong := misbound(before, after, renamed_parameters(case)):
        yield Fault(line, wrong, silent=True)


def _parameters(place: Located, call: Call, case: Case, side: int) -> tuple[Parameter, ...] | None:
    if place.kind == "class":
        return constructor(place, case.sides[side])
    signature = place.definition.signature if place.definition else None
    return bound_parameters(signature, call.bound) if signature and place.kind == "function" else None


def renamed_parameters(case: Case) -> Mapping[str, str]:
    """Return parameters that merely have another name now: with it put back, the body reads as it did."""
    new = case.now.place
    first = case.old.definition.signature if case.old.definition else None
    second = new.definition.signature if new and new.definition else None
    if first is None or second is None or new is None or case.old.kind != "function":
        return {}
    if len(first.parameters) != len(second.parameters):
        return {}
    pairs = {a.name: b.name for a, b in zip(first.parameters, second.parameters, strict=True) if a.name != b.name}
    before, after = case.sides[0].body(case.old), case.sides[1].body(new)
    if not pairs or not isinstance(before, Body) or not isinstance(after, Body):
        return {}
    renamed = "\n".join(before.lines)
    for name, other in pairs.items():
        renamed = re.sub(rf"\b{re.escape(name)}\b", other, renamed)
    if renamed != "\n".join(after.lines):
        return {}
    return {old: new for old, new in pairs.items() if _passed_alike(case, old, new)}


def _passed_alike(case: Case, old: str, new: str) -> bool:
    """Say whether upstream's own callers pass the same for a renamed parameter: else it means something else now."""
    name = case.old.symbol.rpartition(".")[2]
    passed: list[set[str]] = []
    for side, parameter, place in zip(case.sides, (old, new), (case.old, case.now.place), strict=True):
        signature = place.definition.signature if place and place.definition else None
        names = [item.name for item in signature.parameters] if signature else []
        at = names.index(parameter) - (1 if names[:1] in (["self"], ["cls"]) else 0) if parameter in names else -1
        calls = (node for _, node in upstream_calls(side, case.old.who, name))
        passed.append({text for node in calls if (text := _argument(node, at, parameter))})
    return not passed[0] or not passed[1] or bool(passed[0] & passed[1])


def _argument(node: ast.Call, at: int, name: str) -> str:
    by_name = next((item.value for item in node.keywords if item.arg == name), None)
    value = by_name or (node.args[at] if 0 <= at < len(node.args) else None)
    return ast.unparse(value) if value is not None else ""


def _result_faults(case: Case, call: Call, new: Located) -> Iterator[Fault]:
    first, second = _signature(case.old), _signature(new)
    if first.is_async != second.is_async and not call.discarded:
        if second.is_async and not call.awaited:
            yield Fault(call.line, "it is async now, and the call does not await it")
        if first.is_async and call.awaited:
            yield Fault(call.line, "it is not async any more, and the call awaits it")
    managed = [any(name.endswith("contextmanager") for name in binding_decorators(item)) for item in (first, second)]
    if call.entered and managed == [True, False]:
        yield Fault(call.line, "it is no context manager any more")
    elif managed == [False, True] and not call.entered:
        yield Fault(call.line, "it is a context manager now")
    yield from _lost_attributes(case, call, new)
    held = "" if call.discarded else other_elements(first.returns, second.returns)
    if held:
        yield Fault(call.line, f"its result {held}", silent=True)
    if not case.difference.returns:
        return
    before, after = case.sides[0].returned(case.old), case.sides[1].returned(new)
    if before is not None and after is not None:
        yield from _shape_faults(call, before, after, case.difference.returns)


def _lost_attributes(case: Case, call: Call, new: Located) -> Iterator[Fault]:
    """Yield attributes that are read on the result and that the class which is returned now does not have."""
    kinds = [returned_class(place, side) for place, side in zip((case.old, new), case.sides, strict=True)]
    old, now = kinds
    if old is None or now is None or old.dotted == now.dotted:
        return
    for name in call.attributes:
        had = isinstance(case.sides[0].world.member(old, name), Located)
        if had and isinstance(case.sides[1].world.member(now, name), Absent):
            yield Fault(call.line, f"{name} is read on the result, and {now.symbol} has none")


def _shape_faults(call: Call, old: Returned, new: Returned, words: str) -> Iterator[Fault]:
    if call.unpacked and not call.unpacked_star:
        fits = call.unpacked in new.lengths or not new.forms
        unclear = new.forms == {"value"} and call.unpacked not in old.lengths
        if not fits and not unclear:
            yield Fault(call.line, f"its result is unpacked into {call.unpacked} names, and it {words}")
    elif call.discarded or call.unpacked:
        return
    elif old.generator != new.generator and not call.entered:
        yield Fault(call.line, f"it {words}")
    elif bool(old.lengths) != bool(new.lengths) or (old.lengths and not old.lengths & new.lengths):
        yield Fault(call.line, f"its result is used as one value, and it {words}")
    elif new.forms == {"none"} and old.forms:
        yield Fault(call.line, f"its result is used, and it {words}")


def _signature(place: Located) -> Signature:
    found = place.definition.signature if place.definition else None
    return found or Signature(())


def _attribute_faults(case: Case, use: Attribute) -> Iterator[Fault]:
    new = case.now.place
    if use.soft or case.now.standing == "unknown":
        return
    if case.contract.kind == "inherited-read" and (use.access == "written" or _gives_itself(case, use)):
        return  # the plugin's own object keeps it
    if new is None or (case.now.standing == "believed" and not case.now.reachable):
        verb = "is written, which nobody reads" if use.access == "written" else f"is {use.access}, which is not there"
        yield Fault(use.line, f"{use.chain} {verb}: {case.now.why}")
        return
    was, is_now = _is_property(case.old), _is_property(new)
    if case.old.kind == "function" and new.kind == "function" and was != is_now:
        yield Fault(use.line, f"{use.attribute} is {'a property' if is_now else 'a method'} now")
    elif use.access == "read" and case.old.kind == "value" and new.kind == "function" and not is_now:
        yield Fault(use.line, f"{use.attribute} is a method now, and is read as a value")
    elif use.access == "called" and case.old.kind == "function" and new.kind == "value":
        yield Fault(use.line, f"{use.attribute} is a value now, and is called")


def _gives_itself(case: Case, use: Attribute) -> bool:
    """Say whether the plugin's class assigns what it reads: in another method, or earlier in the same one."""
    given = given_by_plugin(use, case.sides[0])
    if given is None:
        return False
    inside = f"{case.contract.plugin.symbol}.".startswith(f"{given.method}.")
    return not inside or given.line < use.line


def _is_property(place: Located) -> bool:
    return any(name in _PROPERTIES for name in binding_decorators(_signature(place)))


def _name_faults(case: Case, use: Import | Mention) -> Iterator[Fault]:
    if case.now.standing == "unknown":
        return
    if case.now.reachable and case.now.place is not None:
        if isinstance(use, Import) and use.held and (case.old.kind, case.now.place.kind) == ("class", "function"):
            yield Fault(use.line, f"isinstance asks for {use.local}, which is a function now")
        return
    if isinstance(use, Import) and use.place in ("type-checking", "guarded"):
        return
    what = "the import fails" if isinstance(use, Import) else f'"{use.text}" names nothing'
    yield Fault(use.line, f"{what}: {case.now.why}")


def _fake_faults(case: Case, use: Fake) -> Iterator[Fault]:
    gone = case.now.place is None or not case.now.reachable
    if gone and case.now.standing != "unknown" and use.form in ("patch target", "attribute"):
        yield Fault(use.line, f"the test replaces what is not there: {case.now.why}")


def _variable_faults(case: Case, use: Variable) -> Iterator[Fault]:
    if case.now.place is None and case.now.standing != "unknown" and (use.access == "written" or not use.default):
        what = "nobody reads what is set" if use.access == "written" else "it is not there to be read"
        yield Fault(use.line, f"{use.variable}: {what}")


_CHECKS: Final[Mapping[type, Callable[..., Iterator[Fault]]]] = {
    Call: call_faults,
    Attribute: _attribute_faults,
    Patch: patch_faults,
    Fake: _fake_faults,
    Variable: _variable_faults,
}
