"""``git afd hooks install|uninstall|status``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from git_afd.cli.calling import CONTEXT, afd_command, dry_run_option
from git_afd.cli.lazy import LazyGroup
from git_afd.core.outcome import Outcome

HOOKS_COMMANDS: Final = dict.fromkeys(("install", "uninstall", "status"), "hooks")


@click.group("hooks", cls=LazyGroup, verbs=HOOKS_COMMANDS, context_settings=CONTEXT, invoke_without_command=True)
@click.pass_context
def hooks(ctx: click.Context) -> None:
    """Let git check commits and pushes of an upgrade branch before they are made."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@afd_command("hooks.install")
@dry_run_option
def install(directory: Path, dry_run: bool) -> Outcome:
    """Install pre-commit, commit-msg and pre-push where git looks for them; hooks that are there keep running."""
    from git_afd.actions.hooks import hooks_install
    from git_afd.adapters.session import open_session

    return hooks_install(open_session(directory, work_tree=False), dry_run=dry_run)


@afd_command("hooks.uninstall")
@dry_run_option
def uninstall(directory: Path, dry_run: bool) -> Outcome:
    """Take git-afd's hooks away and put back what stood there before, byte for byte."""
    from git_afd.actions.hooks import hooks_uninstall
    from git_afd.adapters.session import open_session

    return hooks_uninstall(open_session(directory, work_tree=False), dry_run=dry_run)


@afd_command("hooks.status")
def status(directory: Path) -> Outcome:
    """Say where git looks for hooks here, and whether it runs git-afd's."""
    from git_afd.actions.hooks import hooks_status
    from git_afd.adapters.session import open_session

    return hooks_status(open_session(directory, work_tree=False))
