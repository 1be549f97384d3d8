"""What the policy says of the target runtime, and the checks that a gate makes besides its commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

IDENTITY: Final = "runtime-identity"
REGISTRATION: Final = "plugin-registration"
PATCHES: Final = "patches"
FOCUSED: Final = "focused-tests"

CHECKS: Final = (IDENTITY, REGISTRATION, PATCHES, FOCUSED)
"""Checks that a policy may ask of a gate: each has a name and a verdict of its own, like a command."""


@dataclass(frozen=True, slots=True)
class RuntimeRule:
    """How the plugin enters the runtime: its package, and the entry point that registers it."""

    package: str = "afd_plugin"
    group: str = "vllm.general_plugins"
    entry: str = "afd"
