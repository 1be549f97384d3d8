"""Policies whose native gate starts the stand-in server, and a bench that runs cells of it without a whole upgrade."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from bench import policy
from kit import Kit
from kit_native import ASKED, identity

from git_afd.actions.gate.alone import Alone
from git_afd.actions.gate.carry_out import Bench, Kept
from git_afd.actions.gate.native import serve_cells
from git_afd.actions.gate.order import Order
from git_afd.adapters.artifacts import Artifacts
from git_afd.adapters.gate_lock import GateLock, Holder
from git_afd.adapters.git import Git
from git_afd.adapters.signal_forwarding import Stops
from git_afd.core.evidence.native_verdict import CellVerdict, Pair, judge_cell
from git_afd.core.evidence.packed import unpacked
from git_afd.core.evidence.served import Served, facts_name, identity_name, parse_served
from git_afd.core.native_cell import Cell, LogWords, read_cells

WANTED = {"vllm": "a" * 40, "vllm-ascend": "b" * 40}
SERVER = Path(__file__).with_name("standin_vllm.py")


def cell_table(name: str, *tricks: str, **changed: Any) -> dict[str, Any]:
    """Return one cell's table as the policy would hold it."""
    usual: dict[str, Any] = {
        "name": name,
        "run": ["{python}", "-S", "-E", str(SERVER), "{port}", "/models/m", *tricks],
        "env": {"VLLM_LOGGING_LEVEL": "DEBUG"},
        "ready": {"path": "/health", "timeout-s": 20},
        "request": {"model": "native", "prompt": "one two three", "timeout-s": 20},
        "stop-timeout-s": 5,
        "asked": ASKED,
    }
    return {**usual, **changed}


def as_toml(table: dict[str, Any]) -> str:
    """Return a cell as TOML; JSON values are TOML values but for objects."""
    lines = ["[[gates.native.cell]]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{name} = {json.dumps(text)}" for name, text in value.items())
            lines.append(f"{key} = {{{inner}}}")
    return "\n".join(lines) + "\n"


def native_policy(*cells: dict[str, Any], simulated: bool = False, npu: bool = False) -> str:
    """Return a policy whose native gate has these cells."""
    head = "[gates.native]\nnpu = true\n" if npu else ""
    return policy(head, *map(as_toml, cells), simulated=simulated)


def run_cell(kit: Kit, tmp_path: Path, table: dict[str, Any]) -> tuple[CellVerdict, Served, Kept]:
    """Run one cell as the gate does; return its verdict, its facts and what was kept."""
    repo = kit.repo("store")
    artifacts = Artifacts(Git(repo.path), repo.path / ".git")
    cell: Cell = read_cells({"cell": [table]})[0][0]
    values = dict.fromkeys(("plugin", "base", "vllm", "vllm-ascend"), str(tmp_path))
    folder = tmp_path / "run"
    values |= {"python": sys.executable, "out": str(folder / "out")}
    held = Alone(GateLock(Holder("native", "U", str(tmp_path), "", os.getpid(), 0.0), ()), Stops())
    bench = Bench("native", folder, tmp_path, values, artifacts, "", held)
    bench.out.mkdir(parents=True)
    kept = Kept()
    serve_cells(bench, [cell], Order("native"), kept)
    files = {name: unpacked(name, artifacts.get(digest) or b"") for name, digest in kept.artifacts.items()}
    served = parse_served(files[facts_name(cell.name)], cell.name)
    files[identity_name(cell.name)] = identity(WANTED)  # this interpreter has no vLLM; that is another test's matter
    return judge_cell(cell, LogWords(), Pair(WANTED), kept.ended[0], files), served, kept


def alive(pid: int) -> bool:
    """Say whether a process lives and is no zombie."""
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
