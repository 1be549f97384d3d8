"""``git afd verify --patches``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command
from git_afd.core.outcome import Outcome


@afd_command("verify")
@click.argument("paths", nargs=-1)
@click.option("--patches", is_flag=True, help="Check patch functions: markers, headers, signatures, added lines.")
@click.option("--staged", is_flag=True, help="Look at what is staged (as a pre-commit hook does).")
@click.option("--base", default="HEAD", metavar="REF", show_default=True, help="Lines not there at REF are added ones.")
@click.option("--source", "sources", multiple=True, metavar="NAME=DIR", help="The clone of an upstream.")
@click.option("--current", "currents", multiple=True, metavar="NAME=REF", help="Its revision (default: the pin).")
def verify(  # noqa: PLR0917 - click passes every option by name
    directory: Path,
    paths: tuple[str, ...],
    patches: bool,
    staged: bool,
    base: str,
    sources: tuple[str, ...],
    currents: tuple[str, ...],
) -> Outcome:
    """Check the plugin's patch functions, with an upgrade open or without one.

    PATHS are files or folders, relative to the repository's root; without any, whatever changed, and (unless --staged)
    every file with marker blocks.
    """
    from git_afd.actions.verify_patches import Request, verify_patches
    from git_afd.adapters.session import open_session
    from git_afd.core.freezing import named
    from git_afd.errors import UsageFault

    if not patches:
        raise UsageFault("verify does not say what is to be verified", "git afd verify --patches")
    folders = {name: directory / folder for name, folder in named("--source", sources).items()}
    request = Request(paths, staged, base, folders, named("--current", currents))
    return verify_patches(open_session(directory), request)
