"""The environment of a gate's commands: what they start with, what may not lower anything, what a record keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

_BENDS: Final = frozenset(
    {"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONOPTIMIZE", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONHOME"}
)
"""What changes which tests pytest selects, or whether Python checks at all (-O drops every assert)."""

_PLUGINS: Final = {"native": "ascend", "basic": "ascend,afd", "accuracy": "ascend,afd"}
_STEERS: Final = ("AFD_", "VLLM_", "ASCEND_", "PYTHON", "PYTEST_", "HCCL_", "HF_", "VIRTUAL_ENV")
_SECRET: Final = ("TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL")


def environment_of(gate: str, own: Mapping[str, str], inherited: Mapping[str, str]) -> dict[str, str]:
    """Return what a command of `gate` starts with: nothing that bends a test run, and the policy's word last.

    The native control sees no AFD variable and only vLLM-Ascend's plugin; the AFD cells load both (workflow,
    Phase 6). `own` is the command's environment in the policy, placeholders filled in.
    """
    kept = {name: value for name, value in inherited.items() if name not in _BENDS and name != "VLLM_PLUGINS"}
    if gate == "native":
        kept = {name: value for name, value in kept.items() if not name.startswith("AFD_")}
    plugins = {"VLLM_PLUGINS": _PLUGINS[gate]} if gate in _PLUGINS else {}
    return {**kept, **plugins, "PYTHONDONTWRITEBYTECODE": "1", **own}


def shown_environment(environment: Mapping[str, str], steers: Callable[[str], bool]) -> dict[str, str]:
    """Return the part of an environment that a record keeps: what steers a run, and nothing that looks secret.

    `steers` says of a name whether the policy speaks of it.
    """
    return {
        name: value
        for name, value in sorted(environment.items())
        if (name.startswith(_STEERS) or steers(name)) and not any(word in name.upper() for word in _SECRET)
    }
