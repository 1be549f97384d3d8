"""Judges one cell of the native control from its kept facts and files (workflow, Phase 6).

The target runtime without the plugin must have served one real request, as it was asked for. That VLLM_PLUGINS leaves
the plugin out is necessary and proves little: a wrapper can set it anew, a configuration can be passed, a fallback can
answer. So everything is held against what the processes, the log and the response say themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.native_answer import Answer, judge_answer
from git_afd.core.evidence.native_log import Told, read_log
from git_afd.core.evidence.packed import TEXT_LIMIT
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.evidence.run_results import bytes_of
from git_afd.core.evidence.runtime_facts import parse_runtime
from git_afd.core.evidence.runtime_identity import Contents, RuntimeVerdict, judge_runtime
from git_afd.core.evidence.served import Seen, Served, facts_name, identity_name, parse_served, response_name
from git_afd.core.evidence.status import Status
from git_afd.core.finding import Finding
from git_afd.core.native_cell import AFD_CONFIGURATION, Cell, LogWords
from git_afd.core.outcome import Json

PLUGIN: Final = "afd"
"""The name by which vLLM knows the plugin."""

_UNKNOWN: Final = frozenset(
    {
        "port-in-use",
        "environment-unknown",
        "plugins-unknown",
        "arguments-unknown",
        "fallback-unknown",
        "runtime-foreign",
        "runtime-absent",
        "runtime-unknown",
        "evidence-unreadable",
    }
)
"""What cannot be known blocks; everything else that is found here is a failure."""

_WITHOUT: Final = "start the server without the plugin"
_LOUDER: Final = 'let the cell say so: env = { VLLM_LOGGING_LEVEL = "DEBUG" }, or correct [gates.native.log]'


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """What a cell amounts to; `facts` are what the workflow wants recorded of it."""

    status: Status
    findings: tuple[Finding, ...]
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """The frozen target pair: upstream name to full commit id, and the Python files of what stands there as a copy."""

    wanted: Mapping[str, str]
    frozen: Contents = field(default_factory=dict)


def judge_cell(cell: Cell, words: LogWords, pair: Pair, ended: Ended, files: Mapping[str, bytes]) -> CellVerdict:
    """Judge a cell whose server was started, or was not because the port was taken."""
    try:
        served = parse_served(bytes_of(files, facts_name(cell.name)), facts_name(cell.name))
        if served.occupied:
            return CellVerdict("BLOCKED", (_occupied(cell, served),))
        told = _told(words, ended, files)
        answer = _answer(cell, served, files)
        place = identity_name(cell.name)
        runtime = judge_runtime(parse_runtime(bytes_of(files, place), place), pair.wanted, pair.frozen)
    except EvidenceFault as fault:
        return CellVerdict("BLOCKED", (fault.as_finding(),))
    every = (*runtime.findings, *_findings(cell, served, told, answer, ended))
    found = tuple(sorted(every, key=lambda finding: finding.code in _UNKNOWN))  # what failed, before what is unknown
    return CellVerdict(_status(found), found, _facts(cell, ended, served, told, answer, runtime))


def _status(findings: tuple[Finding, ...]) -> Status:
    codes = {finding.code for finding in findings if finding.severity == "error"}
    return "FAIL" if codes - _UNKNOWN else "BLOCKED" if codes else "PASS"


def _told(words: LogWords, ended: Ended, files: Mapping[str, bytes]) -> Told:
    if ended.log not in files and ended.log_bytes > TEXT_LIMIT:
        raise EvidenceFault(ended.log, "", f"has {ended.log_bytes} bytes", f"a log of at most {TEXT_LIMIT}")
    return read_log(bytes_of(files, ended.log), words)


def _answer(cell: Cell, served: Served, files: Mapping[str, bytes]) -> Answer | None:
    if served.status is None:
        return None
    place = response_name(cell.name)
    return judge_answer(cell.request, served.status, bytes_of(files, place), place)


def _occupied(cell: Cell, served: Served) -> Finding:
    text = f"port {served.port} was in use before the start, by {', '.join(served.occupied)}"
    return Finding("port-in-use", cell.name, text, "end what listens there, or give the cell another port")


def _findings(cell: Cell, served: Served, told: Told, answer: Answer | None, ended: Ended) -> Iterator[Finding]:
    yield from _plugin(cell, served, told)
    if served.ready_s is None:
        yield _not_ready(cell, served, ended)
    else:
        yield from _unknown(cell, served, told)
        yield from _listeners(cell, served)
        yield from _fallbacks(cell, told)
        yield from _request(cell, served, answer)
    yield from _end(cell, served, ended)


def _plugin(cell: Cell, served: Served, told: Told) -> Iterator[Finding]:
    """Name every sign that the plugin was loaded or configured."""
    if PLUGIN in told.plugins:
        text = f"the log says that plugin {PLUGIN} was loaded"
        yield Finding("plugin-loaded", cell.name, text, _WITHOUT)
    seen = [process.environment.get("VLLM_PLUGINS", "") for process in served.processes if process.environment]
    chosen = {name.strip() for names in seen for name in names.split(",")}
    for name in sorted({*told.plugins} - {*chosen, PLUGIN}) if seen and all(seen) else ():
        text = f"the log says that plugin {name} was loaded, which VLLM_PLUGINS={seen[0]} does not choose"
        yield Finding("plugin-loaded", cell.name, text, _WITHOUT)
    if told.every:
        yield Finding("plugin-loaded", cell.name, "the log says that every plugin of a group was loaded", _WITHOUT)
    for process in served.processes:
        yield from _plugin_in(cell, process)
    if any(map(AFD_CONFIGURATION.search, told.arguments)):
        yield Finding("afd-configured", cell.name, "the log shows AFD configuration among the arguments", _WITHOUT)


def _plugin_in(cell: Cell, process: Seen) -> Iterator[Finding]:
    word = next((word for word in process.argv if AFD_CONFIGURATION.search(word)), None)
    if word:
        text = f"process {process.pid} was given AFD configuration: {word[:120]}"
        yield Finding("afd-configured", cell.name, text, _WITHOUT)
    if process.environment is None:
        return
    name = next((name for name in process.environment if name.startswith("AFD_")), None)
    if name:
        yield Finding("afd-configured", cell.name, f"process {process.pid} has {name} in its environment", _WITHOUT)
    plugins = process.environment.get("VLLM_PLUGINS")
    if plugins is None:
        text = f"process {process.pid} has no VLLM_PLUGINS, so that every plugin is loaded"
        yield Finding("plugin-loaded", cell.name, text, _WITHOUT)
    elif PLUGIN in (name.strip() for name in plugins.split(",")):
        text = f"process {process.pid} has VLLM_PLUGINS={plugins}, which loads {PLUGIN}"
        yield Finding("plugin-loaded", cell.name, text, _WITHOUT)


def _not_ready(cell: Cell, served: Served, ended: Ended) -> Finding:
    waiting = f"; last: {served.waiting}" if served.waiting else ""
    if served.stopped or ended.timed_out or ended.interrupted:
        text = f"it was not ready after {cell.ready.timeout_s} s{waiting}"
        return Finding("never-ready", cell.name, text, "read its log")
    return Finding("died-before-ready", cell.name, f"it ended {ended.how} before it was ready{waiting}", "read its log")


def _unknown(cell: Cell, served: Served, told: Told) -> Iterator[Finding]:
    """Name what nobody can know: without a plain answer to each of these a control is not native."""
    if served.more:
        text = f"{served.more} more processes were started than were looked at"
        yield Finding("environment-unknown", cell.name, text, "let the server start fewer")
    if not told.listed:
        text = "the log does not say which general plugins were loaded"
        yield Finding("plugins-unknown", cell.name, text, _LOUDER)
    if not told.arguments:
        text = "the log does not say which arguments the server took"
        yield Finding("arguments-unknown", cell.name, text, _LOUDER)


def _listeners(cell: Cell, served: Served) -> Iterator[Finding]:
    """Insist that whoever answered is the server that was started, run by the interpreter whose identity is proven."""
    strangers = [one.name for one in served.listeners if not one.ours]
    if strangers or not served.listeners:
        who = ", ".join(strangers) or "nobody that could be seen"
        text = f"{who} listened at port {served.port}, not the server that was started"
        yield Finding("answered-by-another", cell.name, text, "end what listens there, then run the gate again")
    for pid in (one.name.split()[0] for one in served.listeners if one.ours):
        yield from _runtime(cell, served, pid)


def _runtime(cell: Cell, served: Served, pid: str) -> Iterator[Finding]:
    """Judge what a process ran by the last time that its environment was intact: later it may have set its title."""
    seen = [one for one in served.processes if str(one.pid) == pid and one.environment is not None]
    if not seen or seen[-1].environment is None:
        text = f"process {pid} listens, and was never seen with its environment"
        yield Finding("environment-unknown", cell.name, text, "run it as the same user, on a host with /proc")
        return
    process, path = seen[-1], seen[-1].environment.get("PYTHONPATH", "")
    if process.folder != served.folder:
        text = f"process {pid} ran a program of {process.folder or 'nowhere'}, not the target interpreter's"
        yield Finding("runtime-foreign", cell.name, text, "start the server by {python}")
    if path != served.path:
        text = f"process {pid} had PYTHONPATH={path}, and the runtime was proven with {served.path or 'none'}"
        yield Finding("runtime-foreign", cell.name, text, "set PYTHONPATH in the cell's env")


def _fallbacks(cell: Cell, told: Told) -> Iterator[Finding]:
    """Hold what the log says ran against what was asked."""
    for name, asked in cell.asked.items():
        shown = told.shown.get(name, ())
        other = [value for value in shown if value != asked]
        if other:
            text = f"{name}: {asked!r} was asked, and the log says {', '.join(map(repr, other))}"
            yield Finding("silent-fallback", cell.name, text, "make what ran another cell, and let this one run")
        elif not shown:
            text = f"{name}: the log does not say what ran; {asked!r} was asked"
            yield Finding("fallback-unknown", cell.name, text, "correct [gates.native.log] in the policy")
    for line in told.fallbacks:
        yield Finding("silent-fallback", cell.name, f"the log says: {line}", "make what ran another cell")


def _request(cell: Cell, served: Served, answer: Answer | None) -> Iterator[Finding]:
    if answer is None:
        text = f"the request got no answer: {served.fault or 'it was not sent'}"
        yield Finding("no-answer", cell.name, text, "read its log")
    else:
        yield from answer.findings


def _end(cell: Cell, served: Served, ended: Ended) -> Iterator[Finding]:
    if served.ready_s is not None and not served.stopped:
        yield Finding("server-died", cell.name, f"it ended {ended.how} before it was told to", "read its log")
    if served.killed:
        text = f"{cell.stop_timeout_s} s were not enough to end it, and these were killed: {', '.join(served.killed)}"
        yield Finding("process-left", cell.name, text, "give it more time (stop-timeout-s), or find out what holds it")
    if served.left:
        text = f"port {served.port} is left listening, by {', '.join(served.left)}"
        yield Finding("port-left-listening", cell.name, text, "end what listens there, then run the gate again")


def _facts(
    cell: Cell, ended: Ended, served: Served, told: Told, answer: Answer | None, runtime: RuntimeVerdict
) -> dict[str, Json]:
    """Return what the workflow wants recorded: what was asked, what ran, command, versions, readiness and output."""
    return {
        "required": cell.required,
        "asked": dict(cell.asked),
        "ran": {name: list(values) for name, values in told.shown.items()},
        "argv": list(ended.argv),
        "environment": dict(served.environment),
        "version": list(told.versions),
        "runtime": runtime.as_json(),
        "plugins": list(told.plugins),
        "ready_s": served.ready_s,
        "reply_s": served.reply_s,
        "prompt": cell.request.prompt,
        "model": answer.model if answer else "",
        "text": answer.text if answer else "",
        **(answer.about if answer else {}),
    }
