"""The rules on root causes: what a plan must say, when it may be made, and with what it must not overlap.

Pure, and run inside the ledger's transaction: each rule judges exactly the state that the record will extend
(workflow, Phase 4; issue rules on overlap and order). Each raises the fault that stops the command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from git_afd.core.disposing import taken_by_others
from git_afd.core.failing import check_failure
from git_afd.core.names import UPSTREAMS, literal_path_fault, root_cause_number
from git_afd.core.outcome import Json
from git_afd.core.phases import PHASES, first_unsettled
from git_afd.core.policy import Policy, fits
from git_afd.core.state import ADAPTING, CLASSES, FATES, FATES_WITHOUT_CHANGE, RootCause, Upgrade
from git_afd.errors import Refused, UsageFault

LAYERS: Final = {
    1: "dependency and version contract, CPU-safe imports",
    2: "compatibility patches and initialization order",
    3: "model construction, factory binding, forward, weight policy",
    4: "NPU worker and model runner, forward context, graph, DBO, device mapping",
    5: "connectors, payload and topology integration",
    6: "focused tests and E2E scenarios",
}
"""The workflow's order of implementation (Phase 4)."""

TITLE_LENGTH: Final = 100
_ENTERED_AFTER: Final = {"adaptation": 3, "failure-fix": 3, "docs": 8, "lesson": 10}
_AMEND: Final = "git afd root-cause amend"


@dataclass(frozen=True, slots=True)
class UpstreamCause:
    """One upstream cause: the upstream's name, path and symbol there, and what changed."""

    upstream: str
    path: str
    symbol: str
    change: str


def parse_upstream(text: str) -> UpstreamCause:
    """Read ``upstream: path::symbol: change``. Raises UsageFault naming the text."""
    upstream, _, rest = text.partition(": ")
    path, _, rest = rest.partition("::")
    symbol, _, change = rest.partition(": ")
    parts = [part.strip() for part in (upstream, path, symbol, change)]
    if upstream not in UPSTREAMS:
        raise UsageFault(f"--upstream {text!r} names no upstream", f"begin with one of {', '.join(UPSTREAMS)}")
    if not all(parts) or literal_path_fault(parts[1]) or "\n" in text:
        raise UsageFault(f"--upstream {text!r} is not complete", "write 'vllm: path::symbol: change', the path literal")
    return UpstreamCause(*parts)


def planned_paths(cause: RootCause) -> tuple[str, ...]:
    """Return every path the root cause may change: its files, then the files of its focused tests."""
    return tuple(dict.fromkeys((*cause.files, *(test.partition("::")[0] for test in cause.tests))))


def next_name(up: Upgrade) -> str:
    """Return the next free ``RC-n``; numbers of withdrawn root causes are not used again."""
    return f"RC-{max((root_cause_number(name) or 0 for name in up.root_causes), default=0) + 1}"


def class_for(up: Upgrade, disposes: Iterable[str], given: str) -> str:
    """Return the class of a root cause: as given, else the weightiest class of what it disposes of."""
    items = up.diff.items if up.diff else {}
    found = [CLASSES.index(items[item]) for item in disposes if items.get(item) in CLASSES]
    return given or CLASSES[max(found, default=0)]


def same_plan(up: Upgrade, cause: RootCause) -> RootCause | None:
    """Return the live root cause with exactly this plan, None when there is none: adding it again adds nothing."""
    live = (old for old in up.root_causes.values() if old.status in ("open", "settled"))
    return next((old for old in live if body_of(old, "add") == body_of(replace(cause, name=old.name), "add")), None)


def body_of(cause: RootCause, op: str) -> dict[str, Json]:
    """Return the body of a root-cause record."""
    return {
        "root_cause": cause.name,
        "op": op,
        "title": cause.title,
        "kind": cause.kind,
        "upstream": list(cause.upstream),
        "class": cause.class_,
        "invariant": cause.invariant,
        "files": list(cause.files),
        "tests": list(cause.tests),
        "removal": cause.removal,
        "layer": cause.layer,
        "out_of_order": cause.out_of_order,
        "untested": cause.untested,
        "failure": cause.failure,
        "disposes": dict(cause.disposes),
    }


