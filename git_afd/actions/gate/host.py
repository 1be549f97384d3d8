"""The host of a run as evidence: what it looks like before and after, kept as raw files like any other result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from git_afd.actions.gate.order import silent
from git_afd.adapters.host import HostFacts, host_facts, npu_map, pids_on, read_npus
from git_afd.adapters.host_snapshot import snapshot
from git_afd.core.devices import VISIBLE, visible
from git_afd.core.evidence.host_snapshot import AFTER_FACTS, BEFORE_FACTS
from git_afd.core.evidence.host_verdict import AFTER, BEFORE, cleanup_status, is_simulated, judge_cleanup
from git_afd.core.evidence.npu_map import MAP
from git_afd.core.policy import Gate, Policy

_POLL_S: Final = 2.0


def look(policy: Policy, python: str, root: Path) -> HostFacts:
    """Look at this host before a run."""
    return host_facts(python, cwd=root, env=os.environ, ports=policy.host.ports)


def lack(gate: Gate, policy: Policy, facts: HostFacts) -> str:
    """Say what the gate needs and this host lacks, in one sentence; empty when nothing."""
    if not gate.npu:
        return ""
    if facts.npu["state"] == "absent":
        return "this host has no NPU: npu-smi is not on PATH and there is no device file"
    if not facts.has_npu:
        return f"nothing is known about this host's NPUs: {facts.npu.get('reason', '')}"
    if is_simulated(facts.npu_text) and not policy.simulated:
        return "the NPUs of this host are simulated, which the frozen policy does not accept"
    chips = facts.npu["chips"]
    count = len(chips) if isinstance(chips, list) else 0
    if count < gate.devices:
        return f"the gate needs {gate.devices} devices and this host has {count}"
    seen = visible(count, os.environ)
    return f"the gate needs {gate.devices} devices and {VISIBLE} shows {seen}" if seen < gate.devices else ""


def texts_after(  # noqa: PLR0913 - one look that says everything, the last three by name
    gate: Gate,
    policy: Policy,
    facts: HostFacts,
    root: Path,
    *,
    budget_s: float,
    wait: Callable[[float], None] = time.sleep,
    tell: Callable[[str], None] = silent,
) -> Mapping[str, bytes]:
    """Return what the host looked like before and looks like now, by artifact name.

    Waits until ports and devices are as they were, `budget_s` seconds at most: teardown is slow. Whoever waits is
    told for what.
    """
    kept = {BEFORE_FACTS: facts.seen.as_bytes()}
    if gate.npu:
        kept[BEFORE] = facts.npu_text.encode()
    shown = os.environ.get(VISIBLE, "")
    if gate.npu and shown:
        kept[MAP] = npu_map(os.environ).encode()
    until = time.monotonic() + budget_s
    told = ""
    while True:
        table, text = read_npus(os.environ) if gate.npu else (None, "")
        now = {AFTER_FACTS: snapshot(policy.host.ports, pids_on(table), root).as_bytes()}
        found = {**kept, **now, **({AFTER: text.encode()} if gate.npu else {})}
        left = tuple(judge_cleanup(gate, policy.host.ports, (), found, shown))
        if cleanup_status(left) == "PASS" or time.monotonic() >= until:
            return found
        first = next(finding for finding in left if finding.severity == "error")
        if first.code != told:
            tell(f"waiting up to {until - time.monotonic():.0f} s for the host to be as before: {first.message}")
            told = first.code
        wait(_POLL_S)
