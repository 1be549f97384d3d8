"""``git afd failure list|show|classify``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from git_afd.cli.calling import CONTEXT, afd_command, dry_run_option
from git_afd.cli.lazy import LazyGroup
from git_afd.core.outcome import Outcome
from git_afd.core.state import FAILURE_CLASSES
from git_afd.errors import UsageFault

FAILURE_COMMANDS: Final = dict.fromkeys(("list", "show", "classify"), "failure")


@click.group("failure", cls=LazyGroup, verbs=FAILURE_COMMANDS, context_settings=CONTEXT, invoke_without_command=True)
@click.pass_context
def failure(ctx: click.Context) -> None:
    """Show what gates failed on, and say of each failure what kind it is before the gate runs again."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@afd_command("failure.list", name="list")
def list(directory: Path) -> Outcome:  # noqa: A001 - the verb's name
    """List every failure: its gate and run, the command, what failed, the root traceback, its class."""
    from git_afd.actions.failure import list_all
    from git_afd.adapters.session import open_session

    return list_all(open_session(directory, work_tree=False))


@afd_command("failure.show", name="show")
@click.argument("name", metavar="F-n")
def show(directory: Path, name: str) -> Outcome:
    """Show all that was kept of F-n: command, environment, root traceback, log, host, and how to run it again."""
    from git_afd.actions.failure import show as act
    from git_afd.adapters.session import open_session

    return act(open_session(directory, work_tree=False), name)


@afd_command("failure.classify", name="classify")
@click.argument("name", metavar="F-n")
@click.argument("class_", metavar="CLASS", type=click.Choice(FAILURE_CLASSES))
@click.option("--why", required=True, metavar="TEXT", help="What shows that it is of this class.")
@click.option(
    "--architecture", is_flag=True, help="It shows a major change of architecture: back to the architecture gate."
)
@dry_run_option
def classify(directory: Path, name: str, class_: str, why: str, architecture: bool, dry_run: bool) -> Outcome:
    """Say what kind of failure F-n is; the gate does not run again before that.

    CLASS is environment, native-runtime, afd, connector-topology, accuracy or unknown. No root cause may name an
    environment failure: only a passing run on the same content closes it. After a native-runtime failure no AFD
    test runs before the native control passes again. Unknown decides nothing and blocks as no class does.
    """
    from git_afd.actions.failure import Word
    from git_afd.actions.failure import classify as act
    from git_afd.adapters.session import open_session

    if not why.strip():
        raise UsageFault("--why says nothing", "--why TEXT")
    return act(open_session(directory), Word(name, class_, why.strip(), architecture), dry_run=dry_run)
