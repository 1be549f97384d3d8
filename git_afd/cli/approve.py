"""``git afd approve``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from git_afd.actions.approve import SUBJECTS, Question
from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome
from git_afd.errors import Refused


@afd_command("approve")
@click.argument("what", type=click.Choice(list(SUBJECTS)))
@dry_run_option
def approve(directory: Path, what: str, dry_run: bool) -> Outcome:
    """Approve WHAT as a person: on a terminal, with a typed phrase and a reason; recorded and shown for ever.

    pair: the target pair, when nothing in the target vLLM-Ascend says which vLLM it belongs to.
    push: publishing what the branch holds now, although the upgrade is open.
    guard: a guarded value that is not as at the freeze (threshold, tolerance, a new skip), one after another.
    damage: one piece of the ledger's damage after another, to go on without it (git afd log --damage).
    """
    from git_afd.actions.approve import approve as act
    from git_afd.adapters.session import open_session

    return act(open_session(directory), what, _ask, dry_run=dry_run)


def _ask(question: Question) -> tuple[str, str]:
    """Ask on the terminal. Raises Refused without one: no flag and no pipe can stand for a person."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        message = f"only a person on a terminal can approve a {question.what}, and this is none"
        raise Refused(message, f"run git afd approve {question.what} in a terminal yourself")
    for line in question.says:
        click.echo(line)
    click.echo(f"You act as {question.by}. To approve, type: {question.phrase}")
    phrase = click.prompt("phrase", default="", show_default=False)
    reason = click.prompt("reason", default="", show_default=False) if phrase.strip() == question.phrase else ""
    return str(phrase), str(reason)
