"""``git afd classify``."""

from __future__ import annotations

from pathlib import Path

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome
from git_afd.core.state import CLASSES
from git_afd.errors import UsageFault

_CLASS = click.Choice((*CLASSES, "NONE"))


@afd_command("classify")
@click.argument("item", required=False, default="")
@click.argument("class_", metavar="[CLASS]", required=False, default="", type=click.Choice(("", *CLASSES, "NONE")))
@click.option("--why", metavar="TEXT", default="", help="The reason: of one impact, or of all that are chosen.")
@click.option("--proposed", type=_CLASS, default=None, help="All open impacts of this proposed class.")
@click.option("--fitting", "pattern", metavar="GLOB", default="", help="All impacts whose id fits (with *).")
@click.option("--as", "as_", type=_CLASS, default=None, help="With --proposed or --fitting: overrule to this class.")
@dry_run_option
def classify(  # noqa: PLR0917 - click passes every option by name
    directory: Path,
    item: str,
    class_: str,
    why: str,
    proposed: str | None,
    pattern: str,
    as_: str | None,
    dry_run: bool,
) -> Outcome:
    """Phase 2: decide on the class of ITEM (an impact's id or a part of it), or of many at once.

    CLASS is MECHANICAL, BEHAVIORAL, ARCHITECTURAL or NONE. Without ITEM, --proposed and --fitting choose many, and
    what the tool proposed is confirmed unless --as overrules it.
    """
    from git_afd.actions.classify import Request
    from git_afd.actions.classify import classify as act
    from git_afd.adapters.session import open_session

    many = bool(proposed or pattern)
    if bool(item) == many:
        raise UsageFault("say which impact, or choose many", "ITEM CLASS, or --proposed CLASS, or --fitting GLOB")
    if item and not class_:
        raise UsageFault(f"no class was given for {item}", "add MECHANICAL, BEHAVIORAL, ARCHITECTURAL or NONE")
    if not why.strip():
        raise UsageFault("a decision needs its reason", "add --why TEXT")
    request = Request(item, class_ if item else as_ or "", why.strip(), pattern, proposed or "", dry_run)
    return act(open_session(directory), request)
