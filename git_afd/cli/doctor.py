"""``git afd doctor``."""

from __future__ import annotations

from pathlib import Path

from git_afd.cli.calling import afd_command
from git_afd.core.outcome import Outcome


@afd_command("doctor")
def doctor(directory: Path) -> Outcome:
    """Look for what would make git-afd unreliable here; changes nothing."""
    from git_afd.actions.doctor import doctor as act
    from git_afd.adapters.session import open_session

    return act(open_session(directory, work_tree=False))
