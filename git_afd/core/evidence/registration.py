"""Judges whether the target runtime loads the plugin under test: imported, found by its entry point, registered.

The interpreter is asked from an empty folder, as a server is started: what an import finds there is what is
installed, and a copy that somebody installed once is not the tree under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.core import shape
from git_afd.core.evidence.kept_facts import kept_facts
from git_afd.core.evidence.runtime_facts import Checkout, checkout_of
from git_afd.core.evidence.status import Status
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.runtime_rule import RuntimeRule

FILE: Final = "runtime/registration.json"
"""Name of the artifact that holds the raw facts."""

SCHEMA: Final = "git-afd/registration/1"

BROKEN: Final = ("plugin-import", "plugin-entry-point")
"""Codes of an import that failed: an environment or version failure until the runtime is proven (workflow, Phase 5)."""

_BLOCKING: Final = frozenset({"plugin-unknown", "plugin-not-installed", "plugin-not-called"})


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception inside the interpreter: its kind, its words, the module it did not find, where (``file:line``)."""

    kind: str
    text: str
    lacks: str = ""
    at: str = ""

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.kind}: {self.text}" if self.text else self.kind


@dataclass(frozen=True, slots=True)
class Entry:
    """One installed entry point of the plugin's name: who installed it, what it resolved to, whether it was called."""

    value: str
    distribution: str
    place: str
    origin: str
    called: bool
    fault: Fault | None
    checkout: Checkout | None


@dataclass(frozen=True, slots=True)
class Registration:
    """The raw facts. `root` is the tree under test, `runtime` whether vLLM is there to register with."""

    python: str
    reason: str
    root: str
    runtime: bool
    origin: str
    fault: Fault | None
    checkout: Checkout | None
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class RegistrationVerdict:
    """PASS only when the code under test was imported, found by its entry point and registered."""

    status: Status
    findings: tuple[Finding, ...]
    facts: Mapping[str, Json]


def parse_registration(data: bytes, file: str = FILE) -> Registration:
    """Read the raw facts. Raises EvidenceFault naming what is wrong."""
    return kept_facts(data, file, SCHEMA, _registration, "the facts of one interpreter as git afd writes them")


def judge_registration(found: Registration, rule: RuntimeRule, commit: str) -> RegistrationVerdict:
    """Judge the facts against the tree under test, which holds `commit` (full id)."""
    findings = tuple(_findings(found, rule, commit))
    errors = [one for one in findings if one.severity == "error"]
    status: Status = "FAIL" if any(one.code not in _BLOCKING for one in errors) else "BLOCKED" if errors else "PASS"
    facts: dict[str, Json] = {
        "status": status,
        "package": rule.package,
        "origin": found.origin,
        "entry_points": [
            {"distribution": one.distribution, "value": one.value, "origin": one.origin, "called": one.called}
            for one in found.entries
        ],
    }
    return RegistrationVerdict(status, findings, facts)


def _findings(found: Registration, rule: RuntimeRule, commit: str) -> Iterator[Finding]:
    if found.reason:
        yield Finding("plugin-unknown", found.python, found.reason, "give --python the target runtime's interpreter")
        return
    install = f"{found.python} -m pip install --no-deps -e {found.root}"
    entry_point = f"{rule.entry} of {rule.group}"
    lacking = [
        *([rule.package] if found.fault is not None and found.fault.lacks == rule.package else []),
        *([f"the entry point {entry_point}"] if not found.entries else []),
    ]
    if lacking:
        text = f"the plugin is not installed in {found.python}: it does not find {' nor '.join(lacking)}"
        yield Finding("plugin-not-installed", rule.package, text, install)
    if found.fault is not None and found.fault.lacks != rule.package:
        at = f" ({found.fault.at})" if found.fault.at else ""
        yield Finding("plugin-import", rule.package, f"importing {rule.package} failed: {found.fault}{at}", "")
    if found.fault is None:
        yield from _place(f"{rule.package} is imported", found.origin, found.checkout, found.root, commit, install)
    for entry in found.entries:
        yield from _of_entry(entry, entry_point, found, commit, install)
    if len(found.entries) > 1:
        places = ", ".join(f"{one.distribution} in {one.place}" for one in found.entries)
        yield Finding("plugin-twice", rule.package, f"{entry_point} is installed more than once: {places}", install)


def _of_entry(entry: Entry, name: str, found: Registration, commit: str, install: str) -> Iterator[Finding]:
    at = f" ({entry.fault.at})" if entry.fault and entry.fault.at else ""
    if not entry.origin:
        text = (
            f"{name}, {entry.value} of {entry.distribution}, cannot be loaded: {entry.fault or 'it has no source'}{at}"
        )
        yield Finding("plugin-entry-point", entry.distribution, text, "")
        return
    yield from _place(f"{name} resolves to code", entry.origin, entry.checkout, found.root, commit, install)
    if entry.fault is not None:
        text = f"{name} was called and failed: {entry.fault}{at}"
        yield Finding("plugin-registration", entry.distribution, text, "")
    elif not entry.called:
        text = f"{name} was found and not called: there is no vllm in {found.python} to register with"
        yield Finding("plugin-not-called", entry.distribution, text, "install the frozen targets there")


def _place(
    what: str, origin: str, checkout: Checkout | None, root: str, commit: str, install: str
) -> Iterator[Finding]:
    """Say where the code stands when that is not the tree under test; a clean tree of the same commit is as good."""
    if origin.startswith(f"{root}/"):
        return
    if checkout is not None and checkout.commit == commit and not (checkout.dirty or checkout.fault):
        text = f"{what} from {checkout.root}, a clean tree of the same commit"
        yield Finding("plugin-same-commit", origin, text, "", "note")
        return
    where = f"a checkout of {checkout.commit[:12]} at {checkout.root}" if checkout and checkout.commit else "a copy"
    text = f"{what} from {origin}, {where}, not from the tree under test {root}"
    yield Finding("plugin-elsewhere", origin, text, install)


def _registration(body: Mapping[str, Json]) -> Registration:
    return Registration(
        python=shape.text(body, "python"),
        reason=shape.text(body, "reason"),
        root=shape.text(body, "root"),
        runtime=shape.flag(body, "runtime"),
        origin=shape.text(body, "origin", ""),
        fault=_fault(body),
        checkout=checkout_of(shape.table(body, "checkout")),
        entries=tuple(_entry(one) for one in shape.tables(body, "entries")),
    )


def _fault(body: Mapping[str, Json]) -> Fault | None:
    said = shape.table(body, "fault")
    if not said:
        return None
    return Fault(*(shape.text(said, name, "") for name in Fault.__slots__))


def _entry(body: Mapping[str, Json]) -> Entry:
    return Entry(
        value=shape.text(body, "value"),
        distribution=shape.text(body, "distribution"),
        place=shape.text(body, "place"),
        origin=shape.text(body, "origin", ""),
        called=shape.flag(body, "called"),
        fault=_fault(body),
        checkout=checkout_of(shape.table(body, "checkout")),
    )
