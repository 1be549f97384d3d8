"""``git afd diff``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome


@afd_command("diff")
@click.option("--from", "file", metavar="FILE", help="Read rows from a workbook file (TOML or JSON).")
@click.option("--replace", metavar="WHY", default="", help="Replace recorded rows that the decision rests on.")
@dry_run_option
def diff(directory: Path, file: str | None, replace: str, dry_run: bool) -> Outcome:
    """Phase 2: record what the target does to each contract; without options, show what is recorded."""
    from git_afd.actions.diff import Request
    from git_afd.actions.diff import diff as act
    from git_afd.adapters.session import open_session

    request = Request(directory / file if file else None, file or "", replace, dry_run)
    return act(open_session(directory), request)
