"""Judges from what was kept of the host whether a run had the devices its gate needs, and whether it cleaned up.

The two are judged apart: a run whose tests passed and that left something behind has passed tests and a failed
cleanup. What was there before the run is named, and is nobody's leak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from git_afd.core.devices import VISIBLE
from git_afd.core.evidence.host_snapshot import AFTER_FACTS, BEFORE_FACTS, Port, Seen, Snapshot, parse_snapshot
from git_afd.core.evidence.npu_map import MAP, Place, places_of
from git_afd.core.evidence.npu_smi import NpuProcess, NpuTable, Unknown, left_on, not_released, parse_npu_smi
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.evidence.status import Status
from git_afd.core.finding import Finding
from git_afd.core.policy import Gate

BEFORE: Final = "host/npu-smi.before.txt"
AFTER: Final = "host/npu-smi.after.txt"
"""Names of the artifacts that hold what ``npu-smi info`` printed before and after a run."""

HELD: Final = frozenset({"devices-held", "port-held", "not-cleaned-up"})
"""Findings that say: the run left something behind. Any other error of a cleanup says that nobody can know."""

UNKNOWN_HOST: Final = "host-unknown"

_SIMULATED: Final = "simulated"
_CLOCK_S: Final = 2.0
"""How much younger than the run a process may look and still be older: clocks round."""


def is_simulated(text: str) -> bool:
    """Say whether npu-smi's output says that it is a simulation: a stand-in must print the word."""
    return _SIMULATED in text.lower()


