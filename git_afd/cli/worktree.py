"""``git afd worktree list`` and ``remove``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import CONTEXT, afd_command, dry_run_option
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Outcome


@click.group("worktree", context_settings=CONTEXT, invoke_without_command=True)
@click.pass_context
def worktree(ctx: click.Context) -> None:
    """See and remove the target worktrees that freezes have made."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@afd_command("worktree.list", name="list")
def list_(directory: Path) -> Outcome:
    """List the target trees of every upgrade and their state."""
    from git_afd.actions.worktree import worktree_list
    from git_afd.adapters.session import open_session

    return worktree_list(open_session(directory, work_tree=False))


@afd_command("worktree.remove", name="remove")
@click.argument("names", nargs=-1, metavar="[vllm|vllm-ascend]...", type=click.Choice(UPSTREAMS))
@click.option("--upgrade", default="", metavar="ID", help="Of this upgrade, not of the branch's.")
@dry_run_option
def remove(directory: Path, names: tuple[str, ...], upgrade: str, dry_run: bool) -> Outcome:
    """Remove target worktrees that are ours and clean; git afd freeze puts them back."""
    from git_afd.actions.worktree import worktree_remove
    from git_afd.adapters.session import open_session

    return worktree_remove(open_session(directory, work_tree=False), names, upgrade, dry_run=dry_run)


worktree.add_command(list_)
worktree.add_command(remove)
