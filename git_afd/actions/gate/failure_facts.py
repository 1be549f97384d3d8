"""What is kept of a failed run for whoever looks into it: gathered once, when its failure is opened."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final

from git_afd.adapters.kept_log import log_ends
from git_afd.adapters.session import Session
from git_afd.core.command import Command
from git_afd.core.evidence.collected import parse_collected
from git_afd.core.evidence.collecting import narrow_command, without_report
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.gate_verdict import GateVerdict
from git_afd.core.evidence.host_snapshot import AFTER_FACTS, Snapshot, parse_snapshot
from git_afd.core.evidence.host_verdict import AFTER, HELD, UNKNOWN_HOST
from git_afd.core.evidence.junit import report_id
from git_afd.core.evidence.npu_smi import Unknown, parse_npu_smi
from git_afd.core.evidence.raw_run import Ended, RawRun
from git_afd.core.evidence.root_traceback import Root, root_of
from git_afd.core.evidence.secrets import without_secrets
from git_afd.core.gate_environment import environment_of
from git_afd.core.names import UPSTREAMS, revision_key
from git_afd.core.outcome import Json
from git_afd.core.state import Upgrade

_IDS_KEPT: Final = 50
_HEAD: Final = 2 << 20
_TAIL: Final = 1 << 20


def failure_facts(session: Session, up: Upgrade, raw: RawRun, verdict: GateVerdict) -> dict[str, Json]:
    """Return everything that a failure records: what was run on what, what failed, its root, the host, the cleanup."""
    names = [one.name for one in verdict.commands if one.status == "FAIL"]
    ended = _guilty(raw, names)
    errors = [finding.place for finding in verdict.findings if finding.severity == "error" and _is_test(finding.place)]
    ids = _listed(session, raw)
    failing = list(dict.fromkeys(ids.get(report_id(place), place) for place in errors))[:_IDS_KEPT]
    gate = session.policy(up).policy.gates[raw.gate]
    commands = (*gate.commands, *(cell.command for cell in gate.cells))
    command = next((one for one in commands if ended and one.name == ended.name), None)
    root = _root(session, raw, ended) if ended else Root()
    return {
        "command": shlex.join(ended.argv) if ended else "",
        "commands": list(names),
        "environment": _environment(raw, command),
        "runtime": _runtime(up, raw),
        "failing": list(failing),
        "reproduce": _by_hand(raw, command, ended, failing) if command and ended else "",
        "traceback": without_secrets(root.traceback),
        "raised": without_secrets(root.raised),
        "excerpt": without_secrets(root.excerpt),
        "log": raw.artifacts.get(ended.log, "") if ended else "",
        "resources": _resources(session, raw),
        "cleanup": _cleanup(verdict),
        "blocker": verdict.blocker,
    }


def _guilty(raw: RawRun, names: list[str]) -> Ended | None:
    """Return the command that failed first, or that left something behind, or else the last one."""
    by_name = {one.name: one for one in raw.commands}
    failed = next((by_name[name] for name in names if name in by_name), None)
    left = next((one for one in raw.commands if one.survivors or one.left_behind), None)
    return failed or left or next(reversed(raw.commands), None)


def _listed(session: Session, raw: RawRun) -> dict[str, str]:
    """Return pytest's own ids, as they were listed before the run, by what a report calls them."""
    found: dict[str, str] = {}
    for one in raw.listings:
        with suppress(EvidenceFault):  # the verdict says what is wrong with the listing
            names = parse_collected(session.artifacts.get(raw.artifacts.get(one.log, "")) or b"", one.log)
            found |= {report_id(name): name for name in names}
    return found


def _is_test(place: str) -> bool:
    return "::" in place or place.endswith(".py")


def _environment(raw: RawRun, command: Command | None) -> dict[str, Json]:
    own = command.env if command else {}
    return dict(environment_of(raw.gate, own, raw.environment))


def _runtime(up: Upgrade, raw: RawRun) -> dict[str, Json]:
    """Return what ran: the plugin's commit, the frozen target commits (full ids), the interpreter."""
    targets = {name: up.freeze.revisions[revision_key(name, "target")].commit for name in UPSTREAMS}
    return {"plugin": raw.identity.commit, **targets, "python": raw.python}


def _by_hand(raw: RawRun, command: Command, ended: Ended, failing: list[str]) -> str:
    """Return the recorded command narrowed to the failed tests, ready to copy into a shell."""
    narrowed = narrow_command(replace(command, run=ended.argv), failing)
    own = {name: text for name, text in environment_of(raw.gate, command.env, {}).items() if "{" not in text}
    words = [f"{name}={shlex.quote(text)}" for name, text in own.items()]
    return f"cd {shlex.quote(raw.root)} && {' '.join([*words, shlex.join(without_report(narrowed.run))])}"


def _root(session: Session, raw: RawRun, ended: Ended) -> Root:
    report = session.artifacts.get(raw.artifacts.get(ended.junit[0], "")) if ended.junit else None
    return root_of(report or b"", _log(session, ended.log, raw.artifacts.get(ended.log, "")) if ended.log else "")


def _log(session: Session, name: str, digest: str) -> str:
    """Return the beginning and the end of a log, whatever its size."""
    source = session.artifacts.source(digest)
    try:
        head, left, tail = log_ends(name, source, head=_HEAD, tail=_TAIL) if source is not None else (b"", 0, b"")
    except (OSError, EvidenceFault):  # it was judged without its log; so is this
        return ""
    return (head + (b"\n" if left else b"") + tail).decode(errors="replace")


def _resources(session: Session, raw: RawRun) -> dict[str, Json]:
    """Return memory, disk and load right after the run, and what was on the NPUs."""
    facts = parse_snapshot(session.artifacts.get(raw.artifacts.get(AFTER_FACTS, "")))
    known = dict(facts.resources) if isinstance(facts, Snapshot) else {}
    return {**known, "npu": list(_npus(session, raw))}


def _npus(session: Session, raw: RawRun) -> Iterator[str]:
    text = session.artifacts.get(raw.artifacts.get(AFTER, ""))
    if text is None:
        return
    table = parse_npu_smi(text.decode(errors="replace"))
    if isinstance(table, Unknown):
        yield f"unknown: {table.reason}"
        return
    for chip in table.chips:
        total = (chip.hbm_mb or chip.memory_mb)[1]
        yield f"NPU {chip.npu} chip {chip.chip} {chip.health}: {chip.used_mb} of {total} MB"
    yield from (f"NPU {one.npu}: process {one.pid} {one.name}".rstrip() for one in table.processes)


def _cleanup(verdict: GateVerdict) -> str:
    left = [one.message for one in verdict.findings if one.severity == "error" and one.code in (*HELD, UNKNOWN_HOST)]
    return f"{verdict.cleanup}: {'; '.join(left)}" if left else "nothing was left behind"
