"""Whether a function of the plugin can still stand where an upstream function stands: patches and overrides.

Upstream calls it. So it must accept what upstream passes now, give back what upstream expects now, and stand where
upstream looks it up now.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from git_afd.core.contracts.uses import Override, Patch
from git_afd.core.impacts.callers import (
    Seam,
    call_of,
    called_before,
    is_telling,
    never_runs,
    plugin_class,
    reaching,
    upstream_calls,
)
from git_afd.core.impacts.constructors import constructor
from git_afd.core.impacts.effect import Case, Fault
from git_afd.core.impacts.places import own_place
from git_afd.core.impacts.returns import incompatible
from git_afd.core.impacts.rivals import rival_faults
from git_afd.core.impacts.signatures import (
    bind,
    binding_decorators,
    bound_parameters,
    calls_of,
    is_required,
    misbound,
)
from git_afd.core.impacts.unset import unset_state
from git_afd.core.source.definitions import Parameter, Signature
from git_afd.core.source.nodes import walk
from git_afd.core.source.world import PLUGIN, Located

_TOO_MANY: Final = 400


def override_faults(case: Case, use: Override) -> Iterator[Fault]:
    """Check an overridden member: upstream still has it, and calls it in a way the override accepts."""
    new = case.now.place
    name = case.old.symbol.rpartition(".")[2]
    if case.now.standing == "unknown":
        return
    if not case.now.reachable and case.now.owner is None:
        yield Fault(use.line, f"the base cannot be reached: {case.now.why}")
        return
    if new is None or case.now.standing == "believed":
        if use.supers:
            yield Fault(use.line, f"super() has no {name}: {case.now.why}")
        elif not name.startswith("__") and not still_called(case, name):
            yield Fault(use.line, f"upstream has and calls no {name} any more: {case.now.why}")
        return
    if use.signature is None:
        return
    yield from stand_in_faults(case, use.line, use.signature, Seam(new, "method"))
    klass = plugin_class(case)
    if not use.supers and klass is not None:
        yield from _incomplete(case, use.line, new, klass)


def patch_faults(case: Case, use: Patch) -> Iterator[Fault]:
    """Check a patch: its target is still looked up there, and the replacement fits."""
    new = case.now.place
    if case.now.standing == "unknown":
        return
    if use.added:
        if new is not None and new.who != PLUGIN:
            yield Fault(use.line, f"upstream defines {case.old.symbol} itself now: the patch overwrites it")
        return
    if not case.now.reachable and case.now.owner is None:
        yield Fault(use.line, f"the patched place cannot be reached: {case.now.why}")
        return
    if new is None or case.now.standing == "believed":
        yield Fault(use.line, f"nothing is patched: {case.now.why}")
        return
    why = _not_looked_up(case, use, new)
    if why:
        yield Fault(use.line, why)
    yield from (Fault(use.line, rival) for rival in rival_faults(case, use))
    if new.kind == "class" and case.old.kind == "class":
        yield from _class_faults(case, use, new)
    elif use.signature is not None:
        bound = "method" if case.now.owner is not None and use.wrapped != "staticmethod" else "function"
        within = case.contract.upstream.path if use.form == "alias" else ""
        yield from stand_in_faults(case, use.line, use.signature, Seam(new, bound, within))
        if bound == "method" and not use.saved and case.now.owner is not None:
            yield from _incomplete(case, use.line, new, case.now.owner)


def _incomplete(case: Case, line: int, new: Located, klass: Located) -> Iterator[Fault]:
    """Check that the plugin's method sets what upstream's sets and upstream's other methods read."""
    text = case.sides[0].texts(PLUGIN, case.contract.plugin.path)
    if new.kind == "function" and case.old.kind == "function" and text is not None:
        yield from (Fault(line, why) for why in unset_state(case, new, klass, text))


