"""``git afd freeze``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome


@afd_command("freeze")
@click.option("--source", "sources", multiple=True, metavar="NAME=DIR", help="The clone of an upstream. Never changed.")
@click.option("--target", "targets", multiple=True, metavar="NAME=REF", help="The revision to upgrade to.")
@click.option("--current", "currents", multiple=True, metavar="NAME=REF", help="The revision in use; else inferred.")
@click.option("--branch", default="", metavar="NAME", help="The upgrade's branch; created here when it is new.")
@click.option("--worktrees", default="", metavar="DIR", help="Folder of target worktrees (default: in the git dir).")
@click.option("--explain", is_flag=True, help="Show every statement about a version and what it resolves to.")
@dry_run_option
def freeze(  # noqa: PLR0917 - click passes every option by name
    directory: Path,
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    currents: tuple[str, ...],
    branch: str,
    worktrees: str,
    explain: bool,
    dry_run: bool,
) -> Outcome:
    """Freeze the identity of an upgrade: four commits, their pairs and stack, the plugin's own state (phase 0).

    NAME is vllm or vllm-ascend; give --source and --target for both.
    """
    from git_afd.actions.freeze import freeze as act
    from git_afd.adapters.session import open_session
    from git_afd.core.freezing import Request, named

    request = Request(
        sources=named("--source", sources),
        targets=named("--target", targets),
        currents=named("--current", currents),
        branch=branch,
        worktrees=worktrees,
        explain=explain,
        dry_run=dry_run,
    )
    return act(open_session(directory), request, directory)
