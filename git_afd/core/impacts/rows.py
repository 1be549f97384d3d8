"""Effects as the workbook's impact rows: what is recorded, judged, classified and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.core.contracts.model import Contract
from git_afd.core.impacts.effect import Effect
from git_afd.core.impacts.rules import STANDS_IN, propose
from git_afd.core.impacts.signatures import written
from git_afd.core.source.definitions import Module
from git_afd.core.source.lookup import Found, Tree
from git_afd.core.source.world import Located
from git_afd.core.workbook.impacts import Impact, TargetPlace

EXECUTION: Final = (
    *("execute_model", "forward", "step", "run", "load_model", "init_device", "sample_tokens", "shutdown", "__init__"),
    *("_model_forward", "_dummy_run", "capture_model", "profile_run", "initialize_kv_cache", "run_busy_loop", "apply"),
    *("initialize_from_config", "compile_or_warm_up_model", "_prepare_inputs", "__call__", "__post_init__"),
)
"""Names of methods in which the order of what happens is part of the contract."""


@dataclass(slots=True)
class Consumers:
    """Who in the plugin stands behind a contract: its own place, and the files that import that place.

    A name that a package passes on is the name of who defines it, for whoever imports it from there.
    """

    plugin: Tree
    _importers: dict[str, tuple[str, ...]] | None = None

    def of(self, contract: Contract) -> tuple[str, ...]:
        """Return the direct consumer (``path::symbol``) and, one hop on, the files that import its module's names."""
        place = contract.plugin
        direct = f"{place.path}::{place.symbol}" if place.symbol else place.path
        top = place.symbol.partition(".")[0]
        return (direct, *self._one_hop(place.path, top))

    def _one_hop(self, path: str, top: str) -> tuple[str, ...]:
        if self._importers is None:
            self._read()
        found = self._importers or {}
        module = self.plugin.name_of(path)
        names = (f"{module}.{top}", module) if top else (module,)
        paths = {item for name in names for item in found.get(name, ()) if item != path}
        return tuple(sorted(paths))

    def _read(self) -> None:
        importers: dict[str, set[str]] = {}
        for name, path in self.plugin.paths.items():
            module = self.plugin.module(name)
            if not isinstance(module, Module):
                continue
            for item in module.imports:
                if self.plugin.owns(item.module):
                    for dotted in {item.dotted, self._defined(item.dotted)}:
                        importers.setdefault(dotted, set()).add(path)
        self._importers = {name: tuple(sorted(paths)) for name, paths in importers.items()}

    def _defined(self, named: str) -> str:
        found = self.plugin.resolve(named)
        return f"{found.module}.{found.symbol}".rstrip(".") if isinstance(found, Found) else named


def row_of(effect: Effect, old: Located | None, consumers: tuple[str, ...], invariant: str = "") -> Impact:
    """Return an effect as a row: its proposed class with the rule that gave it, both signatures, who is affected."""
    proposal = propose(effect)
    contract, new = effect.contract, effect.target
    return Impact(
        id=contract.id,
        contract=contract.id,
        state=effect.state,
        breaking=effect.breaking,
        class_=proposal.class_,
        reason=effect.reason,
        target=TargetPlace(new.path, new.symbol, new.line) if new is not None else None,
        consumers=consumers,
        old=written(old) if old else "",
        new=written(new) if new else "",
        invariant=invariant or (contract.notes.invariant if contract.notes else ""),
        action=_action(effect, proposal.class_),
        tests=contract.notes.tests if contract.notes else (),
        order="; ".join(_order(effect)),
        rule=f"{proposal.rule}: {proposal.sentence}",
    )


def _action(effect: Effect, class_: str) -> str:
    """Propose what becomes of a copied or patched function; removing and replacing need a person's proof."""
    if effect.contract.kind not in STANDS_IN or not class_:
        return ""
    return {"NONE": "keep", "ARCHITECTURAL": "stop"}.get(class_, "rebase")


def _order(effect: Effect) -> Iterable[str]:
    """Yield ordering notes of execution methods."""
    name = effect.contract.upstream.symbol.rpartition(".")[2]
    if effect.difference is not None and name in EXECUTION:
        yield from (f"{note} at the current commit" for note in effect.difference.order)


def counts(rows: Iterable[Impact]) -> Mapping[str, Mapping[str, int]]:
    """Count rows by state and by class, and those that break."""
    states: dict[str, int] = {}
    classes: dict[str, int] = {}
    breaking = 0
    for row in rows:
        states[row.state] = states.get(row.state, 0) + 1
        classes[row.class_ or "unclassified"] = classes.get(row.class_ or "unclassified", 0) + 1
        breaking += row.breaking
    return {
        "states": dict(sorted(states.items())),
        "classes": dict(sorted(classes.items())),
        "breaking": {"all": breaking},
    }
