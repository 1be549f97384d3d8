"""Exact pins and lockfiles: what a package's own metadata demands (rank 1)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_EXACT: Final = ("==", "===")
_URL_REV: Final = re.compile(r"@(?P<rev>[^@#/]+)(?:#.*)?\Z")
_LOCK_REV: Final = re.compile(r"(?:[?&](?:rev|tag)=(?P<rev>[^&#]+))?(?:#(?P<id>[0-9a-f]{7,64}))?\Z")
_QUOTED: Final = re.compile(r"[\"']([A-Za-z][\w.-]*\s*(?:\[[^\]\n]*\])?\s*(?:===?|@)[^\"'\n]+)[\"']")


class UnreadableToml(Exception):
    """A TOML file that cannot be parsed; its text says why."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A package held at exactly one version or git revision, with the line (from 1) that says so."""

    name: str
    text: str
    line: int


def pyproject_pins(text: str) -> tuple[Pin, ...]:
    """Return the exact pins of a pyproject.toml: build requirements, dependencies, extras, groups, uv sources.

    Raises `UnreadableToml`.
    """
    data = _toml(text)
    project, tool = _table(data, "project"), _table(data, "tool")
    requirements = [
        *_strings(_table(data, "build-system").get("requires")),
        *_strings(project.get("dependencies")),
        *_strings(list(_table(project, "optional-dependencies").values())),
        *_strings(list(_table(data, "dependency-groups").values())),
    ]
    pins = [pin for requirement in requirements if (pin := requirement_pin(requirement, _line(text, requirement)))]
    sources = _table(_table(tool, "uv"), "sources")
    for name in sources:
        source = _table(sources, name)
        rev = source.get("rev") or source.get("tag")
        if isinstance(rev, str):
            pins.append(Pin(canonicalize_name(name), rev, _line(text, rev)))
    return tuple(dict.fromkeys(pins))


def pinned(text: str, name: str) -> str:
    """Return the version at which a pyproject.toml holds a package, empty when it holds none or cannot be read."""
    try:
        return next((pin.text for pin in pyproject_pins(text) if pin.name == name), "")
    except UnreadableToml:
        return ""


def requires_python(text: str) -> tuple[str, int]:
    """Return ``project.requires-python`` of a pyproject.toml and its line, empty and 0 when not stated."""
    stated = _table(_toml(text), "project").get("requires-python")
    return (stated, _line(text, "requires-python")) if isinstance(stated, str) else ("", 0)


def requirements_pins(text: str) -> tuple[Pin, ...]:
    """Return the exact pins of a requirements or constraints file. Lines that are no requirement are skipped."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        pin = requirement_pin(re.split(r"\s#|\s--hash|\s*\\\Z", line)[0], number)
        if pin:
            found.append(pin)
    return tuple(found)


def quoted_pins(text: str) -> tuple[Pin, ...]:
    """Return the exact pins that stand as quoted requirements in a setup.py or setup.cfg."""
    found = (requirement_pin(match[1], text.count("\n", 0, match.start()) + 1) for match in _QUOTED.finditer(text))
    return tuple(pin for pin in found if pin)


def lockfile_pins(text: str, names: tuple[str, ...]) -> tuple[Pin, ...]:
    """Return what a TOML lockfile (uv, poetry, pdm, pylock) holds of the packages `names`.

    A package from git is pinned by its commit, one from a registry by its version. Raises `UnreadableToml`.
    """
    data = _toml(text)
    packages = data.get("package") or data.get("packages")
    found = [
        _locked(package, text)
        for package in (packages if isinstance(packages, list) else [])
        if isinstance(package, dict) and canonicalize_name(str(package.get("name", ""))) in names
    ]
    return tuple(pin for pin in found if pin.text)


def requirement_pin(text: str, line: int) -> Pin | None:
    """Return the pin of one requirement (PEP 508), None when it allows more than one version or is none.

    ``vllm==0.19.*`` and ``vllm>=0.19`` pin nothing; ``vllm @ git+https://…@v0.19.1`` pins a revision.
    """
    try:
        requirement = Requirement(text.strip())
    except (InvalidRequirement, ValueError, RecursionError):
        return None
    name = canonicalize_name(requirement.name)
    if requirement.url:
        rev = _URL_REV.search(requirement.url) if requirement.url.startswith("git+") else None
        return Pin(name, rev["rev"], line) if rev else None
    for specifier in requirement.specifier:
        if specifier.operator in _EXACT and not specifier.version.endswith(".*"):
            return Pin(name, specifier.version, line)
    return None


def _locked(package: dict[str, Any], text: str) -> Pin:
    name = str(package.get("name"))
    line = _line(text, f'name = "{name}"')
    source = package.get("source")
    source = source if isinstance(source, dict) else {}
    vcs = package.get("vcs")
    commit = source.get("resolved_reference") or (vcs.get("commit-id") if isinstance(vcs, dict) else None)
    if isinstance(source.get("git"), str):
        match = _LOCK_REV.search(source["git"])
        commit = match and (match["id"] or match["rev"])
    return Pin(canonicalize_name(name), str(commit or package.get("version") or ""), line)


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise UnreadableToml(str(error).splitlines()[0] if str(error) else type(error).__name__) from error


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _line(text: str, needle: str) -> int:
    offset = text.find(needle)
    return text.count("\n", 0, offset) + 1 if offset >= 0 else 1
