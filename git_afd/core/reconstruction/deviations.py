"""Where the old copy differs from the old upstream outside its blocks: listed one by one, for a decision.

What a rule decides is the target's form: differences without effect, those that the target makes as well, and those
whose statement the target no longer has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.reconstruction.model import Deviation, DeviationForm
from git_afd.core.reconstruction.units import Unit, body_end, parsed_line
from git_afd.core.reconstruction.versions import Versions

_NO_EFFECT: Final = "it has no effect"
_GONE: Final = "the target no longer has the statement"
_SAME: Final = "the target does the same"
_HEAD: Final = "signature and decorators are always the target's"
_WRITE_ONLY: Final = "it only guides type checkers"


@dataclass(frozen=True, slots=True)
class Wrap:
    """A header of the copy's own, outside any block, around upstream's statements (indices)."""

    header: int
    end: int
    leaves: bool


def wraps(versions: Versions) -> list[Wrap]:
    """Return the unmarked headers around upstream's statements."""
    units, found = versions.copy.units, []
    for index, unit in enumerate(units):
        if not unit.opens or index in versions.to_old or versions.marked(index):
            continue
        end = body_end(units, index)
        if any(item in versions.to_old and not versions.marked(item) for item in range(index + 1, end)):
            found.append(Wrap(index, end, units[end - 1].kind in ("return", "raise")))
    return found


def deviations(versions: Versions, covered: set[int], dropped: frozenset[str] = frozenset()) -> list[Deviation]:
    """Return every deviation in order. `covered` are old units that blocks stand for; `dropped` ids were decided."""
    found: list[Deviation] = []
    for form, own, old in _raw(versions, covered):
        name = f"D{len(found) + 1}"
        decided = _decided(versions, form, own, old)
        if not decided and name in dropped:
            decided = "somebody decided for the target's form"
        texts = (_text(versions.copy.lines, own), _text(versions.old.lines, old))
        found.append(Deviation(name, form, own[0].first if own else _line(versions, old), *texts, decided))
    return found


def _raw(versions: Versions, covered: set[int]) -> Iterator[tuple[DeviationForm, list[Unit], list[Unit]]]:
    units, old = versions.copy.units, versions.old.units
    around = {wrap.header: wrap for wrap in wraps(versions)}
    said: set[int] = set()
    back = versions.from_old
    for index, other in enumerate(old):
        if index in covered or _of_installing(other):
            continue
        own = back.get(index)
        if own is None:
            instead = _instead(versions, index, said)
            said.update(instead)
            yield "changed" if instead else "left out", [units[item] for item in instead], [other]
        elif units[own].key != other.key and not versions.marked(own):
            yield "changed", [units[own]], [other]
    for index, unit in enumerate(units):
        if index in versions.to_old or versions.marked(index) or index in said or _of_installing(unit):
            continue
        form: DeviationForm = "wraps" if index in around else "added"
        end = body_end(units, index) if unit.opens and form == "added" else index + 1
        inner = [item for item in range(index, end) if item not in versions.to_old and not versions.marked(item)]
        said.update(inner)
        yield form, [units[item] for item in inner], []


def _instead(versions: Versions, index: int, said: set[int]) -> list[int]:
    """Return the copy's own unit of the same kind where an old one is missing, if there is one."""
    units, old, back = versions.copy.units, versions.old.units, versions.from_old
    first = next((back[item] for item in range(index - 1, -1, -1) if item in back), -1) + 1
    last = next((back[item] for item in range(index + 1, len(old)) if item in back), len(units))
    own = (item for item in range(first, last) if item not in said and not versions.marked(item))
    alike = (item for item in own if (units[item].kind, units[item].depth) == (old[index].kind, old[index].depth))
    return [item for item in alike if item not in versions.to_old and not units[item].opens][:1]


def _decided(versions: Versions, form: DeviationForm, own: Sequence[Unit], old: Sequence[Unit]) -> str:
    """Return the rule by which the target's form stands, empty when somebody has to decide."""
    both = (*own, *old)
    if form == "wraps":
        return ""
    if any(unit.kind == "@" for unit in both):
        return _HEAD
    if all(_silent(unit) for unit in both):
        return _NO_EFFECT
    if form != "changed" and all(_for_checkers(unit) for unit in both):
        return _WRITE_ONLY
    return _added(versions, own) if form == "added" else _at_target(versions, own, old[0])


def _at_target(versions: Versions, own: Sequence[Unit], old: Unit) -> str:
    """Look whether the target changed the same statement, and how."""
    image = versions.to_target.get(versions.old.units.index(old))
    if image is None:
        return _GONE if own else _SAME
    return _SAME if own and own[0].key == versions.target.units[image].key else ""


def _added(versions: Versions, own: Sequence[Unit]) -> str:
    """Look whether the target has what the copy added, and the old upstream had not."""
    now, then = ({unit.key for unit in side.units} for side in (versions.target, versions.old))
    return _SAME if all(unit.key in now and unit.key not in then for unit in own) else ""


def _of_installing(unit: Unit) -> bool:
    """Say whether a line of the head is the signature's, or a decorator that installing the patch adds."""
    return unit.depth == 0 and (unit.opens or unit.key in ("@staticmethod", "@classmethod"))


def _silent(unit: Unit) -> bool:
    """Say whether a statement does nothing: a docstring, pass, an annotation alone, the return at a function's end."""
    return unit.kind in ("docstring", "annotation", "pass") or unit.key in ("return", "return None", "...")


def _for_checkers(unit: Unit) -> bool:
    """Say whether a statement only guides type checkers or linters: ``assert x is not None``, ``del unused``."""
    node = parsed_line(unit.key)
    if isinstance(node, ast.Assert):
        test = node.test
        return isinstance(test, ast.Compare) and re.fullmatch(r"\w+ is not None", ast.unparse(test)) is not None
    if isinstance(node, ast.Delete):
        return all(isinstance(part, ast.Name | ast.Tuple) for part in node.targets)
    return False


def _text(lines: Sequence[str], units: Sequence[Unit]) -> str:
    return "\n".join(line for unit in units for line in lines[unit.first - 1 : unit.last])


def _line(versions: Versions, old: Sequence[Unit]) -> int:
    """Return the copy's row near which an old statement is missing."""
    index = versions.old.units.index(old[0])
    back = versions.from_old
    near = next((back[item] for item in range(index, -1, -1) if item in back), 0)
    return versions.copy.units[near].last
