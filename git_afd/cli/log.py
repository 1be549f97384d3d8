"""``git afd log``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from git_afd.cli.calling import ReaderGone, afd_command, format_options
from git_afd.core.outcome import Outcome
from git_afd.errors import Exit, UsageFault

if TYPE_CHECKING:
    from git_afd.actions.log import Wanted
    from git_afd.adapters.session import Session


@afd_command("log")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only records of this kind; repeatable.")
@click.option("--upgrade", default="", metavar="ID", help="Only records of this upgrade.")
@click.option("--run", "run_name", default="", metavar="RUN", help="Everything of this run.")
@click.option(
    "--log", "name", default="", metavar="NAME", help="With --run: print what this command printed, or a file."
)
@click.option("--follow", is_flag=True, help="Print what a running gate's commands print until it ends (or --run's).")
@click.option("--damage", is_flag=True, help="Only what cannot be read, with the place and the reason.")
@format_options
def log(
    directory: Path, *, kinds: tuple[str, ...], upgrade: str, run_name: str, name: str, follow: bool, damage: bool
) -> Outcome:
    """Show the ledger's records in order, what in it cannot be read, and everything of a run."""
    from git_afd.actions import log as actions
    from git_afd.adapters.session import open_session

    session = open_session(directory, work_tree=False)
    wanted = actions.Wanted(kinds, upgrade, run_name, damage)
    if follow:
        return _follow(session, wanted, name)
    if not name:
        return actions.log(session, wanted)
    if not run_name:
        raise UsageFault("--log names a file of a run, and --run is not given", "git afd log --run R-1 --log NAME")
    if wants_json():
        return actions.shown_text(session, wanted, name)
    pass_on(actions.log_text(session, wanted, name)[1])
    raise click.exceptions.Exit(Exit.DONE)  # nothing is printed after a log: it is the answer, byte for byte


def _follow(session: Session, wanted: Wanted, name: str) -> Outcome:
    """Follow a run to its end; for a program, only wait for it, then give everything of the run."""
    from git_afd.actions import log as actions
    from git_afd.actions.follow import follow

    if name:
        raise UsageFault("--follow shows all that a run prints, and --log one file of it", "give one of them")
    as_json = wants_json()
    try:
        how, wanted = follow(session, wanted, (lambda _: None) if as_json else lambda piece: pass_on((piece,)))
    except KeyboardInterrupt:  # the usual way to stop looking
        raise click.exceptions.Exit(Exit.INTERRUPTED) from None
    if as_json:
        return actions.log(session, wanted)
    sys.stderr.write(f"git-afd: {how}\n")
    raise click.exceptions.Exit(Exit.DONE)


def wants_json() -> bool:
    """Say whether the answer is to be a JSON document."""
    given = click.get_current_context().params
    return bool(given.get("as_json")) or given.get("answer_form") == "json"


def pass_on(pieces: Iterable[bytes]) -> None:
    """Write bytes to stdout as they come. Raises ReaderGone when nobody reads them any more."""
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None
