"""The command line: which verbs there are, and the one place where everything ends in an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Final

import click

from git_afd import __version__
from git_afd.cli.calling import CONTEXT, interrupted, show_fault
from git_afd.cli.lazy import LazyGroup
from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.core.records import canonical
from git_afd.errors import Exit, UsageFault

# verb: module below git_afd.cli that holds it; the attribute has the verb's name with underscores.
VERBS: Final = {
    "freeze": "freeze",
    "approve": "approve",
    "worktree": "worktree",
    "status": "status",
    "next": "status",
    "inventory": "inventory",
    "diff": "diff",
    "root-cause": "root_cause",
    "commit": "commit",
    "gate": "gate",
    "close": "close",
    "hooks": "hooks",
    "doctor": "doctor",
}


@click.group(cls=LazyGroup, verbs=VERBS, context_settings=CONTEXT, invoke_without_command=True)
@click.version_option(__version__, "-V", "--version", prog_name="git-afd", message="%(prog)s %(version)s")
@click.pass_context
def afd(ctx: click.Context) -> None:
    """Upgrade a plugin that sits on two pinned upstream repositories, as a gated state machine inside git."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@click.command("help", context_settings=CONTEXT)
@click.argument("verb", required=False)
@click.pass_context
def _help(ctx: click.Context, verb: str | None) -> None:
    """Show the help of VERB (``git afd --help`` asks git for a man page and never gets here)."""
    parent = ctx.parent or ctx
    command = afd.get_command(parent, verb) if verb else afd
    if command is None:
        raise click.UsageError(f"there is no verb {verb!r}")
    name = f"git afd {verb}" if verb else "git afd"
    click.echo(command.get_help(click.Context(command, info_name=name)))


afd.add_command(_help)


def main(argv: list[str] | None = None) -> int:
    """Run git-afd; return the exit code (docs/reference/exit-codes.md). A user's fault ends in no traceback."""
    args = sys.argv[1:] if argv is None else argv
    try:
        code = afd.main(args=args, prog_name="git afd", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return interrupted()
    except KeyboardInterrupt:
        return interrupted()
    except click.ClickException as fault:
        return _usage(fault, args)
    except BrokenPipeError:
        return _closed_pipe()
    return code if isinstance(code, int) else Exit.DONE


def _usage(fault: click.ClickException, args: list[str]) -> int:
    """Show what is wrong with the call: as a sentence, or as the one document when JSON was asked for."""
    context = getattr(fault, "ctx", None)
    path = context.command_path if context else "git afd"
    message = fault.format_message().rstrip(".")
    stop = UsageFault(message[:1].lower() + message[1:], f"{path} -h")
    if "--json" in args:
        finding = Finding("usage", "", stop.message, stop.fix)
        outcome = Outcome(verb="usage", data={}, findings=(finding,), next=stop.fix, exit=Exit.USAGE)
        click.echo(canonical(outcome.as_json()))
    else:
        show_fault(stop)
    return Exit.USAGE


def _closed_pipe() -> int:
    """End quietly: the reader went away (``| head``). stdout must not be flushed again at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.DONE
