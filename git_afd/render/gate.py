"""Words for ``git afd gate static|native|basic|accuracy``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from git_afd.core.outcome import Outcome
from git_afd.core.percent import percent, points
from git_afd.render.log_run import counted
from git_afd.render.table import columns


def text(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: FBT001 - the signature of every renderer
    """Show the verdict, then each command, accuracy's numbers and where the evidence is."""
    data: Mapping[str, Any] = outcome.data
    if data.get("dry_run"):
        yield from _would_run(data)
        return
    yield f"{_headline(data)}{_kind(data)}"
    if "recorded" in data:
        yield data["blocker"] + ("" if data["recorded"] else "; nothing was recorded")
        if data.get("example"):
            yield f"For example, in afd.toml:\n\n{data['example'].rstrip()}\n"
        return
    yield f"commit {data['commit'][:12]}, tree {data['tree'][:12]}"
    yield columns(("command", "status", "exit", "seconds", "tests"), map(_row, data["commands"]), color=color)
    yield f"tests: {data['tests']}; cleanup: {data['cleanup']}"
    for command in data["commands"]:
        yield from _served(command)
    yield from map(_category, data["categories"])
    yield from _cells(data["cells"])
    yield from _checked(data)
    failed = [command["name"] for command in data["commands"] if command["status"] != "PASS"]
    printed = (name for name in data.get("logs", {}) if name in failed)
    yield from (f"log of {name}: git afd log --run {data['run']} --log {name}" for name in printed)
    if data.get("bundle"):
        yield f"bundle {data['bundle']}, SHA-256 {data['bundle_digest']}; nothing was recorded here"
    for mode, measured in data["metrics"].items():
        yield from _measured(mode, measured)


def _headline(data: Mapping[str, Any]) -> str:
    """Say what has the status: the phase, or only a run of its gate, which decides nothing."""
    if data.get("diagnostic"):
        return f"{'run ' + data['run'] if data['run'] else 'a run'} of gate {data['gate']} is {data['status']}"
    return f"{data['phase']} is {data['status']}{' in run ' + data['run'] if data['run'] else ''}"


def _measured(mode: str, one: Mapping[str, Any]) -> Iterator[str]:
    """Show one mode's share in percent, with its interval and counts, and how far from the native control it is."""
    low, high = map(percent, one["interval_95"])
    partial = "" if one["full"] else ", not the full set"
    yield (
        f"{mode}: {percent(one['value'])} on {one['effective']} of {one['original']} samples "
        f"(95 % interval {low} to {high}){partial}"
    )
    native = one.get("native")
    if native:
        lowest, highest = map(percent, native["interval_95"])
        down, up = map(points, native["difference_points_95"])
        relative = native["difference_relative"]
        more = "" if relative is None else f", {percent(relative, signed=True)} relative to it"
        yield (
            f"  native control (run {native['run']}): {percent(native['value'])} on {native['effective']} of "
            f"{native['original']} samples (95 % interval {lowest} to {highest})"
        )
        yield f"  difference: {points(native['difference_points'])} (95 % interval {down} to {up}){more}"


def _category(category: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (f"category {category['name']}: {category['status']}", counted(category["counts"]))))


def _cells(cells: Mapping[str, Any]) -> Iterator[str]:
    """Show how much of the frozen feature matrix the tests cover, and every cell that is owed."""
    if not cells:
        return
    owed, outside = cells["owed"], cells["outside"]
    more = f", {len(outside)} are outside the commands' selection" if outside else ""
    yield f"feature matrix: {len(cells['covered'])} cells covered, {len(owed)} owed{more}"
    yield from (f"  owed: {cell}" for cell in owed)


def _checked(data: Mapping[str, Any]) -> Iterator[str]:
    """Show what the checks found: the runtime, the focused tests of each root cause, and what did not run."""
    runtime = data.get("runtime")
    if runtime:
        words = ", ".join(f"{one['upstream']} {one['word']}" for one in runtime["upstreams"])
        yield f"runtime {runtime['python']} (Python {runtime['version'] or 'unknown'}): {words}"
    for row in data.get("focused", ()):
        count = f" ({row['tests']} in {row['command']})" if row["tests"] else ""
        yield f"focused test of {row['root_cause']}: {row['test']} {row['outcome']}{count}".replace("  ", " ")
    for row in data.get("not_run", ()):
        tests = "" if row["tests"] is None else f" ({row['tests']} test{'s' * (row['tests'] != 1)})"
        yield f"did not run: {row['file']}{tests}: {row['reason']}"


def _served(command: Mapping[str, Any]) -> Iterator[str]:
    """Show what was asked of a cell of the native control, what ran, and what came of it."""
    cell = command.get("cell")
    if not cell:
        return
    yield f"cell {command['name']}{'' if cell['required'] else ' (not required)'}: {shlex.join(cell['argv'])}"
    for name, asked in cell["asked"].items():
        ran = ", ".join(cell["ran"].get(name, ()))
        yield f"  {name}: {asked} asked, {'the same' if ran == asked else ran or 'nothing'} shown by the log"
    words = ", ".join(f"{one['upstream']} {one['word']}" for one in cell["runtime"]["upstreams"])
    yield f"  runtime {cell['runtime']['python']} (Python {cell['runtime']['version'] or 'unknown'}): {words}"
    yield f"  vLLM {', '.join(cell['version']) or 'unknown'}, plugins {', '.join(cell['plugins']) or 'none shown'}"
    if cell["ready_s"] is not None:
        yield f"  ready after {cell['ready_s']:.1f} s, answered after {cell['reply_s'] or 0:.1f} s by {cell['model']}"
        yield f"  {cell['prompt']!r} -> {cell['text'][:200]!r}"


def _kind(data: Mapping[str, Any]) -> str:
    if data.get("cell"):
        return f" (cell {data['cell']}: a control, which decides nothing by itself)"
    words = ("imported" if data.get("origin") == "imported" else "", "simulated" if data.get("simulated") else "")
    again = f"what {data['failure']} failed on" if data.get("failure") else ""
    said = ", ".join(
        filter(None, (*words, again, "a diagnostic that decides nothing" if data.get("diagnostic") else ""))
    )
    return f" ({said})" if said else ""


def _row(command: Mapping[str, Any]) -> tuple[str, ...]:
    seconds, code = command["seconds"], command["exit_code"]
    shown = ("" if code is None else str(code), "" if seconds is None else f"{seconds:.1f}")
    return command["name"], command["status"], *shown, counted(command["counts"])


def _would_run(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"{data['phase']} may be entered at commit {data['commit'][:12]}; {data['python']} is {{python}}"
    for command in data["would_run"]:
        yield f"  {command['name']}: {shlex.join(command['run'])}"
    yield from (f"  {name}: a check" for name in data["checks"])
    if data["lacking"]:
        yield f"BLOCKED: {data['lacking']}"
