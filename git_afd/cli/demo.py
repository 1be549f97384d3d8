"""``git afd demo``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from git_afd.cli.calling import ReaderGone, afd_command
from git_afd.core.outcome import Outcome


@afd_command("demo")
@click.option("--keep", metavar="FOLDER", help="Leave the three repositories in FOLDER, which must not exist yet.")
@click.pass_context
def demo(context: click.Context, directory: Path, keep: str | None) -> Outcome:
    """Walk the whole way of an upgrade with three small repositories of its own, and say what happens and why."""
    from git_afd.actions.demo import demo as act

    quiet = bool(context.params.get("quiet") or context.params.get("as_json"))
    return act(directory / keep if keep else None, tell=None if quiet else _tell)


def _tell(line: str) -> None:
    """Print a line of the narration: it is the answer, so it goes to stdout as it comes."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    try:
        sys.stdout.write((f"\033[1m{line}\033[0m" if color and line.startswith(("$", "\n")) else line) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderGone from None
