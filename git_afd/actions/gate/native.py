"""Runs the cells of the native control: start the server, make one request, stop it, and keep what was seen."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from git_afd.actions.gate.carry_out import Bench, Kept, ended_by, environment_for, stopped
from git_afd.actions.gate.order import Order
from git_afd.adapters.process import ProcessResult, run_command
from git_afd.adapters.runtime_probe import probe_runtime
from git_afd.adapters.serving import Serving, folder_of, free_port, freed, listeners
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.evidence.runtime_facts import parse_runtime
from git_afd.core.evidence.served import Served, names_of
from git_afd.core.gate_environment import shown_environment
from git_afd.core.native_cell import Cell

_MARGIN_S: Final = 60.0


def serve_cells(bench: Bench, cells: Sequence[Cell], order: Order, kept: Kept) -> None:
    """Run `cells` in order, every one of them, and add to `kept`; stop only when told to stop.

    The servers start in the run's own folder: in the plugin's tree its code would lie on Python's path. Raises
    EnvironmentFault when a log or the evidence cannot be kept.
    """
    try:
        for place, cell in enumerate(cells, start=1):
            if stopped(bench, kept):
                return
            title = f"native {place}/{len(cells)} {cell.name}"
            order.tell(title)
            order.began(title, 0)
            serving = _one(bench, cell, order, kept)
            order.ended()
            order.tell(f"{title}: {_outcome(serving)}")
    except KeyboardInterrupt:  # while the interpreter was asked, before its server was started
        kept.interrupted = True


def _one(bench: Bench, cell: Cell, order: Order, kept: Kept) -> Serving:
    port = cell.port or free_port()
    bench = replace(bench, values={**bench.values, "port": str(port)})
    argv = cell.command.filled(bench.values)[0]
    order.tell(shlex.join(argv))
    environment = environment_for(bench, cell.command)
    body = json.dumps(cell.request.body(), ensure_ascii=False).encode()
    serving = Serving(cell, port, body)
    identity = probe_runtime(bench.values["python"], cwd=bench.out, env=environment)
    served = Served(
        port=port,
        folder=folder_of(parse_runtime(identity).executable or bench.values["python"]),  # behind a shim, as pyenv's
        path=environment.get("PYTHONPATH", ""),
        occupied=listeners(port),
        environment=shown_environment(environment, cell.command.env.__contains__),
    )
    now = time.time()
    ended = Ended(cell.name, argv, began=now, ended=now)
    log = bench.folder / "log" / f"{cell.name}.log.gz"
    if not served.occupied:
        ended, result = _run(bench, serving, argv, environment, log, order)
        kept.interrupted = ended.interrupted
        served = _saw(served, serving, result)
    files: dict[str, Path | bytes] = dict(
        zip(names_of(cell.name), (served.as_bytes(), body, _response(serving), identity), strict=True)
    )
    if log.exists():
        files[f"log/{log.name}"] = log
        ended = replace(ended, log=f"log/{log.name}")
    kept.artifacts |= dict(zip(files, bench.artifacts.put(files.values()), strict=True))
    kept.ended.append(ended)
    return serving


def _run(
    bench: Bench, serving: Serving, argv: tuple[str, ...], environment: Mapping[str, str], log: Path, order: Order
) -> tuple[Ended, ProcessResult | None]:
    cell = serving.cell
    timeout_s = cell.ready.timeout_s + cell.request.timeout_s + _MARGIN_S
    run = partial(
        run_command,
        argv,
        cwd=bench.out,
        env=environment,
        log=log,
        timeout_s=timeout_s,
        grace_s=cell.stop_timeout_s,
        echo=order.echo,
        errand=serving,
        tick=order.tick,
        hold=bench.held.lock.numbers,
    )
    try:
        return ended_by(run, cell.command, argv)
    finally:
        serving.close()


def _saw(served: Served, serving: Serving, result: ProcessResult | None) -> Served:
    """Return the facts with what the errand saw, and with who still listens now."""
    return replace(
        served,
        ready_s=serving.ready_s,
        waiting=serving.waiting,
        listeners=tuple(serving.listeners),
        processes=serving.processes,
        more=serving.more,
        status=serving.reply.status if serving.reply else None,
        fault=serving.fault,
        reply_s=serving.reply_s,
        stopped=bool(result and result.stopped),
        killed=result.killed if result else (),
        left=freed(serving.port),
    )


def _response(serving: Serving) -> bytes:
    return serving.reply.body if serving.reply else b""


def _outcome(serving: Serving) -> str:
    if serving.ready_s is None:
        return f"was not ready; {serving.waiting or 'it was not asked'}"
    answer = f"HTTP {serving.reply.status}" if serving.reply else f"no answer: {serving.fault}"
    return f"ready after {serving.ready_s:.1f} s, {answer}"