def _class_faults(case: Case, use: Patch, new: Located) -> Iterator[Fault]:
    """Check that a plugin class that stands for an upstream one may still be made as upstream makes it."""
    mine = case.sides[1].world.resolve(use.replacement)
    if not isinstance(mine, Located) or mine.who != PLUGIN or mine.kind != "class":
        return
    own, theirs = constructor(mine, case.sides[1]), constructor(new, case.sides[1])
    old = constructor(case.old, case.sides[0])
    if own is None or theirs is None or old is None:
        return
    pairs = zip(calls_of(Signature(old), "function"), calls_of(Signature(theirs), "function"), strict=True)
    fault = next((bind(after, own).fault for before, after in pairs if not bind(before, own).fault), "")
    if fault:
        yield Fault(use.line, f"upstream makes one of it in another way and the plugin's class {fault}")
        return
    who, name = case.contract.upstream.name, case.contract.upstream.symbol
    for path, node in upstream_calls(case.sides[1], who, name, within=case.contract.upstream.path):
        call = call_of(node)
        if not bind(call, theirs).fault and bind(call, own).fault and bind(call, old).fault:
            yield Fault(use.line, f"the plugin's class {bind(call, own).fault} ({path}:{call.line})")
            return


def _not_looked_up(case: Case, use: Patch, new: Located) -> str:
    """Say why assigning the module's name has no effect any more: the module only passes it on."""
    if use.form not in ("module-attribute", "alias") or "." in case.old.symbol:
        return ""
    owner = case.sides[1].world.resolve(use.owner)
    if not isinstance(owner, Located) or owner.path == new.path or "sys.modules[*]" in use.rebound:
        return ""
    text = case.sides[1].texts(owner.who, owner.path)
    before = case.sides[0].texts(owner.who, owner.path)
    name = case.contract.upstream.symbol.rpartition(".")[2]
    if text is None or _uses(text, name):
        return ""
    if use.form == "alias" and before is not None and not _uses(before, name):
        return ""  # it had no effect at the current commit either
    return f"{use.owner} only passes {name} on now: whoever calls it looks it up elsewhere"


def _uses(text: str, name: str) -> bool:
    """Say whether a module's own code uses a name: imports, ``__all__`` and its own definition do not count."""
    if re.search(rf"^[^#\n\"']*(?<!def )(?<![.\w]){re.escape(name)}\(", text, re.MULTILINE):
        return True
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return True
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in walk(tree))


def stand_in_faults(case: Case, line: int, mine: Signature, seam: Seam) -> Iterator[Fault]:
    """Check that a plugin function accepts what upstream's own accepts and gives back what it gives back."""
    new, theirs = seam.new, _signature(seam.new)
    if new.kind != "function" or case.old.kind != "function":
        return
    why = _rejected(case, mine, theirs, seam.bound)
    if why and case.contract.kind == "override" and never_runs(case, seam):
        why = ""  # the plugin's own method calls it instead
    why = why or _passed(case, mine, seam)
    if why:
        yield Fault(line, why)
    if theirs.is_async != _signature(case.old).is_async and theirs.is_async != mine.is_async:
        yield Fault(line, "upstream awaits it now" if theirs.is_async else "upstream does not await it any more")
    was, now = binding_decorators(_signature(case.old)), binding_decorators(theirs)
    if was != now and binding_decorators(mine) == was and mine.decorators:
        yield Fault(line, f"upstream has {', '.join(now) or 'a plain function'} there now")
    if case.difference.kind in ("return-changed", "signature-changed"):
        yield from _returned(case, line, new)


def _signature(place: Located) -> Signature:
    found = place.definition.signature if place.definition else None
    return found or Signature(())


