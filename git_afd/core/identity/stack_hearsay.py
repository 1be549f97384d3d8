"""What else speaks about the stack, and is never decisive: matrix, documentation settings, build files, vLLM's pins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from git_afd.core.identity import pins
from git_afd.core.identity.ascend import is_matrix, own_row

Said = tuple[str, str, str, int]
"""(member, value, path, line)."""

_SETTING: Final = re.compile(
    r"^\s*[\"']?(?P<key>cann_image_tag|main_\w+_version)[\"']?\s*:\s*[\"']?(?P<value>[^\"'\n#]+)", re.MULTILINE
)
_SETTINGS: Final = {
    "main_python_version": ("python",),
    "main_cann_version": ("cann",),
    "main_pytorch_torch_npu_version": ("torch", "torch_npu"),
    "main_triton_ascend_version": ("triton_ascend",),
}
_COLUMNS: Final = {
    "python": ("python",),
    "stable cann": ("cann",),
    "pytorch/torch_npu": ("torch", "torch_npu"),
    "triton ascend": ("triton_ascend",),
    "mooncake": ("mooncake",),
}
_CMAKE_TORCH: Final = re.compile(r"TORCH_VERSION\}?\"?\s+VERSION_EQUAL\s+\"(?P<value>[^\"]+)\"")
_PYTHON_REQUIRES: Final = re.compile(r"python_requires\s*=\s*[\"'](?P<value>[^\"']+)[\"']")
_IMAGE_TAG: Final = re.compile(r"(?P<cann>.+)-[^-]+-(?:ubuntu|openeuler)[^-]*-py(?P<python>\d+\.\d+)\Z", re.IGNORECASE)


def hearsay(texts: Mapping[str, str], names: Iterable[str], vllm_texts: Mapping[str, str]) -> Iterator[Said]:
    """Yield what the less authoritative files say. `vllm_texts` are the target vLLM's own metadata files."""
    names = tuple(names)
    for path, text in sorted(texts.items()):
        if is_matrix(path):
            yield from _matrix(path, text, names)
        elif path == "mkdocs.yml" or path.endswith("conf.py"):
            yield from _settings(path, text)
        elif path == "CMakeLists.txt":
            yield from _matches(_CMAKE_TORCH, "torch", path, text)
        elif path == "setup.py":
            yield from _matches(_PYTHON_REQUIRES, "python", path, text)
    for path, text in sorted(vllm_texts.items()):
        yield from _vllm_torch(path, text)


def _matrix(path: str, text: str, names: tuple[str, ...]) -> Iterator[Said]:
    row = own_row(text, names)
    for header, cell in zip(row.headers, row.cells, strict=False) if row else ():
        yield from _split(_COLUMNS.get(header.casefold(), ()), cell, path, row.line if row else 0)


def _settings(path: str, text: str) -> Iterator[Said]:
    for match in _SETTING.finditer(text):
        line = text.count("\n", 0, match.start("key")) + 1
        value = match["value"].strip().rstrip(",").strip()
        yield from _split(_SETTINGS.get(match["key"], ()), value, path, line)
        image = _IMAGE_TAG.match(value) if match["key"] == "cann_image_tag" else None
        if image:
            yield ("cann", image["cann"], path, line)
            yield ("python", image["python"], path, line)


def _split(members: tuple[str, ...], cell: str, path: str, line: int) -> Iterator[Said]:
    """Give each member its part of a cell (``2.10.0 / 2.10.0.post2``); ``N/A`` and placeholders say nothing."""
    parts = cell.split("/") if len(members) > 1 else [cell]
    if cell.strip().upper() == "N/A" or "{{" in cell:
        return
    for member, part in zip(members, parts, strict=False):
        if any(character.isdigit() for character in part):
            yield (member, part.strip(), path, line)


def _matches(pattern: re.Pattern[str], member: str, path: str, text: str) -> Iterator[Said]:
    for match in pattern.finditer(text):
        yield (member, match["value"], path, text.count("\n", 0, match.start()) + 1)


def _vllm_torch(path: str, text: str) -> Iterator[Said]:
    try:
        found = pins.pyproject_pins(text) if path.endswith(".toml") else pins.requirements_pins(text)
    except pins.UnreadableToml:
        return  # vLLM's own metadata is no NPU evidence; what cannot be read adds nothing
    for pin in found:
        if pin.name == "torch":
            yield ("torch", pin.text, f"vllm:{path}", pin.line)
