"""Reads what ``npu-smi info`` prints: chips, and who runs on them. What is not understood whole is *unknown*.

The table varies by product and driver: widths, spaces around slashes, ``-`` for power, a physical id in the
chip cell (A3), no HBM column (310P), a container column, names cut off or empty. A chip counts as idle only
when the tool says so for its NPU; never because a table was missing (domain: NPU host evidence).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.outcome import Json

_IDLE: Final = re.compile(r"No running process(?:es)? found in NPU (\d{1,6})", re.IGNORECASE)
_VERSION: Final = re.compile(r"\bVersion:\s*(\S+)")
_STATE: Final = re.compile(r"(\S+)\s+(\S+)(?:\s+\d+\s*/\s*\d+)?")
_USAGE: Final = re.compile(r"(\S+)((?:\s+\d{1,9}\s*/\s*\d{1,9}){1,2})")
_PAIR: Final = re.compile(r"(\d+)\s*/\s*(\d+)")
_BORDER: Final = re.compile(r"\+[-=+]+\+")
_NUMBER: Final = re.compile(r"\d{1,9}")
_DEVICE_CELLS: Final = 3
_SLACK_MB: Final = 512
"""How much more memory than before a run still counts as released: idle drivers breathe."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip. Memory in MB, None where the product has no such column; power None where it prints ``-``."""

    npu: int
    chip: int
    physical: int | None
    name: str
    health: str
    bus: str
    power_w: float | None
    memory_mb: tuple[int, int]
    hbm_mb: tuple[int, int] | None

    @property
    def used_mb(self) -> int:
        """Device memory in use: HBM where there is some."""
        return (self.hbm_mb or self.memory_mb)[0]

    def as_json(self) -> dict[str, Json]:
        """Return the chip for a record."""
        return {
            "npu": self.npu,
            "chip": self.chip,
            "physical": self.physical,
            "name": self.name,
            "health": self.health,
            "bus": self.bus,
            "used_mb": self.used_mb,
            "total_mb": (self.hbm_mb or self.memory_mb)[1],
        }


@dataclass(frozen=True, slots=True)
class NpuProcess:
    """A process on a chip (`chip` None where the table has only the NPU); name and container may be empty."""

    npu: int
    chip: int | None
    pid: int
    name: str
    memory_mb: int | None
    container: str = ""

    def as_json(self) -> dict[str, Json]:
        """Return the process for a record."""
        return {
            "npu": self.npu,
            "chip": self.chip,
            "pid": self.pid,
            "name": self.name,
            "memory_mb": self.memory_mb,
            "container": self.container,
        }


