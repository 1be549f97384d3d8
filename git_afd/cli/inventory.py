"""``git afd inventory``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome


@afd_command("inventory")
@click.option("--from", "file", metavar="FILE", help="Read rows from a workbook file (TOML or JSON).")
@click.option("--read", "reads", metavar="PATH", multiple=True, help="Record that you have read this document.")
@click.option("--replace", metavar="WHY", default="", help="Replace recorded rows that later phases rest on.")
@dry_run_option
def inventory(directory: Path, file: str | None, reads: tuple[str, ...], replace: str, dry_run: bool) -> Outcome:
    """Phase 1: record every contract and feature cell of the plugin; without options, show what is recorded."""
    from git_afd.actions.inventory import Request
    from git_afd.actions.inventory import inventory as act
    from git_afd.adapters.session import open_session

    request = Request(directory / file if file else None, file or "", reads, replace, dry_run)
    return act(open_session(directory), request)
