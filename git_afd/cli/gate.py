"""``git afd gate NAME``: the commands that decide a phase. Each gate stands in a module of its own."""

from __future__ import annotations

from typing import Final

import click

from git_afd.cli.calling import CONTEXT
from git_afd.cli.lazy import LazyGroup

# gate (a word of core.phases.GATES): module below git_afd.cli whose attribute has the gate's name.
GATE_COMMANDS: Final = {
    "architecture": "gate_architecture",
    "static": "gate_run",
    "native": "gate_run",
    "basic": "gate_run",
    "accuracy": "gate_run",
}


OWED: Final = ("docs", "audit")


@click.group(
    "gate", cls=LazyGroup, verbs=GATE_COMMANDS, owed=OWED, context_settings=CONTEXT, invoke_without_command=True
)
@click.pass_context
def gate(ctx: click.Context) -> None:
    """Decide a phase from evidence. Only an explicit PASS lets the next phase be entered."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
