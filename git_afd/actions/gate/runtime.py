"""Looks at the target runtime before and after a gate's commands, and keeps what was seen as raw files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from git_afd.actions.gate.carry_out import Bench
from git_afd.actions.gate.order import Order
from git_afd.adapters.runtime_probe import probe_registration, probe_runtime
from git_afd.core.evidence import registration, runtime_facts
from git_afd.core.evidence.checks import PATCHES_FILE, PatchAnswer, patches_bytes
from git_afd.core.gate_environment import environment_of
from git_afd.core.runtime_rule import IDENTITY, PATCHES, REGISTRATION, RuntimeRule

_MOVED: Final = "what the target runtime would import came to differ during the run"


@dataclass(frozen=True, slots=True)
class Looked:
    """What was seen of the runtime: bytes by artifact name, their digests; `interrupted`: told to stop meanwhile."""

    seen: Mapping[str, bytes] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False


def look_at_runtime(
    bench: Bench, checks: tuple[str, ...], rule: RuntimeRule, order: Order, patches: Callable[[], PatchAnswer]
) -> Looked:
    """Ask the interpreter what the checks need to know, in the environment that the gate's commands get.

    `patches` asks the patch checks: their answer is kept for readers; whoever judges the run asks them again.
    """
    seen: dict[str, bytes] = {}
    said = (PATCHES, PATCHES_FILE, lambda: patches_bytes(patches()))
    try:
        for name, file, ask in (*_questions(bench, rule), said):
            if name in checks:
                order.tell(f"{bench.gate}: check {name}")
                seen[file] = ask()
    except KeyboardInterrupt:
        return Looked(interrupted=True)
    digests = bench.artifacts.put(seen.values()) if seen else ()
    return Looked(seen, dict(zip(seen, digests, strict=True)))


def moved(bench: Bench, looked: Looked, rule: RuntimeRule) -> tuple[str, ...]:
    """Say that the runtime would now import something else than before the commands."""
    before = looked.seen.get(runtime_facts.FILE)
    if before is None:
        return ()
    ask = next(ask for name, _, ask in _questions(bench, rule) if name == IDENTITY)
    return () if ask() == before else (_MOVED,)


def _questions(bench: Bench, rule: RuntimeRule) -> tuple[tuple[str, str, Callable[[], bytes]], ...]:
    python, env = bench.values["python"], environment_of(bench.gate, {}, os.environ)
    root: Path = bench.root
    return (
        (IDENTITY, runtime_facts.FILE, lambda: probe_runtime(python, cwd=root, env=env)),
        (REGISTRATION, registration.FILE, lambda: probe_registration(python, rule, root=root, env=env)),
    )
