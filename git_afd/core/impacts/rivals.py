"""Who else assigns a patched target: another upstream that does so now, or does so in every case now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from git_afd.core.contracts.uses import Patch
from git_afd.core.impacts.effect import Case
from git_afd.core.impacts.sides import Side
from git_afd.core.source.search import assignments
from git_afd.core.source.world import PLUGIN, Located


@dataclass(frozen=True, slots=True)
class _Rival:
    """An assignment of the target by another upstream; `always` when nothing but its module's import decides."""

    who: str
    path: str
    line: int
    always: bool


def rival_faults(case: Case, use: Patch) -> Iterator[str]:
    """Yield why a patch may not have the last word: another upstream patches the same target now.

    Patches are applied in an order that no source of the plugin decides: whoever assigns last is called. A rival that
    was there at the current commit under the same condition was lived with.
    """
    name = case.contract.upstream.symbol.rpartition(".")[2]
    before = {(rival.who, rival.path): rival for rival in _rivals(case, use, name, case.sides[0])}
    told: set[str] = set()
    for rival in _rivals(case, use, name, case.sides[1]):
        old = before.get((rival.who, rival.path))
        if rival.path in told or (old is not None and (old.always or not rival.always)):
            continue
        told.add(rival.path)
        how = "as well now" if old is None else "in every case now"
        yield f"{rival.who} assigns it {how} ({rival.path}:{rival.line}), and whoever does so last is called"


def _rivals(case: Case, use: Patch, name: str, side: Side) -> Iterator[_Rival]:
    target = side.world.resolve(use.owner)
    for who in side.world.trees:
        if who in (PLUGIN, case.contract.upstream.name):
            continue
        for path, _, base, line in assignments(side.corpus(who), [name]):
            module = side.module_at(who, path)
            found = side.world.symbol(module.name, base) if module and base else None
            same = isinstance(found, Located) and isinstance(target, Located) and found.dotted == target.dotted
            if module and (same or (not isinstance(found, Located) and base == use.owner.rpartition(".")[2])):
                yield _Rival(who, path, line, _at_level(side, who, path, line) and _always(side, who, module.name))


def _at_level(side: Side, who: str, path: str, line: int) -> bool:
    """Say whether a line stands at module level, under no test and in no function."""
    lines = side.corpus(who)[path].split(b"\n")
    return not lines[line - 1][:1].isspace()


def _always(side: Side, who: str, module: str) -> bool:
    """Say whether some file of the upstream imports a module at its level, so that it always runs."""
    last = module.rpartition(".")[2]
    imports = re.compile(rb"^(?:import|from)[ \t][^\n#]*\b%s\b" % re.escape(last.encode()), re.MULTILINE)
    return any(imports.search(side.corpus(who)[path]) for path in side.holding(who, last))