def _rejected(case: Case, mine: Signature, theirs: Signature, bound: str) -> str:
    """Say which of the plainest calls of upstream's signature the plugin's function does not accept."""
    old = _signature(case.old)
    own = bound_parameters(mine, bound)
    for before, after in zip(calls_of(old, bound), calls_of(theirs, bound), strict=True):
        if bind(before, own).fault:
            continue  # it did not fit at the current commit either
        found = bind(after, own)
        if found.fault:
            return f"upstream's signature changed and the plugin's function {found.fault}"
        if after.keywords == before.keywords or after.positional:
            wrong = misbound(bind(after, bound_parameters(theirs, bound)), found, {})
            first = misbound(bind(before, bound_parameters(old, bound)), bind(before, own), {})
            if wrong and not first:
                return f"{wrong.replace(' now, was ', ' of the plugin, meant for ')}"
    return ""


def _passed(case: Case, mine: Signature, seam: Seam) -> str:
    """Say which call in the upstream passes an argument that the plugin's function does not accept."""
    own, theirs = bound_parameters(mine, seam.bound), bound_parameters(_signature(seam.new), seam.bound)
    old = bound_parameters(_signature(case.old), seam.bound)
    lacking = _lacking(theirs, own, {item.name for item in old})
    if not lacking:
        return ""
    for path, node in reaching(case, seam, says=lacking):
        call = call_of(node)
        told = [item for item in call.keywords if item in lacking]
        if told and not bind(call, theirs).fault and bind(call, own).fault:
            return f"upstream passes {', '.join(told)} ({path}:{call.line})"
    return _passed_by_place(case, seam, (own, theirs, old))


Three = tuple[tuple[Parameter, ...], tuple[Parameter, ...], tuple[Parameter, ...]]


def _passed_by_place(case: Case, seam: Seam, three: Three) -> str:
    """Say which call passes one argument more than it could before, from a file that called it properly before."""
    own, theirs, old = three
    if not is_telling(case, seam):
        return ""
    for path, node in reaching(case, seam):
        call = call_of(node)
        if call.star or not call.positional or bind(call, theirs).fault or not bind(call, own).fault:
            continue
        before = called_before(case, seam, path) if bind(call, old).fault else ()
        if before and not any(bind(item, old).fault for item in before):
            return f"upstream passes {call.positional} by position ({path}:{call.line})"
    return ""


def _lacking(theirs: tuple[Parameter, ...], own: tuple[Parameter, ...], known: set[str]) -> tuple[str, ...]:
    if any(item.kind == "var-keyword" for item in own):
        return ()
    mine = {item.name for item in own}
    return tuple(
        item.name
        for item in theirs
        if item.name not in mine | known and not is_required(item) and not item.kind.startswith("var")
    )


def still_called(case: Case, name: str) -> bool:
    """Say whether the class's family or its neighbours still call a member of that name through an object."""
    after = case.sides[1]
    pattern = re.compile(rf"\.{re.escape(name)}\(".encode())
    paths = set(after.callers(case.old.who, name))
    before = set(case.sides[0].callers(case.old.who, name))
    return any(path in before and pattern.search(after.corpus(case.old.who)[path]) for path in paths)


def _returned(case: Case, line: int, new: Located) -> Iterator[Fault]:
    """Check what the plugin's function gives back against what upstream's gives back now."""
    mine = own_place(case.sides[0], PLUGIN, _module(case), case.contract.plugin.symbol)
    if mine is None or mine.kind != "function":
        return
    own, old, now = case.sides[0].returned(mine), case.sides[0].returned(case.old), case.sides[1].returned(new)
    if own is None or old is None or now is None:
        return
    types = incompatible(_signature(case.old).returns, _signature(new).returns, _signature(mine).returns, own)
    if types:
        yield Fault(line, types)
        return
    if (own.generator != now.generator and own.generator == old.generator) or (
        now.lengths and old.lengths != now.lengths and own.forms != {"value"} and not own.lengths & now.lengths
    ):
        yield Fault(line, f"upstream's {case.difference.returns}, the plugin's does not")


def _module(case: Case) -> str:
    tree = case.sides[0].tree(PLUGIN)
    return tree.name_of(case.contract.plugin.path) if tree else ""
