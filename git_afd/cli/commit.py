"""``git afd commit --root-cause RC-n``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.message_rules import TYPES
from git_afd.core.outcome import Outcome


@afd_command("commit")
@click.option("--root-cause", required=True, metavar="RC-n", help="The open root cause to commit.")
@click.option(
    "--type", type=click.Choice(("", *TYPES)), default="", help="The summary's type. Default: from kind or title."
)
@click.option(
    "--scope", metavar="WORD", default="", help="The summary's scope. Default: the folder that the paths share."
)
@click.option("--why", metavar="TEXT", default="", help="More on why the change is as it is.")
@click.option("--validation", multiple=True, metavar="TEXT", help="An exact command and its result; repeatable.")
@click.option("--assisted-by", multiple=True, metavar="WHO", help="Who or what helped; repeatable.")
@click.option("-e", "--edit", is_flag=True, help="Edit the message first (needs a terminal).")
@click.option("--in-place", is_flag=True, help="Let foreign hooks run in this work tree, not in a scratch worktree.")
@dry_run_option
def commit(
    directory: Path,
    root_cause: str,
    edit: bool,
    in_place: bool,
    dry_run: bool,
    **words: Any,  # noqa: ANN401 - click's own
) -> Outcome:
    """Make the one signed-off commit of an open root cause: exactly its planned paths, nothing else.

    What else is staged stays staged. The message is composed from the plan and the frozen commits. Where
    hooks of yours exist, they run in a scratch worktree that holds only the planned change.
    """
    from git_afd.actions.commit import Request
    from git_afd.actions.commit import commit as act
    from git_afd.adapters.session import open_session
    from git_afd.core.message import Wording

    return act(open_session(directory), Request(root_cause, Wording(**words), edit, dry_run, in_place))
