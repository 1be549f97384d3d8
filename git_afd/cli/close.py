"""``git afd close``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome


@afd_command("close")
@click.option("--why", metavar="TEXT", required=True, help="The reason; it is shown for ever.")
@dry_run_option
def close(directory: Path, why: str, dry_run: bool) -> Outcome:
    """End an upgrade that will not be completed: closed, not complete, with what is owed."""
    from git_afd.actions.close import close as act
    from git_afd.adapters.session import open_session

    return act(open_session(directory), why, dry_run=dry_run)
