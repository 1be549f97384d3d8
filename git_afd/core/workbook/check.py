"""Checking rows against the frozen commits. Pure: rows and facts in, faults out; nothing passes by being said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from git_afd.core.names import revision_key
from git_afd.core.workbook.frozen import PLUGIN, Frozen, Place
from git_afd.core.workbook.impacts import GONE, Impact, Impacts, TargetPlace
from git_afd.core.workbook.inventory import Contract, Feature, Inventory, Read
from git_afd.core.workbook.row import RowFault

_AT_LINE: Final = re.compile(r"(?P<path>.+?):(?P<line>[1-9][0-9]*)\Z")
_DECIDED: Final = ("unchanged", "signature-changed", "body-changed")
_TEST: Final = re.compile(r"(?P<path>.+?)::(?P<symbol>.+)\Z")


def inventory_places(inventory: Inventory) -> frozenset[Place]:
    """Return every place whose existence the rows claim."""
    contracts = {contract.id for contract in inventory.contracts}
    places = {place for contract in inventory.contracts for _, place in _contract_places(contract)}
    for feature in inventory.features:
        places |= {Place(PLUGIN, _path_of(item)) for item in feature.evidence if item not in contracts}
    return frozenset(places)


def impact_places(impacts: Impacts, inventory: Inventory) -> frozenset[Place]:
    """Return every place that the rows speak of, at the current and at the target commit."""
    contracts = {contract.id: contract for contract in inventory.contracts}
    places: set[Place] = set()
    for impact in impacts.rows:
        places |= {_reference(item) for item in (*impact.consumers, *impact.tests)}
        contract = contracts.get(impact.contract)
        if contract and contract.upstream.path:
            places |= {_old(contract, "current"), _old(contract, "target"), _new(impact, contract)}
    return frozenset(places)


def check_inventory(inventory: Inventory, frozen: Frozen, documents: Mapping[str, str]) -> list[RowFault]:
    """Return every fault of the rows at the frozen commits. `documents` maps paths to blob ids at the freeze."""
    faults: list[RowFault] = []
    contracts = {contract.id for contract in inventory.contracts}
    for number, contract in enumerate(inventory.contracts, start=1):
        faults += _contract_faults(number, contract, frozen)
    for number, feature in enumerate(inventory.features, start=1):
        faults += _feature_faults(number, feature, frozen, contracts)
    for number, read in enumerate(inventory.reads, start=1):
        faults += _read_faults(number, read, documents)
    return faults


def check_impacts(impacts: Impacts, inventory: Inventory, frozen: Frozen) -> list[RowFault]:
    """Return every fault of the rows at the frozen commits, absences included: they are proven, not believed."""
    contracts = {contract.id: contract for contract in inventory.contracts}
    faults: list[RowFault] = []
    for number, impact in enumerate(impacts.rows, start=1):
        contract = contracts.get(impact.contract)
        if contract is None:
            fix = "use the id of a row of the recorded inventory (git afd inventory)"
            faults.append(RowFault("impact", number, "contract", f"{impact.contract!r} is no contract", fix))
            continue
        faults += _impact_faults(number, impact, contract, frozen)
    return faults


def completed(inventory: Inventory, frozen: Frozen, documents: Mapping[str, str], actor: str) -> Inventory:
    """Return checked rows with what follows from the commits: lines, blob ids of what was read, who read it."""
    return replace(
        inventory,
        contracts=tuple(_with_lines(contract, frozen) for contract in inventory.contracts),
        reads=tuple(
            sorted({Read(read.path, documents.get(read.path, ""), read.by or actor) for read in inventory.reads})
        ),
    )


def completed_impacts(impacts: Impacts, inventory: Inventory, frozen: Frozen) -> Impacts:
    """Return checked rows with the target's place and line filled in; a removed contract has none."""
    contracts = {contract.id: contract for contract in inventory.contracts}
    return Impacts(tuple(_with_target(impact, contracts[impact.contract], frozen) for impact in impacts.rows))


def _with_target(impact: Impact, contract: Contract, frozen: Frozen) -> Impact:
    if impact.state == "removed" or not contract.upstream.path:
        return impact
    new = _new(impact, contract)
    return replace(impact, target=TargetPlace(new.path, new.symbol, frozen.lines(new)[0]))


def _with_lines(contract: Contract, frozen: Frozen) -> Contract:
    place = contract.plugin
    if not place.symbol:
        return contract
    first, last = frozen.lines(Place(PLUGIN, place.path, place.symbol))
    line, end = (place.line or first), (place.end_line or last)
    return replace(contract, plugin=replace(place, line=line, end_line=end))


def _contract_places(contract: Contract) -> Iterator[tuple[str, Place]]:
    """Yield each claimed place with the field that claims it."""
    yield "plugin", Place(PLUGIN, contract.plugin.path, contract.plugin.symbol)
    if contract.upstream.name and contract.upstream.path:
        yield "upstream", _old(contract, "current")
    for test in contract.tests:
        yield "tests", _reference(test)


