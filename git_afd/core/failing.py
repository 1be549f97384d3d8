"""Failures of gates: what each records, when it must be classified, what closes it (workflow, Phases 5 to 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from git_afd.core.outcome import Json
from git_afd.core.state import ADAPTING, ENVIRONMENT, NATIVE, REPEATABLE, UNKNOWN, Failure, RootCause, Upgrade
from git_afd.errors import Refused


def next_failure(up: Upgrade) -> str:
    """Return the next free ``F-n``."""
    return f"F-{len(up.failures) + 1}"


def opened_body(name: str, run: str, gate: str, facts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the record that opens a failure; of `facts` the state keeps what failed, the rest is for readers."""
    return {"op": "open", "failure": name, "run": run, "gate": gate, **facts}


def classified_body(name: str, class_: str, why: str, *, architecture: bool = False) -> dict[str, Json]:
    """Return the record of somebody's word on what kind of failure it is."""
    body: dict[str, Json] = {"op": "classify", "failure": name, "class": class_, "why": why}
    return {**body, "architecture": True} if architecture else body


def failure_of(up: Upgrade, name: str, gate: str) -> Failure:
    """Return the failure `name` of `gate`. Raises Refused when there is none."""
    failure = up.failures.get(name)
    if failure is None or failure.gate != gate:
        known = ", ".join(one.name for one in up.failures.values() if one.gate == gate) or "none"
        raise Refused(
            f"{name} is no failure of gate {gate}; there is {known}", "git afd failure list", code="no-failure"
        )
    return failure


def unclassified(up: Upgrade, gate: str = "") -> Failure | None:
    """Return the first open failure (of `gate`, or of any) whose kind nobody has decided: *unknown* is no decision."""
    return next((one for one in up.open_failures if one.undecided and gate in ("", one.gate)), None)


def how_to_classify(failure: Failure) -> str:
    """Return the command that says what kind of failure it is."""
    return f"git afd failure classify {failure.name} CLASS --why WHY"


def refuse_unclassified(up: Upgrade, gate: str = "") -> None:
    """Raise Refused when a failure of `gate` (of any, when empty) waits for its class: no next step before that."""
    failure = unclassified(up, gate)
    if failure is None:
        return
    said = f"is classified as unknown ({failure.why}), which decides nothing" if failure.class_ else "is not classified"
    raise Refused(
        f"{failure.name} of gate {failure.gate} (run {failure.run}) {said}",
        how_to_classify(failure),
        code="unknown-failure" if failure.class_ else "unclassified-failure",
    )


def refuse_parity(up: Upgrade, gate: str) -> None:
    """Raise Refused when a failure of the native runtime stops AFD parity testing (workflow, Phase 6).

    It does until the native control has passed again since somebody called it that.
    """
    if gate not in ("basic", "accuracy"):
        return
    failure = native_failure(up)
    if failure is not None:
        raise Refused(
            f"{failure.name} is a failure of the native runtime ({failure.why}): no AFD test before the native control "
            "passes again",
            "git afd gate native",
            code="native-failure",
        )


def native_failure(up: Upgrade) -> Failure | None:
    """Return the first open failure of the native runtime that no native control has passed after."""
    natives = (run for run in up.runs.values() if run.gate == "native" and run.status == "PASS")
    newest = max((run.seq for run in natives if not run.diagnostic), default=0)
    return next((one for one in up.open_failures if one.class_ == NATIVE and one.classified > newest), None)


def refuse_repetition(up: Upgrade, gate: str, content: str) -> None:
    """Raise Refused when a gate would only be repeated on the `content` (a digest) that failed as the plugin's fault.

    A repetition that happened to pass would prove nothing about it.
    """
    for failure in up.open_failures:
        same = up.runs[failure.run].bound.get("content") == content
        if failure.gate == gate and same and not failure.undecided and failure.class_ not in REPEATABLE:
            raise Refused(
                f"{failure.name} ({failure.class_}) failed on exactly this content: a repetition would prove nothing",
                f"fix it, or say what else it was: {how_to_classify(failure)}",
                code="repetition",
            )


def closed_by(up: Upgrade, gate: str, content: str, run: str) -> Iterator[dict[str, Json]]:
    """Yield the records that close what a passed `run` of `gate` on `content` (a digest) answers.

    A failure of the environment is answered only by the same content: other code proves nothing about it. One of
    the plugin is answered only by other content: a repetition proves nothing about that.
    """
    for failure in up.open_failures:
        same = up.runs[failure.run].bound.get("content") == content
        answers = same if failure.class_ == ENVIRONMENT else not same or failure.class_ in REPEATABLE
        if failure.gate == gate and not failure.undecided and answers:
            yield {"op": "close", "failure": failure.name, "run": run}


def check_failure(up: Upgrade, cause: RootCause) -> None:
    """Raise Refused when a root cause names a failure that it cannot fix, or fixes one that it does not name.

    Before anything else is adapted somebody says what kind of failure each open one is.
    """
    if cause.failure or cause.kind == "failure-fix":
        _check_named(up, cause)
    elif cause.kind in ADAPTING:
        refuse_unclassified(up)


def refuse_claim(up: Upgrade, cause: RootCause, words: str = "") -> None:
    """Raise Refused when a root cause, or the `words` of its commit, claim a failure of the environment by name."""
    for failure in up.failures.values():
        if failure.class_ != ENVIRONMENT:
            continue
        if cause.failure == failure.name or failure.name in _names(words):
            raise Refused(
                f"{failure.name} was classified as environment ({failure.why}); no change of the plugin may claim it",
                f"mend the environment, then git afd gate {failure.gate}",
                code="environment-failure",
            )


def _names(words: str) -> set[str]:
    return {word.strip(".,;:()[]'\"") for word in words.split()}


def _check_named(up: Upgrade, cause: RootCause) -> None:
    failure = up.failures.get(cause.failure)
    known = ", ".join(one.name for one in up.open_failures) or "none"
    if failure is None or not failure.open:
        said = f"{cause.failure} is no open failure" if cause.failure else "a failure-fix names the failure it fixes"
        raise Refused(f"{said}; open: {known}", "--failure F-n, or another --kind", code="no-failure")
    if failure.undecided:
        said = "is classified as unknown" if failure.class_ == UNKNOWN else "is not classified"
        raise Refused(f"{failure.name} {said}", how_to_classify(failure), code="unclassified-failure")
    refuse_claim(up, cause)
    if failure.failing and not cause.tests:
        raise Refused(
            f"{cause.title!r} fixes {failure.name}, on which tests failed, and plans no regression test",
            "--test PATH-OR-ID: the test that fails without the fix",
            code="no-regression-test",
        )
