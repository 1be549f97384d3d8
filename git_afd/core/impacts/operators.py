"""Operators that the plugin registers with torch through an upstream: another torch may take them otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from git_afd.core.contracts.uses import Call
from git_afd.core.impacts.effect import Effect
from git_afd.core.impacts.sides import Side
from git_afd.core.source.world import Located

_REGISTERS: Final = re.compile(r"\btorch\.library\b|\binfer_schema\(")


def with_stack(effect: Effect, old: Located, sides: tuple[Side, Side]) -> Effect:
    """Say what a call depends on besides the upstream function: which torch registers what is passed to it.

    What an operator may take, alias and give back is torch's rule and changes with it; no source of the upstream
    shows that. A call that breaks or changed anyway says enough.
    """
    who = effect.contract.upstream.name
    before, after = (side.torch.get(who, "") for side in sides)
    called = any(isinstance(use, Call) and not use.soft for use in effect.contract.uses)
    same = effect.state == "unchanged" and not effect.breaking and old.kind == "function"
    if not (called and same and before and after and before != after):
        return effect
    if not _REGISTERS.search(sides[0].source(old) or ""):
        return effect
    told = f"it registers operators with torch, which is {after} at the target, was {before}"
    return replace(effect, stack=told, reason=f"{effect.reason}; {told}")
