"""Runs the commands of a gate one after the other and keeps what they leave, at once (scenario U14)."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from git_afd.actions.gate.alone import Alone
from git_afd.actions.gate.order import Order
from git_afd.adapters.artifacts import Artifacts
from git_afd.adapters.kept_log import TAIL
from git_afd.adapters.process import ProcessResult, run_command
from git_afd.core.command import Command
from git_afd.core.evidence.collected import deselected, parse_collected
from git_afd.core.evidence.collecting import collect_command
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.packed import unpacked
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.gate_environment import environment_of
from git_afd.errors import EnvironmentFault


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a run takes place.

    `folder` is the run's own, new and below the common git dir; `root` the tree that the commands start in;
    `values` what the policy's placeholders stand for; `artifacts` where the evidence is kept; `held` the locks that
    its commands keep, and who tells us to stop.
    """

    gate: str
    folder: Path
    root: Path
    values: Mapping[str, str]
    artifacts: Artifacts
    task: str
    held: Alone

    @property
    def out(self) -> Path:
        """The folder that ``{out}`` stands for."""
        return self.folder / "out"


@dataclass(slots=True)
class Kept:
    """What the commands did and left so far, kept by digest; it grows while they run and outlives an interruption.

    `expected` is how many tests were collected for a command, for whoever looks on.
    """

    ended: list[Ended] = field(default_factory=list)
    artifacts: dict[str, str] = field(default_factory=dict)
    listings: list[Ended] = field(default_factory=list)
    expected: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False


def carry_out(bench: Bench, commands: Sequence[Command], order: Order) -> Kept:
    """Run `commands` in order, every one of them, whatever the earlier ones say; stop only when told to stop.

    A program that is not there is a fact of the run, not a fault of ours. Raises EnvironmentFault when a log or
    the evidence cannot be kept: the run then stays unfinished, which `status` shows.
    """
    bench.out.mkdir(parents=True)
    kept = Kept()
    for command in commands:
        _collect(bench, command, order, kept)
    for place, command in enumerate(commands, start=1):
        if stopped(bench, kept):
            break
        title = f"{bench.gate} {place}/{len(commands)} {command.name}"
        order.tell(f"{title}: {shlex.join(command.filled(bench.values)[0])}")
        order.began(title, kept.expected.get(command.name, 0))
        _one(bench, command, order, kept)
        order.ended()
        order.tell(f"{title}: {_ending(kept.ended[-1])}")
    return kept


def stopped(bench: Bench, kept: Kept) -> bool:
    """Say whether we were told to stop: by a signal that a command got, or between two commands."""
    kept.interrupted = kept.interrupted or bench.held.stops.told
    return kept.interrupted


def _collect(bench: Bench, command: Command, order: Order, kept: Kept) -> None:
    """List the tests that a command will run, before any command runs; without its selection when it deselects."""
    for wide in (False, True):
        listing = collect_command(command, wide=wide)
        if listing is None or stopped(bench, kept):
            return
        order.tell(f"{bench.gate}: collect the tests of {command.name}")
        order.began(f"{bench.gate} collects {command.name}", 0)
        name = f"collect/{command.name}{'.all' if wide else ''}.txt.gz"
        log = bench.folder / name
        ended = _start(bench, listing, log, order, echo=None)
        order.ended()
        kept.interrupted = ended.interrupted
        if ended.missing:
            kept.listings.append(ended)
            return
        kept.artifacts[name] = bench.artifacts.put_file(log)
        kept.listings.append(replace(ended, log=name))
        listed = b""
        with suppress(EvidenceFault):  # that is for the verdict
            listed = unpacked(name, log.read_bytes())
            kept.expected.setdefault(command.name, len(parse_collected(listed, name)))
        if not deselected(listed):
            return


def _one(bench: Bench, command: Command, order: Order, kept: Kept) -> None:
    log = bench.folder / "log" / f"{command.name}.log.gz"
    ended = _start(bench, command, log, order, echo=order.echo)
    started = ended.exit_code is not None or not ended.missing
    kept.ended.append(_keep(bench, command, ended, log, kept.artifacts) if started else ended)
    kept.interrupted = ended.interrupted


def _start(bench: Bench, command: Command, log: Path, order: Order, *, echo: Callable[[bytes], None] | None) -> Ended:
    """Run a command to its end; a program that is not there is said in the answer."""
    argv = command.filled(bench.values)[0]
    run = partial(
        run_command,
        argv,
        cwd=bench.root,
        env=environment_for(bench, command),
        log=log,
        timeout_s=command.timeout_s,
        echo=echo,
        tick=order.tick,
        hold=bench.held.lock.numbers,
    )
    return ended_by(run, command, argv)[0]


