"""The host of a run as evidence: what npu-smi prints before and after, kept as raw files like any other result."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from git_afd.adapters.host import HostFacts, host_facts, read_npus
from git_afd.core.devices import VISIBLE, visible
from git_afd.core.evidence.host_verdict import AFTER, BEFORE, is_simulated
from git_afd.core.evidence.npu_smi import NpuTable, not_released, parse_npu_smi
from git_afd.core.policy import Gate, Policy

RELEASE_S: Final = 60.0
"""How long to wait after a run until the devices are released; teardown takes 45 s and more (domain)."""

_POLL_S: Final = 2.0


def look(python: str, root: Path) -> HostFacts:
    """Look at this host before a run."""
    return host_facts(python, cwd=root, env=os.environ)


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


def texts_after(gate: Gate, facts: HostFacts, *, budget_s: float = RELEASE_S) -> Mapping[str, bytes]:
    """Return what npu-smi printed before and prints now, by artifact name; wait until the devices are released."""
    if not gate.npu:
        return {}
    before = parse_npu_smi(facts.npu_text)
    until = time.monotonic() + budget_s
    while True:
        table, text = read_npus(os.environ)
        released = isinstance(before, NpuTable) and isinstance(table, NpuTable) and not not_released(before, table)
        if released or time.monotonic() >= until:
            return {BEFORE: facts.npu_text.encode(), AFTER: text.encode()}
        time.sleep(_POLL_S)
