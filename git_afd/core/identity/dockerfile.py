"""Reading a Dockerfile: defaults of its arguments, its base image, and the packages it installs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from packaging.utils import canonicalize_name

_ARG: Final = re.compile(
    r"\s*(?:ARG|ENV)\s+(?P<name>[A-Za-z_]\w*)[=\s]\s*(?P<value>\"[^\"]*\"|'[^']*'|\S*)", re.IGNORECASE
)
_FROM: Final = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(?P<image>\S+)", re.IGNORECASE)
_USE: Final = re.compile(r"\$(?:\{(?P<braced>\w+)(?::?-(?P<default>[^}]*))?\}|(?P<plain>\w+))")
_PACKAGE: Final = re.compile(r"(?<![\w./-])(?P<name>[A-Za-z][\w.-]*)(?:\[[\w,]*\])?==(?P<version>[^\s\"'|&;,]+)")
_WHEEL: Final = re.compile(r"(?<![\w-])(?P<name>[A-Za-z]\w*)-(?P<version>\d[\w.%+!]*)-[\w${}.]+-[\w${}.-]+\.whl")
_UNINSTALL: Final = re.compile(r"\bpip3?\s+uninstall\b(?P<rest>[^&|;\n]*)")
_CANN_IMAGE: Final = re.compile(
    r"/cann:(?P<cann>.+)-(?P<chip>[^-]+)-(?P<system>(?:ubuntu|openeuler)[^-]*)-py(?P<python>\d+\.\d+(?:\.\d+)?)\Z",
    re.IGNORECASE,
)
_MOST_USES: Final = 20


@dataclass(frozen=True, slots=True)
class Stated:
    """A value with the name it stands under and its line (from 1)."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Image:
    """What a Dockerfile says, arguments replaced by their defaults.

    `args` are ARG and ENV defaults in order, `base` the image of the last FROM, `packages` exact pip versions and
    wheels (names in canonical form), `removed` packages that are uninstalled and not installed again afterwards.
    """

    args: tuple[Stated, ...]
    base: Stated | None
    packages: tuple[Stated, ...]
    removed: tuple[Stated, ...]

    def arg(self, name: str) -> Stated | None:
        """Return the last non-empty default of an argument, None when it says nothing."""
        found = None
        for arg in self.args:
            if arg.name == name and arg.value:
                found = arg
        return found

    def cann_and_python(self) -> tuple[Stated, Stated] | None:
        """Return CANN and Python from the tag of a CANN base image (``cann:9.0.1-a3-openeuler24.03-py3.12``)."""
        match = _CANN_IMAGE.search(self.base.value) if self.base else None
        if match is None or self.base is None:
            return None
        return Stated("cann", match["cann"], self.base.line), Stated("python", match["python"], self.base.line)


def read_dockerfile(text: str) -> Image:
    """Read any text as a Dockerfile. Total: what is not understood says nothing."""
    args: list[Stated] = []
    values: dict[str, str] = {}
    base: Stated | None = None
    packages: list[Stated] = []
    removed: dict[str, Stated] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("#"):
            continue
        if arg := _ARG.match(line):
            values[arg["name"]] = _filled(arg["value"].strip("\"'"), values)
            args.append(Stated(arg["name"], values[arg["name"]], number))
        elif image := _FROM.match(line):
            base = Stated("FROM", _filled(image["image"], values), number)
        else:
            removed.update(_uninstalled(line, number))
            for package in _installed(_filled(line, values), number):
                packages.append(package)
                removed.pop(package.name, None)
    return Image(tuple(args), base, tuple(packages), tuple(removed.values()))


def _filled(text: str, values: dict[str, str]) -> str:
    """Replace ``$NAME``, ``${NAME}`` and ``${NAME:-default}`` by known values; an unknown name stays as it is."""

    def value(match: re.Match[str]) -> str:
        known = values.get(match["braced"] or match["plain"], "")
        return known or match["default"] or match[0]

    return _USE.sub(value, text, count=_MOST_USES)


def _installed(line: str, number: int) -> list[Stated]:
    found = [*_PACKAGE.finditer(line), *_WHEEL.finditer(line.replace("%2B", "+"))]
    return [
        Stated(canonicalize_name(match["name"]), match["version"], number)
        for match in found
        if "$" not in match["version"]
    ]


def _uninstalled(line: str, number: int) -> dict[str, Stated]:
    names = [word for match in _UNINSTALL.finditer(line) for word in match["rest"].split() if word[:1].isalpha()]
    return {canonicalize_name(name): Stated(canonicalize_name(name), "", number) for name in names}
