"""The rule of ``failure`` records: opened by a failed run, classified by somebody, closed by a passed run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from git_afd.core import shape
from git_afd.core.case import Case, Illegal
from git_afd.core.records import Record
from git_afd.core.state import ENVIRONMENT, FAILURE_CLASSES, REPEATABLE, Failure, Run

_NAME: Final = re.compile(r"F-[1-9][0-9]{0,8}\Z")


def failure(case: Case, record: Record) -> None:
    """Take one failure record. Raises ShapeFault or Illegal."""
    body = record.body
    name, op = shape.text(body, "failure"), shape.choice(body, "op", ("open", "classify", "close"))
    if not _NAME.match(name):
        raise shape.ShapeFault(f"failure: {name!r} is no F-n")
    known = case.failures.get(name)
    if op == "open":
        if known is not None:
            raise Illegal(f"{name} is taken")
        run = _run(case, record, "FAIL")
        commands, failing = shape.texts(body, "commands"), shape.texts(body, "failing")
        case.failures[name] = Failure(name, run.gate, run.name, record.id, commands=commands, failing=failing)
        return
    if known is None or not known.open:
        raise Illegal(f"{name} is not open")
    case.failures[name] = _classified(case, record, known) if op == "classify" else _closed(case, record, known)


def _run(case: Case, record: Record, status: str) -> Run:
    name = shape.text(record.body, "run")
    run = case.runs.get(name)
    if run is None or run.status != status or run.diagnostic:
        raise Illegal(f"{name} is no run that counts and ended with {status}")
    return run


def _classified(case: Case, record: Record, known: Failure) -> Failure:
    class_ = shape.choice(record.body, "class", FAILURE_CLASSES)
    live = (cause for cause in case.root_causes.values() if cause.status != "withdrawn")
    claimed = next((cause.name for cause in live if cause.failure == known.name), "")
    if class_ == ENVIRONMENT and claimed:
        raise Illegal(f"{claimed} claims to fix {known.name}, which no change of the plugin may do then")
    finding = record.seq if shape.flag(record.body, "architecture") else known.architecture
    why = shape.said(record.body, "why")
    return replace(known, class_=class_, why=why, by=record.by, classified=record.seq, architecture=finding)


def _closed(case: Case, record: Record, known: Failure) -> Failure:
    run = _run(case, record, "PASS")
    if run.gate != known.gate or known.undecided:
        raise Illegal(f"{run.name} does not answer {known.name}")
    same = run.bound.get("content") == case.runs[known.run].bound.get("content")
    if known.class_ == ENVIRONMENT and not same:
        raise Illegal(f"{known.name} of the environment is answered only by the same content")
    if same and known.class_ not in REPEATABLE:
        raise Illegal(f"{known.name} of class {known.class_} is not answered by a repetition on the same content")
    return replace(known, closed_by=run.name)