def ended_by(
    run: Callable[[], ProcessResult], command: Command, argv: tuple[str, ...]
) -> tuple[Ended, ProcessResult | None]:
    """Run a command and return how it ended; a program that is not there is said in that, and has no result."""
    began = time.time()
    try:
        result = run()
    except EnvironmentFault as fault:
        if fault.code != "program-missing":
            raise
        return Ended(command.name, argv, missing=fault.message, began=began, ended=time.time()), None
    return _ended(command, argv, result, began), result


def environment_for(bench: Bench, command: Command) -> dict[str, str]:
    """Return what a command starts with."""
    own = command.filled(bench.values)[1]
    environment = environment_of(command.cell or bench.gate, own, os.environ)
    # The run's folder lies below a git dir: a test that looks for a repository there must not find the user's.
    ceilings = (str(bench.folder.parent), environment.get("GIT_CEILING_DIRECTORIES", ""))
    environment["GIT_CEILING_DIRECTORIES"] = os.pathsep.join(filter(None, ceilings))
    return environment


def _ended(command: Command, argv: tuple[str, ...], result: ProcessResult, began: float) -> Ended:
    """Return how a command ended, as it is recorded; its log and results are not named yet."""
    return Ended(
        name=command.name,
        argv=argv,
        exit_code=result.exit_code,
        signal=result.signal,
        timed_out=result.timed_out,
        interrupted=result.interrupted,
        missing=_missing_module(argv, result),
        began=began,
        ended=began + result.duration_s,
        left_behind=result.left_behind,
        survivors=result.survivors,
        log_bytes=result.log_bytes,
        log_digest=result.log_digest,
    )


def _missing_module(argv: tuple[str, ...], result: ProcessResult) -> str:
    """Return what Python says when the module of ``python -m NAME`` is not installed: a missing tool, no failure."""
    if len(argv) < 3 or argv[1] != "-m" or result.exit_code != 1 or result.log_bytes > TAIL:  # noqa: PLR2004 - python -m NAME
        return ""
    said = result.tail.decode(errors="replace").strip()
    parent = f": Error while finding module specification for {argv[2]!r} (ModuleNotFoundError:"
    missing = said.endswith(f": No module named {argv[2]}") or parent in said
    return f"{argv[0]} has no module named {argv[2]}" if missing else ""


def _keep(bench: Bench, command: Command, ended: Ended, log: Path, artifacts: dict[str, str]) -> Ended:
    """Keep the log and the evidence of one command; return `ended` with the names of what was kept."""
    junit, results = (tuple(_found(bench.out, glob)) for glob in (command.junit, command.results))
    samples = tuple(dict.fromkeys(item for path in results for item in _samples(path, bench.task)))
    named = {f"log/{log.name}": log, **{_name(bench.out, path): path for path in (*junit, *results, *samples)}}
    artifacts |= dict(zip(named, bench.artifacts.put(named.values()), strict=True))
    return replace(
        ended,
        log=f"log/{log.name}",
        junit=tuple(_name(bench.out, path) for path in junit),
        results=tuple(_name(bench.out, path) for path in results),
        samples=tuple(_name(bench.out, path) for path in samples),
    )


def _found(out: Path, glob: str) -> Iterator[Path]:
    """Yield the files below `out` that fit, each once: pytest links its newest folder; what links out is not ours."""
    if not glob:
        return
    home = out.resolve()
    seen: set[Path] = set()
    for path in sorted(out.glob(glob)):
        real = path.resolve()
        if real.is_file() and real.is_relative_to(home) and real not in seen:
            seen.add(real)
            yield real


def _name(out: Path, path: Path) -> str:
    return path.relative_to(out.resolve()).as_posix()


def _samples(result: Path, task: str) -> list[Path]:
    """Return the samples file of a result: of the same folder and, where there are several, of the same time."""
    found = sorted(path.resolve() for path in result.parent.glob(f"samples_{task}*.jsonl"))
    time_of = result.stem.removeprefix("results").strip("_")
    same = [path for path in found if time_of and path.stem.endswith(time_of)]
    return same or found


def _ending(ended: Ended) -> str:
    if ended.missing:
        return ended.missing
    how = (
        "time was up"
        if ended.timed_out
        else f"signal {ended.signal}"
        if ended.signal
        else f"exit code {ended.exit_code}"
    )
    return f"{how} after {ended.ended - ended.began:.1f} s"
