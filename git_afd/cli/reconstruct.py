"""``git afd reconstruct``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome


@afd_command("reconstruct")
@click.argument("contract")
@click.option("--three-way", is_flag=True, help="Show the plugin's differences then and now, and what changes.")
@click.option("--drop", "dropped", multiple=True, metavar="Dn", help="Take the target's form for this deviation.")
@click.option("--write", is_flag=True, help="Put it in place: a clean file that an open root cause plans.")
@click.option("--at", metavar="REF", default="", help="Rebuild the function of another commit of the plugin.")
@click.option("--source", "sources", multiple=True, metavar="NAME=DIR", help="With --at: the clone of an upstream.")
@click.option("--current", "currents", multiple=True, metavar="NAME=REF", help="With --at: its current revision.")
@click.option("--target", "targets", multiple=True, metavar="NAME=REF", help="With --at: its target revision.")
@dry_run_option
def reconstruct(  # noqa: PLR0917 - click passes every option by name
    directory: Path,
    contract: str,
    three_way: bool,
    dropped: tuple[str, ...],
    write: bool,
    at: str,
    sources: tuple[str, ...],
    currents: tuple[str, ...],
    targets: tuple[str, ...],
    dry_run: bool,
) -> Outcome:
    """Rebuild a patch function on the exact target function, its marked blocks replayed.

    CONTRACT is an id of `git afd inventory --json`, a unique part of one, or the plugin's path::symbol.
    """
    from git_afd.actions.diff_at import Look
    from git_afd.actions.reconstruct import Request
    from git_afd.actions.reconstruct import reconstruct as act
    from git_afd.adapters.session import open_session
    from git_afd.core.freezing import named
    from git_afd.errors import UsageFault

    if not at and (sources or currents or targets):
        raise UsageFault("--source, --current and --target go with --at: an upgrade's are frozen", "add --at REF")
    folders = {name: directory / folder for name, folder in named("--source", sources).items()}
    look = Look(at, folders, named("--current", currents), named("--target", targets))
    return act(open_session(directory), Request(contract, look, dropped, three_way, write, dry_run))
