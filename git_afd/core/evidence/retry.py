"""A retry changes one thing: a knob, or the code (workflow, Phase 7: not multiple runtime knobs and code in one)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from git_afd.core.evidence.raw_run import RawRun
from git_afd.core.finding import Finding
from git_afd.core.outcome import Json
from git_afd.core.records import canonical

_NO_KNOBS: Final = frozenset({"VIRTUAL_ENV", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"})
"""Variables that only repeat which interpreter runs, or say who started it."""


_PYTHON: Final = "the interpreter"
_BROUGHT: Final = "the runtime's packages"


def knobs(raw: RawRun) -> dict[str, str]:
    """Return the settings that a run was made with, by name: variables, interpreter, packages, CANN, driver.

    The commands' own arguments are the frozen policy's; a run with others is not judged as that command at all.
    """
    variables = {name: value for name, value in raw.environment.items() if name not in _NO_KNOBS}
    return {
        **{f"variable {name}": value for name, value in variables.items()},
        _PYTHON: raw.python,
        _BROUGHT: canonical(_packages(raw)),
        "CANN": canonical(_part(raw.host, "cann").get("version")),
        "the NPU driver": canonical(_part(raw.host, "npu").get("driver")),
    }


def turned(failed: RawRun, retry: RawRun) -> tuple[str, ...]:
    """Return the knobs that differ between a failed run and its retry, by name.

    Another interpreter brings packages of its own: that is one change, not two.
    """
    then, now = knobs(failed), knobs(retry)
    names = {name for name in then.keys() | now.keys() if then.get(name) != now.get(name)}
    return tuple(sorted(names - {_BROUGHT} if _PYTHON in names else names))


def judge_retry(run: str, failed: RawRun, retry: RawRun) -> Iterator[Finding]:
    """Yield a finding when `retry` changes more than one thing against `failed`, which the ledger calls `run`."""
    changed = turned(failed, retry)
    code = failed.identity.content != retry.identity.content
    if len(changed) + code <= 1 or not changed:
        return
    said = f"{', '.join(changed)}{' and the code' if code else ''}"
    text = f"against the failed run {run} this one changes {said}: which of them answers it cannot be told"
    yield Finding("retry-changes", run, text, "change one of them at a time")


def _packages(raw: RawRun) -> dict[str, Json]:
    """Return what says which packages ran; not the plugin, whose source is the code under test."""
    packages = _part(_part(raw.host, "python"), "packages")
    named = {name: body if isinstance(body, dict) else {"version": body} for name, body in packages.items()}
    own = {name for name, body in named.items() if str(body.get("location", "")).startswith(f"{raw.root}/")}
    told = ("version", "commit", "source_commit")
    return {name: [body.get(key) for key in told] for name, body in named.items() if name not in own}


def _part(body: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = body.get(name)
    return value if isinstance(value, dict) else {}
