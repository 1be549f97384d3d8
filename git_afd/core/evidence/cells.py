"""Which cells of the frozen feature matrix a run's tests cover, and which are owed (workflow, Phase 7).

A cell is covered by a test that passed, never by one that was only collected. It names its tests by the path or id
of its row; the policy may name more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from git_afd.core.evidence.collected import parse_collected
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.junit import parse_junit
from git_afd.core.evidence.raw_run import RawRun
from git_afd.core.outcome import Json
from git_afd.core.policy import CellTests
from git_afd.core.stars import fits_stars
from git_afd.core.workbook.inventory import Feature

_REFUSED: Final = "unsupported"


@dataclass(frozen=True, slots=True)
class RanTests:
    """Node ids of a run: what passed, what its commands selected, what stands there at all."""

    passed: frozenset[str]
    selected: frozenset[str]
    listed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a run covers of the feature matrix.

    `covered` maps a cell to the first test that passed for it. Cells that are `owed` have none, though they may have
    tests that did not pass; those `outside` have tests, all outside the selection of the policy's commands.
    """

    covered: Mapping[str, str]
    owed: tuple[str, ...]
    outside: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        """Return the coverage for a record and a report."""
        return {"covered": dict(self.covered), "owed": list(self.owed), "outside": list(self.outside)}


def tests_of(raw: RawRun, files: Mapping[str, bytes]) -> RanTests:
    """Return the tests of a run from its reports and listings; one that cannot be read names none."""
    passed: set[str] = set()
    for name in (name for one in raw.commands for name in one.junit if name in files):
        with suppress(EvidenceFault):
            cases = parse_junit(files[name], name).cases
            passed |= {case.node_id for case in cases if case.outcome == "passed"}
    selected: set[str] = set()
    listed: set[str] = set()
    for log in (one.log for one in raw.listings if one.log in files):
        with suppress(EvidenceFault):
            ids = parse_collected(files[log], log)
            listed |= set(ids)
            selected |= set() if log.endswith((".all.txt", ".all.txt.gz")) else set(ids)
    return RanTests(frozenset(passed), frozenset(selected), frozenset(listed))


def coverage(features: Iterable[Feature], tests: RanTests, more: Collection[CellTests] = ()) -> Coverage:
    """Return what `tests` cover of the frozen matrix; what the plugin itself refuses is no cell to cover."""
    covered: dict[str, str] = {}
    owed: list[str] = []
    outside: list[str] = []
    for feature in features:
        if feature.status == _REFUSED:
            continue
        names = _names(feature)
        said = tuple(one.test for one in more if fits_stars(one.cell, feature.cell))
        found = next((node for node in sorted(tests.passed) if _is_for(node, names, said)), None)
        if found is not None:
            covered[feature.cell] = found
        elif _any(tests.listed - tests.selected, names, said) and not _any(tests.selected, names, said):
            outside.append(feature.cell)
        else:
            owed.append(feature.cell)
    return Coverage(covered, tuple(owed), tuple(outside))


def _names(feature: Feature) -> frozenset[str]:
    """Return the test ids and test files that a row names: its own test when that is one id, else all its evidence."""
    own = feature.npu_test.strip()
    if "::" in own:
        return frozenset({own})
    places = (own, *(place.partition(":")[0] for place in feature.evidence))
    return frozenset(place for place in places if place.endswith(".py"))


def _any(nodes: Collection[str], names: Collection[str], said: Collection[str]) -> bool:
    return any(_is_for(node, names, said) for node in nodes)


def _is_for(node: str, names: Collection[str], said: Collection[str]) -> bool:
    plain = node.partition("[")[0]
    own = names and bool({node, plain, node.partition("::")[0]} & set(names))
    return bool(own) or any(fits_stars(test, node) or fits_stars(test, plain) for test in said)
