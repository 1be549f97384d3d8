"""The Python environment that an upgrade starts in. Corroboration only: it never decides which version is current."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import Final

from git_afd.core.outcome import Json

_PACKAGES: Final = ("vllm", "vllm-ascend", "torch", "torch-npu", "triton-ascend")
_VARIABLES: Final = ("VIRTUAL_ENV", "CONDA_PREFIX", "VLLM_VERSION", "VLLM_PLUGINS")
"""VLLM_VERSION overrides vLLM's own version check, so it belongs to the identity."""


def python_environment() -> dict[str, Json]:
    """Describe the environment: its Python and packages of interest (``absent`` when not installed), variables set.

    Where the shell has no environment activated it is the one that runs this program.
    """
    prefix = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX") or sys.prefix
    return {
        "prefix": prefix,
        "python": shutil.which("python3") or sys.executable,
        "running": platform.python_version(),
        "packages": _packages(Path(prefix)),
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }


def _packages(prefix: Path) -> dict[str, Json]:
    if prefix == Path(sys.prefix):
        return {name: _version(name) for name in _PACKAGES}
    folders = [str(folder) for folder in sorted(prefix.glob("lib*/python*/site-packages"))]
    found = {one.name.lower().replace("_", "-"): one.version for one in distributions(path=folders) if one.name}
    return {name: found.get(name, "absent") for name in _PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
