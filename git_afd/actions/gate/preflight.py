"""What a gate's prerequisites lack on this host, each by name, before anything starts (workflow, Phase 7)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from git_afd.actions.gate.host import lack
from git_afd.adapters.host import HostFacts
from git_afd.adapters.python_probe import missing_modules
from git_afd.core.needs import Needs, Wanted, wanted
from git_afd.core.policy import Gate, Policy


def lacking(gate: Gate, policy: Policy, facts: HostFacts, python: str, root: Path) -> tuple[str, ...]:
    """Return everything that is missing here: devices, programs, paths, modules of the interpreter `python`.

    `root` is the tree that the commands start in; relative paths are below it.
    """
    host = lack(gate, policy, facts)
    return tuple(filter(None, (host, *_needs(gate.needs, python, root))))


def _needs(needs: Needs, python: str, root: Path) -> Iterator[str]:
    for word in needs.tools:
        tool = wanted(word, os.environ)
        if not tool.value or shutil.which(tool.value) is None:
            yield _said(tool, "is no program on PATH")
    for word in needs.paths:
        path = wanted(word, os.environ)
        if not path.value or not (root / path.value).exists():
            yield _said(path, "does not exist")
    for name in missing_modules(python, needs.modules, cwd=root, env=os.environ):
        yield f"{python} has no module named {name}"


def _said(need: Wanted, wrong: str) -> str:
    return f"{need.shown} {wrong}" if need.value else f"the variable {need.variable} is not set"
