"""The command line: which verbs there are, and the one place where everything ends in an exit code."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from itertools import pairwise
from typing import Final

import click

from git_afd import __version__
from git_afd.cli.calling import CONTEXT, ReaderGone, interrupted, show_stop
from git_afd.cli.lazy import LazyGroup, NotBuilt
from git_afd.errors import AfdError, Exit, UsageFault

# verb: module below git_afd.cli that holds it; the attribute has the verb's name with underscores.
VERBS: Final = {
    "freeze": "freeze",
    "approve": "approve",
    "worktree": "worktree",
    "status": "status",
    "next": "status",
    "log": "log",
    "inventory": "inventory",
    "diff": "diff",
    "classify": "classify",
    "reconstruct": "reconstruct",
    "root-cause": "root_cause",
    "verify": "verify",
    "commit": "commit",
    "gate": "gate",
    "failure": "failure",
    "close": "close",
    "hooks": "hooks",
    "doctor": "doctor",
    "demo": "demo",
}


OWED: Final = ("handoff", "test", "review", "docs", "undo", "lesson", "report", "sync")


@click.group(cls=LazyGroup, verbs=VERBS, owed=OWED, context_settings=CONTEXT, invoke_without_command=True)
@click.version_option(__version__, "-V", "--version", prog_name="git-afd", message="%(prog)s %(version)s")
@click.pass_context
def afd(ctx: click.Context) -> None:
    """Upgrade a plugin that sits on two pinned upstream repositories, as a gated state machine inside git."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@click.command("help", context_settings=CONTEXT)
@click.argument("verb", nargs=-1)
def _help(verb: tuple[str, ...]) -> None:
    """Show the help of VERB (``git afd --help`` asks git for a man page and never gets here)."""
    command: click.Command = afd
    context = click.Context(afd, info_name="git afd", **CONTEXT)
    for word in verb:
        found = command.get_command(context, word) if isinstance(command, click.Group) else None
        if found is None:
            raise click.UsageError(f"there is no verb {' '.join(verb)!r}", click.Context(afd, info_name="git afd"))
        command, context = found, click.Context(found, context, info_name=word, **found.context_settings)
    click.echo(command.get_help(context))


afd.add_command(_help)


def main(argv: list[str] | None = None) -> int:
    """Run git-afd; return the exit code (docs/reference/exit-codes.md). A user's fault ends in no traceback."""
    args = sys.argv[1:] if argv is None else argv
    gc.set_threshold(200_000, 20, 20)  # values that live to the end: the collector's rounds over them find nothing
    settle_streams()
    try:
        code = _run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return interrupted()
    except (ReaderGone, BrokenPipeError):
        _discard_stdout()
        return Exit.DONE  # it has what it wanted
    except AfdError as fault:  # raised while the answer was printed
        _discard_stdout()
        return show_stop("git-afd", fault, as_json=False)
    except Exception as bug:  # the one place where a fault of our own ends: as a line, not as a traceback
        if os.environ.get("GIT_AFD_DEBUG"):
            raise
        return show_stop("git-afd", _Bug.of(bug), as_json=_wants_json(args))
    return code


class _Bug(AfdError):
    """A fault of git-afd itself. Nothing was printed: the answer is printed whole, at the end."""

    exit = Exit.BUG

    @classmethod
    def of(cls, bug: Exception) -> _Bug:
        """Say what happened in one line."""
        what = " ".join(f"{type(bug).__name__}: {bug}".split())
        fix = "run it again with GIT_AFD_DEBUG=1 and report the traceback to the maintainers of git-afd"
        return cls(f"internal error: {what}", fix, code="bug")


def _run(args: list[str]) -> int:
    try:
        code = afd.main(args=args, prog_name="git afd", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return interrupted()
    except click.ClickException as fault:
        return _usage(fault, args)
    except NotBuilt as fault:
        return show_stop("git-afd", fault, as_json=_wants_json(args))
    return code if isinstance(code, int) else Exit.DONE


def _usage(fault: click.ClickException, args: list[str]) -> int:
    """Show what is wrong with the call: as a sentence, or as the one document when JSON was asked for."""
    context = getattr(fault, "ctx", None)
    path = context.command_path if context else "git afd"
    message = fault.format_message().rstrip(".")
    stop = UsageFault(message[:1].lower() + message[1:], f"{path} -h", code="usage")
    return show_stop("usage", stop, as_json=_wants_json(args))


def _wants_json(args: list[str]) -> bool:
    return "--json" in args or "--format=json" in args or ("--format", "json") in pairwise(args)


def settle_streams() -> None:
    """Give every standard stream that the caller closed to the null device, before anything else gets its number.

    git does the same (``sanitize_stdfds``): else the next file that is opened becomes the standard output of
    every child. What the terminal's encoding cannot show is spelled out.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - a stream lives as long as the process
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - same
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115 - same
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Keep what is left in the buffer from being written once more when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
