"""Judges from npu-smi's own output whether a run had the devices that its gate needs, and released them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from git_afd.core.evidence.npu_smi import NpuTable, Unknown, not_released, parse_npu_smi
from git_afd.core.finding import Finding

BEFORE: Final = "host/npu-smi.before.txt"
AFTER: Final = "host/npu-smi.after.txt"
"""Names of the artifacts that hold what ``npu-smi info`` printed before and after a run."""

_SIMULATED: Final = "simulated"


def is_simulated(text: str) -> bool:
    """Say whether npu-smi's output says that it is a simulation: a stand-in must print the word."""
    return _SIMULATED in text.lower()


def judge_host(devices: int, files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """Return what is wrong with the host of a run whose gate needs NPUs: `devices` of them, at least one.

    ``host-unknown`` and ``host-small`` decide nothing; ``devices-held`` says that the run did not clean up.
    """
    return tuple(_findings(devices, *(_table(name, files) for name in (BEFORE, AFTER))))


def _table(name: str, files: Mapping[str, bytes]) -> NpuTable | Unknown:
    if name not in files:
        return Unknown("it was not kept")
    return parse_npu_smi(files[name].decode(errors="replace"))


def _findings(devices: int, before: NpuTable | Unknown, after: NpuTable | Unknown) -> Iterator[Finding]:
    for name, table in ((BEFORE, before), (AFTER, after)):
        if isinstance(table, Unknown):
            text = f"nothing is known about the NPUs ({name}): {table.reason}"
            yield Finding("host-unknown", name, text, "mend npu-smi on that host, then run the gate again")
    if isinstance(before, NpuTable) and len(before.chips) < max(devices, 1):
        text = f"the gate needs {max(devices, 1)} devices and the host had {len(before.chips)}"
        yield Finding("host-small", BEFORE, text, "run it on a larger host")
    if isinstance(before, NpuTable) and isinstance(after, NpuTable):
        for left in not_released(before, after):
            yield Finding("devices-held", AFTER, f"after the run {left}", "end what holds it, then run the gate again")
