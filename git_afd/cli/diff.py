"""``git afd diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from git_afd.cli.calling import afd_command, dry_run_option, write_answer
from git_afd.core.contracts.model import KINDS
from git_afd.core.outcome import Outcome
from git_afd.core.state import CLASSES
from git_afd.errors import UsageFault

if TYPE_CHECKING:
    from git_afd.actions.diff_at import Look
    from git_afd.adapters.session import Session

_CLASSES = click.Choice((*CLASSES, "NONE", "UNCLASSIFIED"))


@afd_command("diff")
@click.option("--from", "file", metavar="FILE", help="Take rows from a workbook file (TOML or JSON).")
@click.option("--show", metavar="CONTRACT", default="", help="Show one contract's two ends in full.")
@click.option("--at", metavar="REF", default="", help="Compare another commit of the plugin; record nothing.")
@click.option("--source", "sources", multiple=True, metavar="NAME=DIR", help="With --at: the clone of an upstream.")
@click.option("--current", "currents", multiple=True, metavar="NAME=REF", help="With --at: its current revision.")
@click.option("--target", "targets", multiple=True, metavar="NAME=REF", help="With --at: its target revision.")
@click.option("--changed", is_flag=True, help="Show only what is not as it was.")
@click.option("--class", "classes", multiple=True, type=_CLASSES, help="Show only these classes.")
@click.option("--file", "files", multiple=True, metavar="GLOB", help="Show only contracts of these plugin files.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Show only these kinds.")
@click.option("--markdown", is_flag=True, help="Print the workbook's impact table as Markdown.")
@click.option("--html", "page", metavar="FILE", default="", help="Write a page to look at the whole impact into FILE.")
@click.option("--replace", metavar="WHY", default="", help="Replace recorded rows that were given by hand or are used.")
@dry_run_option
def diff(  # noqa: PLR0917 - click passes every option by name
    directory: Path,
    file: str | None,
    show: str,
    at: str,
    sources: tuple[str, ...],
    currents: tuple[str, ...],
    targets: tuple[str, ...],
    changed: bool,
    classes: tuple[str, ...],
    files: tuple[str, ...],
    kinds: tuple[str, ...],
    markdown: bool,
    page: str,
    replace: str,
    dry_run: bool,
) -> Outcome:
    """Phase 2: compare every contract at the target, propose classes, and record what was found."""
    from git_afd.actions.diff import Request
    from git_afd.actions.diff import diff as act
    from git_afd.actions.diff_at import Look, diff_at, show_at
    from git_afd.adapters.session import open_session
    from git_afd.core.freezing import named
    from git_afd.core.impacts.shown import Filters

    filters = Filters(changed, classes, files, kinds)
    if (at or show) and (file or replace):
        raise UsageFault("--at and --show record nothing, so --from and --replace mean nothing", "leave one out")
    folders = {name: directory / folder for name, folder in named("--source", sources).items()}
    look = Look(at, folders, named("--current", currents), named("--target", targets), filters, markdown)
    if show:
        return show_at(open_session(directory), look, show)
    if not at and (sources or currents or targets):
        raise UsageFault("--source, --current and --target go with --at: an upgrade's are frozen", "add --at REF")
    request = Request(directory / file if file else None, file or "", replace, dry_run, filters, markdown)
    session = open_session(directory)
    outcome = diff_at(session, look) if at else act(session, request)
    if page and not dry_run:
        _write_page(session, look, outcome, directory / page)
    return outcome


def _write_page(session: Session, look: Look, outcome: Outcome, path: Path) -> None:
    """Write the page of a comparison beside its answer."""
    from git_afd.actions.impact_page import with_sources
    from git_afd.render.diff_page import page

    full = with_sources(session, look, outcome)
    if "differences" in full.data:
        write_answer(path, page(full))
