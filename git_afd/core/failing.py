"""Failures of gates: what each records, when it must be classified, what closes it (workflow, Phases 5 to 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from git_afd.core.outcome import Json
from git_afd.core.state import ENVIRONMENT, Failure, RootCause, Upgrade
from git_afd.errors import Refused


def next_failure(up: Upgrade) -> str:
    """Return the next free ``F-n``."""
    return f"F-{len(up.failures) + 1}"


def opened_body(name: str, run: str, gate: str, facts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the record that opens a failure; `facts` are for readers, the state rests on the run alone."""
    return {"op": "open", "failure": name, "run": run, "gate": gate, **facts}


def classified_body(name: str, class_: str, why: str) -> dict[str, Json]:
    """Return the record of somebody's word on what kind of failure it is."""
    return {"op": "classify", "failure": name, "class": class_, "why": why}


def unclassified(up: Upgrade, gate: str = "") -> Failure | None:
    """Return the first open failure (of `gate`, or of any) that nobody has classified."""
    return next((one for one in up.open_failures if not one.class_ and gate in ("", one.gate)), None)


def how_to_classify(failure: Failure) -> str:
    """Return the command that says what kind of failure it is."""
    return f"git afd failure classify {failure.name} CLASS --why WHY"


def refuse_unclassified(up: Upgrade, gate: str) -> None:
    """Raise Refused when a failure of `gate` waits for its class: the next run of that gate would not count."""
    failure = unclassified(up, gate)
    if failure is not None:
        raise Refused(
            f"{failure.name} of gate {gate} (run {failure.run}) is not classified",
            how_to_classify(failure),
            code="unclassified-failure",
        )


def closed_by(up: Upgrade, gate: str, content: str, run: str) -> Iterator[dict[str, Json]]:
    """Yield the records that close what a passed `run` of `gate` on `content` (a digest) answers.

    A failure of the environment is answered only by the same content: other code proves nothing about it.
    """
    for failure in up.open_failures:
        same = up.runs[failure.run].bound.get("content") == content
        if failure.gate == gate and failure.class_ and (same or failure.class_ != ENVIRONMENT):
            yield {"op": "close", "failure": failure.name, "run": run}


def check_failure(up: Upgrade, cause: RootCause) -> None:
    """Raise Refused when a root cause names a failure that it cannot fix, or fixes one that it does not name."""
    if not cause.failure and cause.kind != "failure-fix":
        return
    failure = up.failures.get(cause.failure)
    known = ", ".join(one.name for one in up.open_failures) or "none"
    if failure is None or not failure.open:
        said = f"{cause.failure} is no open failure" if cause.failure else "a failure-fix names the failure it fixes"
        raise Refused(f"{said}; open: {known}", "--failure F-n, or another --kind", code="no-failure")
    if not failure.class_:
        raise Refused(f"{failure.name} is not classified", how_to_classify(failure), code="unclassified-failure")
    if failure.class_ == ENVIRONMENT:
        raise Refused(
            f"{failure.name} was classified as environment ({failure.why}); no change of the plugin may claim it",
            f"mend the environment, then git afd gate {failure.gate}",
            code="environment-failure",
        )
