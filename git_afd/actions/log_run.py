"""Everything of one run for ``git afd log --run``: from its records, its raw facts, and what is kept of its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from git_afd.actions.kept import Kept, kept_files
from git_afd.adapters.kept_log import log_ends
from git_afd.adapters.session import Session
from git_afd.core import shape
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.raw_run import FILE, Ended, RawRun, parse_raw_run
from git_afd.core.outcome import Json
from git_afd.core.records import Record
from git_afd.core.state import Run, Upgrade

_EXCERPT: Final = 4 << 10
_LINES: Final = 20


def run_details(session: Session, up: Upgrade, run: Run, records: Iterable[Record]) -> dict[str, Json]:
    """Return all that is known of a run. What cannot be read is said under ``unreadable``; nothing is judged anew."""
    last = [one for one in records if one.kind == "run" and one.upgrade == up.id and one.body.get("run") == run.name]
    body: Mapping[str, Json] = last[-1].body if last else {}
    files = kept_files(session, up, run)
    raw, unreadable = _raw(session, run)
    failure = next((one for one in up.failures.values() if one.run == run.name), None)
    return {
        "run": run.name,
        "upgrade": up.id,
        "gate": run.gate,
        "status": run.status,
        "reason": run.reason,
        "origin": run.origin,
        "diagnostic": run.diagnostic,
        "simulated": run.simulated,
        "commit": run.commit,
        "recorded": [one.at for one in last],
        "by": last[0].by if last else "",
        "root": body.get("root", ""),
        "python": body.get("python", ""),
        "identity": {"commit": run.commit, "tree": body.get("tree", ""), **run.bound},
        "commands": [_command(one, files) for one in raw.commands] if raw else [],
        "cells": dict(_cells(body)),
        "collections": [_command(one, files) for one in raw.listings] if raw else [],
        "environment": dict(raw.environment) if raw else {},
        "host": dict(raw.host) if raw else {},
        "trees": dict(raw.trees) if raw else {},
        "disturbed": list(raw.disturbed) if raw else [],
        "artifacts": [one.as_json() for one in files],
        "checks": list(raw.checks) if raw else [],
        "asked": {"only": raw.only, "failure": raw.failure, "cell": raw.cell} if raw else {},
        "tests": body.get("tests", ""),
        "cleanup": body.get("cleanup", ""),
        "verdicts": body.get("commands", []),
        "metrics": body.get("metrics", {}),
        "findings": body.get("findings", []),
        "failure": failure.name if failure else "",
        "excerpts": list(_excerpts(raw, files, unfinished=run.status == "started")),
        "unreadable": unreadable,
    }


def _raw(session: Session, run: Run) -> tuple[RawRun | None, str]:
    if FILE not in run.artifacts:
        return None, "" if run.status == "started" else f"the record names no {FILE}"
    data = session.artifacts.get(run.artifacts[FILE])
    if data is None:
        return None, f"{FILE} is not there any more"
    try:
        return parse_raw_run(data, f"{run.name}/{FILE}"), ""
    except EvidenceFault as fault:
        return None, fault.message


def _command(one: Ended, files: Iterable[Kept]) -> dict[str, Json]:
    kept = next((file for file in files if file.name == one.log), None)
    return {
        "name": one.name,
        "run": list(one.argv),
        "exit_code": one.exit_code,
        "signal": one.signal,
        "timed_out": one.timed_out,
        "interrupted": one.interrupted,
        "missing": one.missing,
        "began": _moment(one.began),
        "ended": _moment(one.ended),
        "seconds": round(one.ended - one.began, 1),
        "log": one.log,
        "log_bytes": one.log_bytes,
        "log_digest": one.log_digest,
        "log_kept_bytes": kept.size if kept else None,
        "junit": list(one.junit),
        "results": list(one.results),
        "samples": list(one.samples),
        "left_behind": list(one.left_behind),
        "survivors": list(one.survivors),
    }


def _cells(body: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield what was recorded of each cell of a native control; a record of another shape has none."""
    with suppress(shape.ShapeFault):
        for one in shape.tables(body, "commands"):
            if shape.table(one, "cell"):
                yield shape.text(one, "name"), shape.table(one, "cell")


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
    except (ValueError, OverflowError, OSError):  # an imported run may say anything
        return ""


def _excerpts(raw: RawRun | None, files: Iterable[Kept], *, unfinished: bool) -> Iterator[dict[str, Json]]:
    """Yield the end of the log of each command that did not end well; of an unfinished run, of every log."""
    fine = {one.log for one in (*raw.commands, *raw.listings) if one.exit_code == 0} if raw else set()
    for file in files:
        wanted = file.is_log and (unfinished or raw is not None) and file.name not in fine
        if not wanted or file.source is None:
            continue
        try:
            _, left, tail = log_ends(file.name, file.source, head=0, tail=_EXCERPT)
        except (OSError, EvidenceFault) as fault:
            yield {"log": file.name, "left_out": 0, "lines": [], "unreadable": str(fault)}
            continue
        lines = tail.decode(errors="replace").splitlines()
        shown = lines[1:] if left and len(lines) > 1 else lines  # the first one may be cut
        yield {"log": file.name, "left_out": left, "lines": shown[-_LINES:], "unreadable": ""}
