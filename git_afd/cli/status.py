"""``git afd status`` and ``git afd next``."""

from __future__ import annotations

from pathlib import Path

from git_afd.cli.calling import afd_command, format_options
from git_afd.core.outcome import Outcome


@afd_command("status")
@format_options
def status(directory: Path) -> Outcome:
    """Show the twelve phases of this branch's upgrade: status, evidence, blocker, and the next allowed action."""
    from git_afd.actions.status import status as act
    from git_afd.adapters.session import open_session

    return act(open_session(directory, work_tree=False))


@afd_command("next")
def next(directory: Path) -> Outcome:  # noqa: A001 - the verb's name
    """Show only the next allowed action."""
    from git_afd.actions.status import next_allowed
    from git_afd.adapters.session import open_session

    return next_allowed(open_session(directory, work_tree=False))