@dataclass(frozen=True, slots=True)
class NpuTable:
    """The whole answer, understood."""

    version: str
    chips: tuple[Chip, ...]
    processes: tuple[NpuProcess, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """The answer could not be understood; `reason` says where. It blocks, and never means that nothing runs."""

    reason: str


def parse_npu_smi(text: str) -> NpuTable | Unknown:
    """Read the output of ``npu-smi info``; total: any text gives a table or Unknown."""
    try:
        return _table(text)
    except _NotUnderstoodError as error:
        return Unknown(str(error))


def left_on(before: NpuTable, after: NpuTable) -> tuple[NpuProcess, ...]:
    """Return the processes on the devices that were not there before a run."""
    known = {(process.npu, process.chip, process.pid) for process in before.processes}
    return tuple(one for one in after.processes if (one.npu, one.chip, one.pid) not in known)


def not_released(before: NpuTable, after: NpuTable, *, slack_mb: int = _SLACK_MB) -> tuple[tuple[int, int, str], ...]:
    """Return the chips (NPU, chip, words) that differ from the baseline before a run: memory, health, or gone."""
    left: list[tuple[int, int, str]] = []
    baseline = {(chip.npu, chip.chip): chip for chip in before.chips}
    for chip in after.chips:
        was = baseline.pop((chip.npu, chip.chip), None)
        if was is None or was.health != chip.health:
            left.append((chip.npu, chip.chip, f"{chip.health}, was {was.health if was else 'not there'}"))
        elif chip.used_mb > was.used_mb + slack_mb:
            left.append((chip.npu, chip.chip, f"{chip.used_mb} MB in use, {was.used_mb} MB before"))
    return (*left, *((npu, chip, "not there any more") for npu, chip in baseline))


class _NotUnderstoodError(Exception):
    """Carries the reason out of the reading functions."""


def _table(text: str) -> NpuTable:
    lines = [line.strip() for line in text.splitlines()]
    rows = [line for line in lines if line.startswith(("|", "+"))]
    if not rows:
        said = next((line for line in lines if line), "nothing")
        raise _NotUnderstoodError(f"no table was printed; it said: {said[:160]}")
    if not _BORDER.fullmatch(rows[-1]):
        raise _NotUnderstoodError("the table is cut off")
    cells = [_cells(row) for row in rows if row.startswith("|")]
    headers = [index for index, row in enumerate(cells) if row[0].startswith("NPU")]
    if len(headers) != 2 or "process id" not in map(str.lower, cells[headers[1]]):  # noqa: PLR2004 - devices, processes
        raise _NotUnderstoodError("there is not one table of devices and one of processes")
    devices, processes = headers
    chips = _chips(cells[devices : devices + 2], cells[devices + 2 : processes])
    version = _VERSION.search(text)
    running = _processes(cells[processes], cells[processes + 1 :], {chip.npu for chip in chips})
    return NpuTable(version.group(1) if version else "", chips, running)


def _cells(row: str) -> list[str]:
    if not row.endswith("|") or len(row) < 2:  # noqa: PLR2004 - both borders
        raise _NotUnderstoodError(f"a row is cut off: {row[:160]}")
    return [cell.strip() for cell in row[1:-1].split("|")]


def _chips(header: Sequence[list[str]], rows: Sequence[list[str]]) -> tuple[Chip, ...]:
    """Read two rows for each chip; whether there is HBM stands in the header's second row."""
    if len(header) != 2 or "Name" not in header[0][0] or not header[1][0].startswith("Chip"):  # noqa: PLR2004 - rows
        raise _NotUnderstoodError("the device table's header is unknown")
    if len(rows) % 2 or not rows:
        raise _NotUnderstoodError(f"the device table has {len(rows)} rows, not two for each chip")
    has_hbm = any("HBM" in cell for cell in header[1])
    chips = tuple(_chip(rows[index], rows[index + 1], has_hbm=has_hbm) for index in range(0, len(rows), 2))
    if len({(chip.npu, chip.chip) for chip in chips}) != len(chips):
        raise _NotUnderstoodError("a chip is listed twice")
    return chips


def _chip(first: list[str], second: list[str], *, has_hbm: bool) -> Chip:
    if len(first) != _DEVICE_CELLS or len(second) != _DEVICE_CELLS:
        raise _NotUnderstoodError(f"a device row has other columns: {' | '.join(first)[:160]}")
    npu, _, name = first[0].partition(" ")
    place = second[0].split()
    state, usage = _STATE.fullmatch(first[2]), _USAGE.fullmatch(second[2])
    if not state or not usage or not first[1] or not 1 <= len(place) <= 2:  # noqa: PLR2004 - chip and physical id
        raise _NotUnderstoodError(f"a device row is unknown: {' | '.join((*first, *second))[:160]}")
    pairs = [(int(used), int(total)) for used, total in _PAIR.findall(usage.group(2))]
    if len(pairs) != 1 + has_hbm:
        raise _NotUnderstoodError(f"a device row has other memory columns than its header: {second[2]}")
    return Chip(
        npu=_number(npu),
        chip=_number(place[0]),
        physical=_number(place[1]) if len(place) > 1 else None,
        name=name.strip(),
        health=first[1],
        bus=second[1],
        power_w=_power(state.group(1)),
        memory_mb=pairs[0],
        hbm_mb=pairs[1] if has_hbm else None,
    )


def _processes(header: list[str], rows: Sequence[list[str]], npus: set[int]) -> tuple[NpuProcess, ...]:
    """Read who runs; every NPU must be spoken of, be it as idle."""
    columns = {_column(name): index for index, name in enumerate(header)}
    if not {"npu", "id", "name", "memory"} <= columns.keys() or len(columns) != len(header):
        raise _NotUnderstoodError(f"the process table's header is unknown: {' | '.join(header)[:160]}")
    found: list[NpuProcess] = []
    spoken: set[int] = set()
    for row in rows:
        idle = _IDLE.fullmatch(row[0])
        if idle and not any(row[1:]):
            spoken.add(int(idle.group(1)))
        else:
            found.append(_process(row, columns))
    spoken.update(process.npu for process in found)
    if spoken != npus:
        odd = ", ".join(map(str, sorted(spoken ^ npus)))
        raise _NotUnderstoodError(f"the tables of devices and processes differ about NPU {odd}")
    return tuple(found)


def _column(name: str) -> str:
    words = name.lower()
    if words.startswith("npu"):
        return "npu"
    if "container" in words:
        return "container"
    for part in ("id", "name", "memory"):
        if words.startswith(f"process {part}"):
            return part
    return name


def _process(row: list[str], columns: Mapping[str, int]) -> NpuProcess:
    place = row[columns["npu"]].split()
    if len(row) != len(columns) or not 1 <= len(place) <= 2:  # noqa: PLR2004 - NPU and chip
        raise _NotUnderstoodError(f"a process row is unknown: {' | '.join(row)[:160]}")
    memory = row[columns["memory"]]
    return NpuProcess(
        npu=_number(place[0]),
        chip=_number(place[1]) if len(place) > 1 else None,
        pid=_number(row[columns["id"]]),
        name=row[columns["name"]],
        memory_mb=None if memory in ("", "-", "NA", "N/A") else _number(memory),
        container=row[columns["container"]] if "container" in columns else "",
    )


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise _NotUnderstoodError(f"{text[:40]!r} stands where a number was expected")
    return int(text)


def _power(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