def judge_before(gate: Gate, ports: Iterable[int], files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Yield what is wrong with the host that a run of `gate` began on.

    ``host-unknown`` and ``host-small`` decide nothing. Who was on a device or one of `ports` before the run is noted.
    """
    facts = parse_snapshot(files.get(BEFORE_FACTS))
    if isinstance(facts, Snapshot):
        for number in ports:
            yield from _listened(facts, number)
    if not gate.npu:
        return
    table = _table(BEFORE, files)
    if isinstance(table, Unknown):
        yield _unknown(gate, BEFORE, "the NPUs", table)
        return
    if len(table.chips) < max(gate.devices, 1):
        text = f"the gate needs {max(gate.devices, 1)} devices and the host had {len(table.chips)}"
        yield Finding("host-small", BEFORE, text, "run it on a larger host")
    for process in table.processes:
        text = f"before the run {_told(process, facts)} was on it already, and is not of this run"
        yield Finding("foreign-process", BEFORE, text, "", "note")


def _listened(facts: Snapshot, number: int) -> Iterator[Finding]:
    for one in facts.listeners(number):
        if one.state == "listening":
            text = f"before the run port {number} was held by {_who(one.by, facts)} already, which is not of this run"
            yield Finding("foreign-listener", BEFORE_FACTS, text, "", "note")


def judge_cleanup(
    gate: Gate, ports: Iterable[int], commands: Sequence[Ended], files: Mapping[str, bytes], visible: str = ""
) -> Iterator[Finding]:
    """Yield what a run left behind: processes of its own, listeners on `ports`, devices that it still holds.

    `visible` is the run's ASCEND_RT_VISIBLE_DEVICES: what happened on other chips is noted and not its leak, unless a
    command of the gate names its own. On a host whose NPUs the gate needs, what cannot be read blocks; elsewhere it is
    only noted.
    """
    for one in commands:
        yield from _processes(one)
    before, after = (parse_snapshot(files.get(name)) for name in (BEFORE_FACTS, AFTER_FACTS))
    yield from _ports(gate, tuple(ports), before, after)
    if gate.npu:
        own = any(VISIBLE in command.env for command in gate.commands)
        used = None if own else places_of(visible, files.get(MAP, b"").decode(errors="replace"))
        yield from _devices(gate, files, after, used)


def cleanup_status(findings: Iterable[Finding]) -> Status:
    """Return the verdict of a cleanup from its findings: clean, not clean, or not known."""
    codes = {finding.code for finding in findings if finding.severity == "error"}
    return "FAIL" if codes & HELD else "BLOCKED" if codes else "PASS"


def _table(name: str, files: Mapping[str, bytes]) -> NpuTable | Unknown:
    if name not in files:
        return Unknown("it was not kept")
    return parse_npu_smi(files[name].decode(errors="replace"))


def _unknown(gate: Gate, name: str, what: str, answer: Unknown) -> Finding:
    return _doubt(gate, name, f"nothing is known about {what} ({name}): {answer.reason}")


def _doubt(gate: Gate, name: str, text: str) -> Finding:
    """Return what blocks where the gate needs the host's NPUs, and is only noted elsewhere."""
    severity: Literal["error", "note"] = "error" if gate.npu else "note"
    return Finding(UNKNOWN_HOST, name, text, "mend it on that host, then run the gate again", severity)


def _processes(ended: Ended) -> Iterator[Finding]:
    if ended.survivors:
        left = "; ".join(ended.survivors)
        text = f"{ended.name}: processes outlived it: {left}"
        yield Finding("not-cleaned-up", ended.name, text, "end them, then run the gate again")
    elif ended.left_behind:
        left = "; ".join(ended.left_behind)
        text = f"{ended.name}: it left processes behind, which were ended for it: {left}"
        yield Finding("not-cleaned-up", ended.name, text, "let the command end what it starts")


def _devices(
    gate: Gate, files: Mapping[str, bytes], facts: Snapshot | Unknown, used: frozenset[Place] | None
) -> Iterator[Finding]:
    before, after = _table(BEFORE, files), _table(AFTER, files)
    for name, table in ((BEFORE, before), (AFTER, after)):
        if isinstance(table, Unknown):
            yield _unknown(gate, name, "the NPUs", table)
    if isinstance(before, NpuTable) and isinstance(after, NpuTable):
        for process in left_on(before, after):
            yield _held(_told(process, facts), used is None or _on(process, used))
        for npu, chip, text in not_released(before, after):
            yield _held(f"NPU {npu} chip {chip}: {text}", used is None or (npu, chip) in used)


def _on(process: NpuProcess, used: frozenset[Place]) -> bool:
    return any(npu == process.npu and process.chip in (None, chip) for npu, chip in used)


def _held(text: str, ours: bool) -> Finding:  # noqa: FBT001 - a fact about the text
    if not ours:
        return Finding("foreign-device", AFTER, f"after the run {text}, on no chip that {VISIBLE} showed", "", "note")
    return Finding("devices-held", AFTER, f"after the run {text}", "end what holds it, then run the gate again")


def _told(process: NpuProcess, facts: Snapshot | Unknown) -> str:
    """Say who is on a device: as npu-smi printed it, with age and command where the host knew them."""
    chip = "" if process.chip is None else f" chip {process.chip}"
    box = f" in container {process.container}" if process.container else ""
    known = facts.process(process.pid, process.name) if isinstance(facts, Snapshot) else None
    who = known.told(facts.at) if known and isinstance(facts, Snapshot) else f"{process.pid} {process.name}"
    return f"NPU {process.npu}{chip}: process {who.rstrip()}{box}"


def _ports(
    gate: Gate, ports: Sequence[int], before: Snapshot | Unknown, after: Snapshot | Unknown
) -> Iterator[Finding]:
    if not ports:
        return
    for name, facts in ((BEFORE_FACTS, before), (AFTER_FACTS, after)):
        if isinstance(facts, Unknown):
            yield _unknown(gate, name, "the ports", facts)
    if isinstance(before, Snapshot) and isinstance(after, Snapshot):
        for number in ports:
            yield from _port(gate, number, before, after)


def _port(gate: Gate, number: int, before: Snapshot, after: Snapshot) -> Iterator[Finding]:
    then, now = before.listeners(number), after.listeners(number)
    if not then or not now or any(one.state == "unknown" for one in (*then, *now)):
        yield _doubt(gate, AFTER_FACTS, f"nobody could tell who listened on port {number} before and after the run")
        return
    for one in now:
        if one.state == "listening" and any(old.state == "listening" and old.by == one.by for old in then):
            continue  # it was there before, and that was said
        if one.state == "listening" and _is_older(one, before):
            text = f"port {number} is held by {_who(one.by, after)}, older than this run"
            yield Finding("foreign-listener", AFTER_FACTS, text, "", "note")
        elif one.state == "listening":
            text = f"after the run port {number} is held by {_who(one.by, after)}"
            yield Finding("port-held", AFTER_FACTS, text, "end it, then run the gate again")


def _is_older(one: Port, before: Snapshot) -> bool:
    """Say whether a listener belongs to a process that lived before the run."""
    return bool(one.by and one.by.started and one.by.started < before.at - _CLOCK_S)


def _who(seen: Seen | None, at: Snapshot) -> str:
    return f"process {seen.told(at.at)}" if seen else "a process that this host does not name"
