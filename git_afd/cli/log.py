"""``git afd log``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command, format_options
from git_afd.core.outcome import Outcome


@afd_command("log")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only records of this kind; repeatable.")
@click.option("--upgrade", default="", metavar="ID", help="Only records of this upgrade.")
@click.option("--run", "run_name", default="", metavar="RUN", help="Only the records of this run.")
@click.option("--damage", is_flag=True, help="Only what cannot be read, with the place and the reason.")
@format_options
def log(directory: Path, kinds: tuple[str, ...], upgrade: str, run_name: str, damage: bool) -> Outcome:
    """Show the ledger's records in order, and what in it cannot be read."""
    from git_afd.actions.log import Wanted
    from git_afd.actions.log import log as act
    from git_afd.adapters.session import open_session

    return act(open_session(directory, work_tree=False), Wanted(kinds, upgrade, run_name, damage))