def check_plan(up: Upgrade, cause: RootCause, policy: Policy, shown: Mapping[str, str]) -> None:
    """Raise the first reason why `cause` cannot stand in `up` as it is; `shown` is what each phase shows now."""
    check_form(up, cause, policy, shown)
    check_failure(up, cause)
    _check_disposals(up, cause)
    _check_title(up, cause)
    _check_order(up, cause)
    _check_other_plans(up, cause)


def check_form(up: Upgrade, cause: RootCause, policy: Policy, shown: Mapping[str, str]) -> None:
    """Raise what is wrong with `cause` by itself, before anything else is looked at."""
    check_open(up)
    check_entry(cause.kind, shown)
    _check_words(cause)
    _check_paths(cause, policy)
    _check_tests_demanded(cause)


def check_open(up: Upgrade) -> None:
    """Refuse anything on a closed upgrade."""
    if up.closed:
        raise Refused(f"upgrade {up.id} is closed: {up.closed}", "git afd freeze -h")


def check_entry(kind: str, shown: Mapping[str, str]) -> None:
    """Refuse a kind of root cause before its phases are PASS (workflow: docs after accuracy, lesson after audit)."""
    last = PHASES[_ENTERED_AFTER[kind]]
    waiting = first_unsettled(shown, last.number + 1)
    if waiting is not None:
        status = shown.get(waiting.name, "not run")
        raise Refused(
            f"a root cause of kind {kind} needs {last.name} to be PASS, and {waiting.name} is {status}",
            waiting.command,
            code="phase-order",
        )


def check_overlap(cause: RootCause, dirty_at_freeze: Iterable[str], differing: Mapping[str, str]) -> None:
    """Refuse planned paths that hold a change of somebody else's.

    `differing` maps paths that are not as in HEAD now to how they differ; a path that was dirty at the freeze is
    free again once index and work tree equal HEAD.
    """
    dirty = set(dirty_at_freeze)
    for path in planned_paths(cause):
        if path in differing:
            since = "has been dirty since the freeze" if path in dirty else "differs from HEAD"
            raise Refused(
                f"{path} {since} ({differing[path]}), and the plan would mix it in",
                "bring the path back to HEAD yourself, or leave it out of the plan",
                code="overlap",
            )


def _check_words(cause: RootCause) -> None:
    if not cause.title.strip() or "\n" in cause.title or len(cause.title) > TITLE_LENGTH:
        raise UsageFault(f"the title is not one line of at most {TITLE_LENGTH} characters", "--title TEXT")
    for text in cause.upstream:
        parse_upstream(text)
    if not cause.files and not cause.disposes:
        raise UsageFault("the plan names no file and disposes of nothing", "--file PATH, or --disposes ITEM=kept")
    if cause.kind not in ADAPTING:
        return
    if not cause.invariant.strip():
        raise UsageFault(f"{cause.kind} {cause.title!r} does not say what it preserves", "--invariant TEXT")
    if cause.kind == "adaptation" and cause.files:
        if not cause.upstream:
            raise UsageFault("an adaptation names its upstream cause", "--upstream 'vllm: path::symbol: change'")
        if not cause.removal.strip():
            raise UsageFault("an adaptation says when it can go", "--removal TEXT (a removal or upstream plan)")


def _check_paths(cause: RootCause, policy: Policy) -> None:
    paths = planned_paths(cause)
    for path in paths:
        fault = literal_path_fault(path)
        if fault:
            raise UsageFault(f"planned path {path!r} {fault}", "name a file relative to the repository's root")
        place = _misplaced(cause.kind, path, policy)
        if place:
            raise Refused(f"{path} is {place}, which a root cause of kind {cause.kind} does not touch", _home(place))
    inside = next(((a, b) for a in paths for b in paths if b.startswith(a + "/")), None)
    if inside:
        raise UsageFault(f"planned path {inside[1]!r} lies below planned path {inside[0]!r}", "name files only")