def _contract_faults(number: int, contract: Contract, frozen: Frozen) -> Iterator[RowFault]:
    for name, place in _contract_places(contract):
        why = frozen.why_absent(place)
        if why:
            missing_file = (place.side, place.path) not in frozen.blobs
            where = name if name == "tests" else f"{name}.{'path' if missing_file else 'symbol'}"
            yield RowFault("contract", number, where, why, "correct the row; a name is written Class.method")
    own = contract.plugin
    first, last = frozen.lines(Place(PLUGIN, own.path, own.symbol))
    if own.line and first and not first <= own.line <= last:
        why = f"line {own.line} is outside {own.symbol}, which stands on lines {first} to {last}"
        yield RowFault("contract", number, "plugin.line", why, "correct it or leave it out: it is found by the symbol")


def _feature_faults(number: int, feature: Feature, frozen: Frozen, contracts: set[str]) -> Iterator[RowFault]:
    for item in feature.evidence:
        if item not in contracts and not frozen.present(Place(PLUGIN, _path_of(item))):
            why = f"{item!r} is neither a contract nor a file {frozen.where(PLUGIN)}"
            yield RowFault("feature", number, "evidence", why, "name a file of the plugin (path or path:line)")


def _read_faults(number: int, read: Read, documents: Mapping[str, str]) -> Iterator[RowFault]:
    known = documents.get(read.path)
    if known is None:
        fix = f"frozen are {', '.join(sorted(documents)) or 'none'}"
        yield RowFault("read", number, "path", f"{read.path!r} is no document of the freeze", fix)
    elif read.blob and read.blob != known:
        why = f"{read.blob[:12]} is not the frozen {known[:12]}: another text was read"
        yield RowFault("read", number, "blob", why, f"read {read.path} as it was at the freeze")


def _impact_faults(number: int, impact: Impact, contract: Contract, frozen: Frozen) -> Iterator[RowFault]:
    for name, items in (("consumers", impact.consumers), ("tests", impact.tests)):
        for item in items:
            why = frozen.why_absent(_reference(item))
            if why:
                yield RowFault("impact", number, name, why, "name files of the plugin: path or path::symbol")
    if contract.action in ("remove", "replace") and not (impact.action or impact.proof):
        why = f"is missing: the inventory plans to {contract.action} {contract.id}"
        yield RowFault("impact", number, "proof", why, "say what shows it, or give the row another action")
    if contract.upstream.path and impact.state != "unknown":
        yield from _state_faults(number, impact, contract, frozen)


def _state_faults(number: int, impact: Impact, contract: Contract, frozen: Frozen) -> Iterator[RowFault]:
    old_target, new = _old(contract, "target"), _new(impact, contract)
    if impact.state in GONE:
        why = frozen.why_not_moved(old_target) if impact.state == "moved" else frozen.why_not_gone(old_target)
        if why:
            yield RowFault("impact", number, "state", f"it is not {impact.state}: {why}", "correct the state")
    if impact.state != "removed":
        why = frozen.why_absent(new)
        if why:
            fix = "correct the target, or say state removed, replaced or moved"
            yield RowFault("impact", number, "target" if impact.target else "state", why, fix)
            return
    why = _untrue(impact.state, _old(contract, "current"), new, frozen)
    if why:
        yield RowFault("impact", number, "state", why, "correct the state: the two commits decide it")


def _untrue(state: str, old: Place, new: Place, frozen: Frozen) -> str:
    """Say what contradicts a state that the two commits can decide; empty when nothing does."""
    before, after = frozen.binding(old), frozen.binding(new)
    imported = next((item.imported for item in (before, after) if item and item.imported), "")
    if imported and state in _DECIDED:
        return f"{old.path} only imports {old.symbol} ({imported}): name where it is defined to say {state}"
    if before and after:
        same, alike = before.shape == after.shape, before.signature == after.signature
    else:
        same = alike = frozen.blobs.get((old.side, old.path)) == frozen.blobs.get((new.side, new.path))
    name = old.symbol or old.path
    if state == "unchanged" and ((old.path, old.symbol) != (new.path, new.symbol) or not same):
        return f"{name} is not unchanged: it differs {frozen.where(new.side)}"
    if state == "signature-changed" and alike:
        return f"the signature of {name} is the same {frozen.where(new.side)}"
    if state == "body-changed" and same:
        return f"{name} is the same {frozen.where(new.side)}"
    return ""


def _old(contract: Contract, side: str) -> Place:
    upstream = contract.upstream
    return Place(revision_key(upstream.name, side), upstream.path, upstream.symbol)


def _new(impact: Impact, contract: Contract) -> Place:
    if impact.target is None:
        return _old(contract, "target")
    return Place(revision_key(contract.upstream.name, "target"), impact.target.path, impact.target.symbol)


def _reference(item: str) -> Place:
    """Turn ``path``, ``path:line``, ``path::symbol`` or a test id (``path::Class::test[case]``) into a place."""
    match = _TEST.match(item)
    if match:
        return Place(PLUGIN, match["path"], match["symbol"].partition("[")[0].replace("::", "."))
    return Place(PLUGIN, _path_of(item))


def _path_of(item: str) -> str:
    match = _AT_LINE.match(item)
    return match["path"] if match else item
