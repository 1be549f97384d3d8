"""Judges which vLLM and vLLM-Ascend a runtime would import: exactly the frozen target commits, or not.

Evidence in this order: the checkout that an import reads (commit and cleanliness), the content of the installed
package against the frozen commit, the commit that pip recorded. A version string proves nothing: two commits can
have the same one; it can only speak against.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from git_afd.core.evidence.runtime_facts import Checkout, Installed, Runtime
from git_afd.core.evidence.status import Status, worst
from git_afd.core.few import few
from git_afd.core.finding import Finding
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Json

Word = Literal["proven", "other", "absent", "unknown"]
"""proven; another commit or changed code stands there; nothing is there to import; it cannot be told."""

Contents = Mapping[str, Mapping[str, str] | None]
"""Upstream name to the frozen target's Python files (repository-relative path to blob id); None: not readable."""

_STATUS: Final[Mapping[Word, Status]] = {
    "proven": "PASS",
    "other": "FAIL",
    "absent": "BLOCKED",
    "unknown": "BLOCKED",
}
_GENERATED: Final = frozenset({"_version.py", "_build_info.py"})
"""Files that a build writes into the package and no commit holds."""

_SHA: Final = re.compile(r"\+(?:[0-9A-Za-z.]*\.)?g([0-9a-f]{7,40})\b")
_INSTALL: Final = "install the frozen target tree there (pip install -e), or name another interpreter with --python"


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known of one upstream in the runtime: the word, the sentence, the commit found (full id or empty)."""

    upstream: str
    word: Word
    why: str
    wanted: str
    commit: str = ""
    place: str = ""
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return the proof as ``data.runtime.upstreams[]``."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class RuntimeVerdict:
    """PASS only when both upstreams are proven."""

    status: Status
    proofs: tuple[Proof, ...]
    findings: tuple[Finding, ...]
    python: str = ""
    version: str = ""
    override: str | None = None

    @property
    def proven(self) -> bool:
        """Whether the runtime would import exactly the frozen pair."""
        return self.status == "PASS"

    @property
    def doubt(self) -> str:
        """What keeps it from being proven, in one line; empty when it is."""
        return "; ".join(proof.why for proof in self.proofs if proof.word != "proven")

    def as_json(self) -> dict[str, Json]:
        """Return the verdict as ``data.runtime``."""
        return {
            "status": self.status,
            "python": self.python,
            "version": self.version,
            "override": self.override,
            "upstreams": [proof.as_json() for proof in self.proofs],
        }


def judge_runtime(runtime: Runtime, wanted: Mapping[str, str], frozen: Contents) -> RuntimeVerdict:
    """Hold a runtime against the frozen target commits (`wanted`: upstream name to full id) and their files."""
    proofs = tuple(_proof(name, runtime, wanted[name], frozen.get(name)) for name in UPSTREAMS)
    status = worst(_STATUS[proof.word] for proof in proofs)
    findings = tuple(finding for proof in proofs for finding in _findings(proof))
    if runtime.override is not None:
        text = f"VLLM_VERSION={runtime.override} is set, which overrides vLLM's own version check"
        findings = (*findings, Finding("version-override", "VLLM_VERSION", text, "", "note"))
    return RuntimeVerdict(status, proofs, findings, runtime.python, runtime.version, runtime.override)


def _findings(proof: Proof) -> Iterator[Finding]:
    if proof.word != "proven":
        yield Finding(f"runtime-{proof.word}", proof.upstream, proof.why, _INSTALL)
    for note in proof.notes:
        yield Finding("runtime-note", proof.upstream, note, "", "note")


def _proof(name: str, runtime: Runtime, wanted: str, frozen: Mapping[str, str] | None) -> Proof:
    found = runtime.packages.get(name)
    if runtime.reason or found is None:
        return Proof(name, "unknown", runtime.reason or f"{runtime.python} says nothing of {name}", wanted)
    word, why, commit = _decide(name, runtime.python, found, wanted, frozen)
    return Proof(name, word, why, wanted, commit, found.origin, tuple(_notes(name, found, wanted)))


def _decide(
    name: str, python: str, found: Installed, wanted: str, frozen: Mapping[str, str] | None
) -> tuple[Word, str, str]:
    if found.fault:
        return "unknown", f"what {python} would import as {name} cannot be told: {found.fault}", ""
    if found.namespace:
        places = ", ".join(found.namespace)
        return (
            "unknown",
            f"{python} would import {name} as a namespace package from {places}: no code of vLLM's own",
            "",
        )
    if not found.origin:
        installed = "; ".join(f"{one.version} is installed in {one.place}" for one in found.distributions)
        said = f", though {installed}" if installed else ""
        return "absent", f"{name} is absent in {python}{said}", ""
    recorded = [one.commit for one in found.distributions if one.commit and one.commit != wanted]
    if found.checkout is not None:
        return _of_checkout(name, found.checkout, wanted, recorded)
    return _of_contents(name, found, wanted, recorded, frozen)


def _of_checkout(name: str, at: Checkout, wanted: str, recorded: list[str]) -> tuple[Word, str, str]:
    if at.fault or not at.commit:
        return "unknown", f"{name} would be imported from {at.root}, whose commit cannot be told: {at.fault}", ""
    if at.commit != wanted:
        text = f"{name} would be imported from {at.root} at commit {at.commit[:12]}; the frozen target is {wanted[:12]}"
        return "other", text, at.commit
    if at.dirty:
        text = f"{name} would be imported from {at.root}, which is not its commit: {few(at.dirty)}"
        return "other", text, at.commit
    if recorded:
        text = f"{name} would be imported from the frozen commit, but was installed (and built) from {recorded[0][:12]}"
        return "unknown", text, at.commit
    return "proven", f"{name} is {at.commit[:12]}, a clean checkout at {at.root}", at.commit


def _of_contents(
    name: str, found: Installed, wanted: str, recorded: list[str], frozen: Mapping[str, str] | None
) -> tuple[Word, str, str]:
    """Judge an installed copy by its content, then by what pip recorded; its version can only speak against it."""
    if recorded:
        return (
            "other",
            f"{name} was installed from commit {recorded[0][:12]}; the frozen target is {wanted[:12]}",
            recorded[0],
        )
    held = found.contents or {}
    pip = any(one.commit == wanted for one in found.distributions)
    if frozen is not None and held:
        changed = sorted(path for path in held.keys() & frozen.keys() if held[path] != frozen[path])
        lost = sorted(_lost(held, frozen))
        if changed or lost:
            differing = few([*changed, *(f"{path} (absent)" for path in lost)])
            text = f"{name} at {found.origin} is not the frozen target {wanted[:12]}: {differing}"
            return "other", text, ""
        strange = sorted(path for path in held.keys() - frozen.keys() if path.rpartition("/")[2] not in _GENERATED)
        if not strange or pip:
            return "proven", f"{name} at {found.origin} holds exactly the files of {wanted[:12]}", wanted
        text = f"{name} at {found.origin} holds files that the frozen target does not: {few(strange)}"
        return "unknown", text, ""
    if pip:
        return "proven", f"{name} was installed by pip from commit {wanted[:12]}", wanted
    return _of_version(name, found, wanted)


def _of_version(name: str, found: Installed, wanted: str) -> tuple[Word, str, str]:
    versions = [one.version for one in found.distributions]
    other = next((sha for sha in map(_sha, versions) if sha and not wanted.startswith(sha)), "")
    if other:
        return "other", f"{name} says version {versions[0]}; the frozen target is {wanted[:12]}", ""
    said = f"its version {versions[0]} does not prove a commit" if versions else "no distribution belongs to it"
    return "unknown", f"{name} would be imported from {found.origin}, and nothing proves its commit: {said}", ""


def _notes(name: str, found: Installed, wanted: str) -> Iterator[str]:
    if found.elsewhere:
        yield f"{name} stands elsewhere on the path too, behind what is imported: {few(found.elsewhere)}"
    versions = ", ".join(f"{one.version or 'no version'} in {one.place}" for one in found.distributions)
    if len(found.distributions) > 1:
        yield f"{len(found.distributions)} distributions are called {name}: {versions}"
    if found.origin and not found.distributions:
        yield f"no distribution of {name} is installed: its entry points are not"
    for one in found.distributions:
        if one.fault:
            yield f"what pip recorded of {name} in {one.place} cannot be read: {one.fault}"
        sha = _sha(one.version)
        if sha and not wanted.startswith(sha):
            yield f"{name} was installed as version {one.version}, of another commit"
    if found.checkout is not None and found.checkout.ignored:
        yield f"{name} holds source files that git ignores: {few(found.checkout.ignored)}"


def _lost(held: Mapping[str, str], frozen: Mapping[str, str]) -> Iterator[str]:
    """Yield frozen files that are gone; a wheel leaves out only folders that are no packages (no ``__init__.py``)."""
    whole = {path.rpartition("/")[0] for path in held} | {
        path.removesuffix("/__init__.py") for path in frozen if path.endswith("/__init__.py")
    }
    return (path for path in frozen.keys() - held.keys() if path.rpartition("/")[0] in whole)


def _sha(version: str) -> str:
    found = _SHA.search(version)
    return found.group(1) if found else ""
