"""What an automatic comparison says of the seven stop conditions (workflow Phase 3).

It can say that nothing speaks for a condition, on the evidence of what was compared; where something does, a person
must answer. It never says that the upgrade may go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.few import few
from git_afd.core.workbook.impacts import Impact
from git_afd.core.workbook.inventory import Contract

_BASES: Final = ("base-changed",)
_SEAMS: Final = ("seam-gone", "seam-replaced", "class-gone")
_PATCHED: Final = ("monkeypatch", "copied-body")
_STANDS_IN: Final = (*_PATCHED, "shadow-copy", "override")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the comparison says of one condition: `clear` when nothing speaks for it, the evidence, and a sentence."""

    number: int
    clear: bool
    evidence: tuple[str, ...]
    why: str


def evaluations(record: str, impacts: Sequence[Impact], contracts: Mapping[str, Contract]) -> tuple[Evaluation, ...]:
    """Evaluate what can be evaluated. `record` is the comparison's id: the evidence that there is nothing to show.

    Conditions 2 and 3 (base, patch seam) are clear when no impact speaks for them; 4 to 6 are always asked, with what
    the comparison has to say; 1 and 7 (pair, environment) are not its business.
    """
    kinds = {impact.id: contracts[impact.contract].kind for impact in impacts if impact.contract in contracts}
    return (
        _two(record, impacts),
        _three(record, impacts, kinds),
        _asked(4, _by_rule(impacts, ("class-gone",)), "upstream classes that the plugin relies on are gone"),
        _asked(5, _several(impacts, contracts), "ARCHITECTURAL impacts lie in several parts of the plugin"),
        _asked(6, _rebased(impacts, kinds), "functions of the plugin stand for an upstream body that changed"),
    )


def _two(record: str, impacts: Sequence[Impact]) -> Evaluation:
    found = _by_rule(impacts, _BASES)
    if not found:
        return Evaluation(2, clear=True, evidence=(record,), why="no base of the plugin's classes is gone or rebased")
    return Evaluation(2, clear=False, evidence=found, why=f"bases changed: {few(found)}")


def _three(record: str, impacts: Sequence[Impact], kinds: Mapping[str, str]) -> Evaluation:
    found = tuple(item for item in _by_rule(impacts, _SEAMS) if kinds.get(item) in _PATCHED)
    if not found:
        return Evaluation(3, clear=True, evidence=(record,), why="every patched place is still there")
    return Evaluation(3, clear=False, evidence=found, why=f"patched places are gone: {few(found)}")


def _asked(number: int, found: tuple[str, ...], what: str) -> Evaluation:
    why = f"{len(found)} {what}: {few(found)}" if found else "the comparison shows nothing of the kind"
    return Evaluation(number, clear=False, evidence=found, why=why)


def _by_rule(impacts: Iterable[Impact], rules: Sequence[str]) -> tuple[str, ...]:
    return tuple(impact.id for impact in impacts if impact.rule.partition(":")[0] in rules)


def _several(impacts: Iterable[Impact], contracts: Mapping[str, Contract]) -> tuple[str, ...]:
    """Return ARCHITECTURAL impacts when they lie in more than one folder of the plugin."""
    found = [impact for impact in impacts if impact.class_ == "ARCHITECTURAL" and impact.contract in contracts]
    folders = {contracts[impact.contract].plugin.path.rpartition("/")[0] for impact in found}
    return tuple(impact.id for impact in found) if len(folders) > 1 else ()


def _rebased(impacts: Iterable[Impact], kinds: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(impact.id for impact in impacts if kinds.get(impact.id) in _STANDS_IN and impact.class_ != "NONE")