def _misplaced(kind: str, path: str, policy: Policy) -> str:
    """Say what `path` is when this kind of root cause must leave it alone, empty when it may change it."""
    is_a = policy.kind_of(path)
    if is_a == "lesson":
        return "" if kind == "lesson" else "a lesson"
    if kind in ADAPTING:  # a fixture of a focused test may look like documentation (workflow, Phase 4)
        return "documentation" if is_a == "documentation" and not fits(path, policy.paths.tests) else ""
    return {"production": "production code", "test": "a test"}.get(is_a, "")


def _home(place: str) -> str:
    return {
        "a lesson": "plan it with --kind lesson, after FINAL_AUDIT",
        "documentation": "plan it with --kind docs, after NPU_ACCURACY_GATE",
    }.get(place, "plan it with --kind adaptation or failure-fix")


def _check_tests_demanded(cause: RootCause) -> None:
    if cause.kind in ADAPTING and cause.files and not cause.tests and not cause.untested.strip():
        raise Refused(
            f"{cause.kind} {cause.title!r} plans no focused test and gives no reason",
            "--test PATH-OR-ID, or --untested WHY",
            code="no-test",
        )


def _check_disposals(up: Upgrade, cause: RootCause) -> None:
    items = up.diff.items if up.diff else {}
    taken = taken_by_others(up, cause)
    for item, fate in cause.disposes.items():
        if fate not in FATES:
            raise UsageFault(f"--disposes {item}={fate} is no fate", f"one of {', '.join(FATES)}")
        if item not in items:
            raise Refused(f"{item} is no impact that the diff recorded", "git afd root-cause list")
        if item in taken:
            raise Refused(f"{item} is disposed of by {taken[item]} already", f"{_AMEND} {taken[item]}", code="overlap")
        if fate not in FATES_WITHOUT_CHANGE and not cause.files:
            raise Refused(f"{item} cannot be {fate} without a planned file", "--file PATH")
        if CLASSES.index(items[item]) > CLASSES.index(cause.class_):
            raise Refused(f"{item} is {items[item]}, and the plan says {cause.class_}", f"--class {items[item]}")


def _check_title(up: Upgrade, cause: RootCause) -> None:
    for old in up.root_causes.values():
        if old.title == cause.title and old.name != cause.name and old.status != "withdrawn":
            raise Refused(f"{old.name} has the title {cause.title!r} already", f"{_AMEND} {old.name}, or another title")


def _check_order(up: Upgrade, cause: RootCause) -> None:
    if cause.layer not in (0, *LAYERS):
        raise UsageFault(f"layer {cause.layer} is none of the workflow's", f"--layer 1 to {max(LAYERS)}")
    earlier = [old for old in up.open_root_causes if old.name != cause.name and 0 < old.layer < cause.layer]
    if earlier and not cause.out_of_order.strip():
        first = earlier[0]
        raise Refused(
            f"{first.name} of layer {first.layer} is open, and layer {cause.layer} comes after it",
            f"git afd commit --root-cause {first.name}, or --out-of-order WHY",
            code="layer-order",
        )


def _check_other_plans(up: Upgrade, cause: RootCause) -> None:
    mine = planned_paths(cause)
    for old in up.open_root_causes:
        if old.name == cause.name:
            continue
        for path in planned_paths(old):
            hit = next((own for own in mine if _overlap(own, path)), None)
            if hit is not None:
                raise Refused(
                    f"{hit} is planned by {old.name} already",
                    f"git afd commit --root-cause {old.name} first, or leave the path out",
                    code="overlap",
                )


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")
