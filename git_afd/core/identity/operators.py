"""Operator packages that the plugin ships as binaries, and whether their ABI fits a Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from git_afd.core.finding import Finding


@dataclass(frozen=True, slots=True)
class Operator:
    """A shipped package: its name, its version (empty when its file name states none) and its path."""

    name: str
    version: str
    path: str

    @property
    def filename(self) -> str:
        """Return the last part of the path."""
        return self.path.rpartition("/")[2]


def operator_packages(paths: Iterable[str]) -> tuple[Operator, ...]:
    """Return the operator packages among the plugin's paths: wheels, and installers (``.run``: no version stated)."""
    found = []
    for path in sorted(paths):
        name = path.rpartition("/")[2]
        if name.endswith(".whl"):
            parts = name.split("-")
            found.append(Operator(parts[0], parts[1] if len(parts) > 1 else "", path))
        elif name.endswith(".run"):
            found.append(Operator(name.removesuffix(".run"), "", path))
    return tuple(found)


def abi_questions(operators: Iterable[Operator], python: str) -> Iterator[Finding]:
    """Yield a question for each wheel that does not fit `python` (``3.12``), or that cannot be judged."""
    for operator in operators:
        fault = wheel_fault(operator.filename, python) if operator.filename.endswith(".whl") else None
        if fault:
            remedy = "build the operator package for the target's Python"
            yield Finding("stack-operator-abi", operator.path, fault, remedy)


def wheel_fault(filename: str, python: str) -> str | None:
    """Say why a wheel does not fit a Python (``3.12``), None when its tags allow it; platforms are not judged."""
    try:
        _, _, _, tags = parse_wheel_filename(filename)
    except ValueError as error:
        return f"{filename} is no well-formed wheel name: {error}"
    if not python:
        return f"{filename} cannot be judged: the target's Python is not stated"
    release = (*Version(python).release, 0)[:2] if _is_version(python) else (0, 0)
    if any(_fits(tag.interpreter, tag.abi, release) for tag in tags):
        return None
    return f"{filename} does not fit the target's Python {python}"


def _fits(interpreter: str, abi: str, python: tuple[int, ...]) -> bool:
    major, minor = python[0], python[1]
    if interpreter in (f"py{major}", f"py{major}{minor}"):
        return True
    if interpreter == f"cp{major}{minor}":
        return True
    older = interpreter.removeprefix(f"cp{major}")
    return abi == f"abi{major}" and older.isdecimal() and int(older) <= minor


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:  # InvalidVersion, or more digits than int() takes
        return False
    return True
