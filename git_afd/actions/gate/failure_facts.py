"""What is kept of a failed run for whoever looks into it: gathered once, when its failure is opened."""

from __future__ import annotations

import shlex
from typing import Final

from git_afd.adapters.kept_log import log_ends
from git_afd.adapters.session import Session
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.gate_verdict import GateVerdict
from git_afd.core.evidence.raw_run import Ended, RawRun
from git_afd.core.evidence.root_traceback import root_in_log, root_in_report
from git_afd.core.outcome import Json

_IDS_KEPT: Final = 50
_HEAD: Final = 8 << 20
_TAIL: Final = 64 << 10


def failure_facts(session: Session, raw: RawRun, verdict: GateVerdict) -> dict[str, Json]:
    """Return the exact command, environment subset, failing tests, root traceback and cleanup of a failed run."""
    failed = next((one for one in verdict.commands if one.status == "FAIL"), None)
    ended = next((one for one in raw.commands if failed and one.name == failed.name), None)
    errors = [finding.place for finding in verdict.findings if finding.severity == "error" and _is_test(finding.place)]
    return {
        "command": shlex.join(ended.argv) if ended else "",
        "environment": dict(raw.environment),
        "failing": list(dict.fromkeys(errors))[:_IDS_KEPT],
        "traceback": _traceback(session, raw, ended) if ended else "",
        "cleanup": _cleanup(raw),
        "blocker": verdict.blocker,
    }


def _is_test(place: str) -> bool:
    return "::" in place or place.endswith(".py")


def _traceback(session: Session, raw: RawRun, ended: Ended) -> str:
    for name in ended.junit:
        found = root_in_report(session.artifacts.get(raw.artifacts.get(name, "")) or b"")
        if found:
            return found
    return root_in_log(_log(session, ended.log, raw.artifacts.get(ended.log, ""))) if ended.log else ""


def _log(session: Session, name: str, digest: str) -> str:
    """Return the beginning and the end of a log, whatever its size."""
    source = session.artifacts.source(digest)
    try:
        head, left, tail = log_ends(name, source, head=_HEAD, tail=_TAIL) if source is not None else (b"", 0, b"")
    except (OSError, EvidenceFault):  # it was judged without its log; so is this
        return ""
    return (head + (b"\n" if left else b"") + tail).decode(errors="replace")


def _cleanup(raw: RawRun) -> str:
    survivors = [item for one in raw.commands for item in one.survivors]
    ended = [item for one in raw.commands for item in one.left_behind]
    if survivors:
        return f"processes outlived it: {', '.join(survivors)}"
    return f"processes were ended for it: {', '.join(ended)}" if ended else "nothing was left behind"
