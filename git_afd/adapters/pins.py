"""Pins: refs of ours that keep the frozen commits alive, in the repository that owns the object."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from git_afd.adapters.git import Git
from git_afd.core.names import PIN_PREFIX
from git_afd.errors import Conflict


def pin_name(upgrade: str, upstream: str, side: str) -> str:
    """Return the full ref name of a pin."""
    return f"{PIN_PREFIX}{upgrade}/{upstream}/{side}"


def pin(git: Git, pins: Mapping[str, str]) -> None:
    """Hold commits (full ids) by refs (full names), all or none. A pin that is there already must hold the same.

    Raises Conflict when one holds another commit, or when git cannot write.
    """
    held = pinned(git, pins)
    wanted = [f"create {name} {commit}" for name, commit in pins.items() if held.get(name) != commit]
    if wanted:
        steps = "\n".join(["start", *wanted, "prepare", "commit", ""])
        done = git.run("update-ref", "--stdin", input=steps.encode(), locks=True)
        if not done.ok:
            raise Conflict(f"the pins of {git.cwd} cannot be written: {done.reason}", "run the same command again")


def unpin(git: Git, common_dir: Path, pins: Mapping[str, str]) -> None:
    """Remove pins that hold exactly these commits, and the folders of ours that are empty then."""
    for name, commit in pinned(git, pins).items():
        if pins[name] == commit:
            git.run("update-ref", "-d", name, commit, locks=True)
    for folder in (common_dir / PIN_PREFIX.removesuffix("/"), (common_dir / PIN_PREFIX).parent):
        with suppress(OSError):
            folder.rmdir()


def pinned(git: Git, pins: Mapping[str, str]) -> dict[str, str]:
    """Return those of the pins that exist, and what they hold."""
    if not pins:
        return {}
    listed = git("for-each-ref", "--format=%(refname) %(objectname)", *pins)
    found = (line.split(" ") for line in listed.splitlines())
    return {name: commit for name, commit in found if name in pins}
