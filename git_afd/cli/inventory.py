"""``git afd inventory`` and ``git afd inventory annotate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from git_afd.cli.calling import CONTEXT, afd_command, dry_run_option
from git_afd.cli.lazy import LazyGroup
from git_afd.core.contracts.model import KINDS
from git_afd.core.outcome import Outcome

INVENTORY_COMMANDS: Final = {"annotate": "inventory"}


@afd_command("inventory")
@click.option("--from", "file", metavar="FILE", help="Take rows from a workbook file (TOML or JSON).")
@click.option("--at", metavar="REF", default="", help="Look at another commit of the plugin; record nothing.")
@click.option("--source", "sources", multiple=True, metavar="NAME=DIR", help="With --at: the clone of an upstream.")
@click.option("--current", "currents", multiple=True, metavar="NAME=REF", help="With --at: its revision.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Show only these kinds.")
@click.option("--file", "files", multiple=True, metavar="GLOB", help="Show only contracts of these plugin files.")
@click.option("--unknown", is_flag=True, help="Show only what is unknown.")
@click.option("--markdown", is_flag=True, help="Print the workbook's tables as Markdown.")
@click.option("--read", "reads", metavar="PATH", multiple=True, help="Record that you have read this document.")
@click.option("--replace", metavar="WHY", default="", help="Replace recorded rows that were given by hand or are used.")
@dry_run_option
def _take(  # noqa: PLR0917 - click passes every option by name
    directory: Path,
    file: str | None,
    at: str,
    sources: tuple[str, ...],
    currents: tuple[str, ...],
    kinds: tuple[str, ...],
    files: tuple[str, ...],
    unknown: bool,
    markdown: bool,
    reads: tuple[str, ...],
    replace: str,
    dry_run: bool,
) -> Outcome:
    """Phase 1: find and record every contract and feature cell of the plugin at the frozen base commit."""
    from git_afd.actions.inventory import Request
    from git_afd.actions.inventory import inventory as act
    from git_afd.actions.inventory_at import Filters, Look, inventory_at
    from git_afd.adapters.session import open_session
    from git_afd.core.freezing import named
    from git_afd.errors import UsageFault

    filters = Filters(kinds, files, unknown)
    if at:
        if file or reads or replace:
            raise UsageFault("--at records nothing, so --from, --read and --replace mean nothing", "leave one out")
        folders = {name: directory / folder for name, folder in named("--source", sources).items()}
        look = Look(at, folders, named("--current", currents), filters, markdown)
        return inventory_at(open_session(directory), look)
    if sources or currents:
        raise UsageFault("--source and --current go with --at: an upgrade's are frozen", "add --at REF")
    request = Request(directory / file if file else None, file or "", reads, replace, dry_run, filters, markdown)
    return act(open_session(directory), request)


@click.pass_context
def _start(ctx: click.Context, /, **options: Any) -> int:  # noqa: ANN401 - click's own
    """Take the inventory, unless a command below it is called."""
    if ctx.invoked_subcommand is not None or _take.callback is None:
        return 0
    code: int = _take.callback(**options)
    return code


inventory: Final = LazyGroup(
    "inventory",
    verbs=INVENTORY_COMMANDS,
    params=_take.params,
    callback=_start,
    help=_take.help,
    context_settings=CONTEXT,
    invoke_without_command=True,
)


@afd_command("inventory.annotate", name="annotate")
@click.argument("contract")
@click.option("--invariant", metavar="TEXT", default="", help="What must stay true.")
@click.option("--state-owner", metavar="TEXT", default="", help="Who owns the state it touches.")
@click.option("--lifetime", metavar="TEXT", default="", help="How long that state lives.")
@click.option("--removal", metavar="TEXT", default="", help="When the plugin can do without it.")
@dry_run_option
def annotate(  # noqa: PLR0917 - click passes every option by name
    directory: Path, contract: str, invariant: str, state_owner: str, lifetime: str, removal: str, dry_run: bool
) -> Outcome:
    """Add to a recorded contract what its sources cannot say. CONTRACT is its id, or a part that fits one only."""
    from git_afd.actions.inventory_annotate import annotate as act
    from git_afd.adapters.session import open_session

    said = {"invariant": invariant, "state_owner": state_owner, "lifetime": lifetime, "removal": removal}
    return act(open_session(directory), contract, said, dry_run=dry_run)
