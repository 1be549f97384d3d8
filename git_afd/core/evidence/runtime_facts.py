"""The raw facts of a target runtime: what its interpreter would import, who installed it, which commit stands there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from git_afd.core import shape
from git_afd.core.evidence.kept_facts import kept_facts
from git_afd.core.outcome import Json

FILE: Final = "runtime/identity.json"
"""Name of the artifact that holds the raw facts."""

SCHEMA: Final = "git-afd/runtime-identity/1"


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution: version, the folder it is installed in, pip's record of where it came from.

    `fault` says why that record cannot be read.
    """

    version: str
    place: str
    commit: str = ""
    url: str = ""
    editable: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The git checkout that tracks the file an import reads; `commit` is a full id or empty, `fault` why unknown."""

    root: str
    commit: str
    dirty: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Installed:
    """What an interpreter says of one upstream. `contents` is given where no checkout tracks the files."""

    origin: str
    namespace: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    checkout: Checkout | None = None
    contents: Mapping[str, str] | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The raw facts: the interpreter, VLLM_VERSION when it is set, each upstream; `reason` says why it is silent."""

    python: str
    reason: str
    executable: str
    version: str
    override: str | None
    packages: Mapping[str, Installed]


def parse_runtime(data: bytes, file: str = FILE) -> Runtime:
    """Read the raw facts. Raises EvidenceFault naming what is wrong."""
    return kept_facts(data, file, SCHEMA, _runtime, "the facts of one interpreter as git afd writes them")


def checkout_of(body: Mapping[str, Json]) -> Checkout | None:
    """Read a checkout; None when there is none. Raises ShapeFault."""
    if not body:
        return None
    return Checkout(
        shape.text(body, "root"),
        shape.text(body, "commit"),
        shape.texts(body, "dirty"),
        shape.texts(body, "ignored"),
        shape.text(body, "fault"),
    )


def _runtime(body: Mapping[str, Json]) -> Runtime:
    override = body.get("override")
    if override is not None and not isinstance(override, str):
        raise shape.ShapeFault("override: a text or null was expected")
    return Runtime(
        python=shape.text(body, "python"),
        reason=shape.text(body, "reason"),
        executable=shape.text(body, "executable", ""),
        version=shape.text(body, "version", ""),
        override=override,
        packages={
            name: _installed(shape.table(shape.table(body, "packages"), name)) for name in shape.table(body, "packages")
        },
    )


def _installed(body: Mapping[str, Json]) -> Installed:
    return Installed(
        origin=shape.text(body, "origin"),
        namespace=shape.texts(body, "namespace"),
        elsewhere=shape.texts(body, "elsewhere"),
        distributions=tuple(_distribution(one) for one in shape.tables(body, "distributions")),
        checkout=checkout_of(shape.table(body, "checkout")),
        contents=shape.text_table(body, "contents") or None,
        fault=shape.text(body, "fault"),
    )


def _distribution(body: Mapping[str, Json]) -> Distribution:
    return Distribution(
        shape.text(body, "version"),
        shape.text(body, "place"),
        shape.text(body, "commit"),
        shape.text(body, "url"),
        shape.flag(body, "editable"),
        shape.text(body, "fault", ""),
    )
