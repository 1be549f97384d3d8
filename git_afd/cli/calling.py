"""What every command shares: -C, --json, -q, -h, one way to show an Outcome, one map from faults to exit codes."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from git_afd.adapters.git import Git
from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.core.records import canonical
from git_afd.errors import AfdError, EnvironmentFault, Exit, UsageFault

CONTEXT: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
FORMATS: Final = ("text", "json", "markdown", "html")

dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be done and write nothing at all.")
"""The option of every command that writes; below :func:`afd_command`, it arrives as ``dry_run``."""

_Function = Callable[..., Outcome]


class ReaderGone(Exception):
    """The reader of our output went away (``| head``). No OSError: click would end with 1 for one of those."""


def format_options(function: _Function) -> _Function:
    """Give a command ``--format`` and ``--output``; stands below :func:`afd_command`, which acts on both."""
    form = click.option(
        "--format", "answer_form", type=click.Choice(FORMATS), help="The form of the answer (default: text)."
    )
    file = click.option(
        "--output", "answer_file", default="", metavar="FILE", help="Write the answer to FILE instead of stdout."
    )
    return form(file(function))


def afd_command(verb: str, **attrs: Any) -> Callable[[_Function], click.Command]:  # noqa: ANN401 - click's own
    """Make a click command of a function that takes ``directory`` first and returns an Outcome."""

    def wrap(function: _Function) -> click.Command:
        @click.option("-C", "directory", default=".", metavar="DIR", help="Run as if started in DIR.")
        @click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
        @click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
        @functools.wraps(function)
        def call(directory: str, as_json: bool, quiet: bool, **options: Any) -> int:  # noqa: ANN401 - click's own
            form, output = _form(as_json, options.pop("answer_form", None)), options.pop("answer_file", "")
            here = Path(directory).absolute()
            try:
                outcome = function(here, **options)
                text = answer(outcome, form, quiet=quiet, directory=here)
                if output:
                    write_answer(here / output, text)
            except AfdError as fault:
                return show_stop(verb, fault, as_json=form == "json")
            for warning in outcome.warnings:
                sys.stderr.write(_printable(f"warning: {warning}\n"))
            if not output:
                _say(text)
            return outcome.exit

        command: Callable[[Callable[..., int]], click.Command] = click.command(context_settings=CONTEXT, **attrs)
        return command(call)

    return wrap


def answer(outcome: Outcome, form: str, *, quiet: bool, directory: Path) -> str:
    """Return the answer in one of FORMATS."""
    if form == "json":
        return canonical(outcome.as_json())
    from git_afd.render.text import as_document, as_text

    if form == "text":
        return as_text(outcome, color=_color(directory), quiet=quiet)
    return as_document(outcome, form).removesuffix("\n")


def show_stop(verb: str, fault: AfdError, *, as_json: bool) -> int:
    """Print why a command was stopped, as a sentence and a fix on stderr or as the document; return its exit code."""
    if as_json:
        finding = Finding(fault.code, "", fault.message, fault.fix)
        outcome = Outcome(verb=verb, data={}, findings=(finding,), next=fault.fix, exit=fault.exit)
        _say(canonical(outcome.as_json()))
    else:
        sys.stderr.write(_printable(f"git-afd: {fault.message}\n" + (f"fix: {fault.fix}\n" if fault.fix else "")))
    return fault.exit


def interrupted() -> int:
    """Return the exit code of a command that the user interrupted."""
    sys.stderr.write("git-afd: interrupted\n")
    return Exit.INTERRUPTED


def _form(as_json: bool, form: str | None) -> str:
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other")
    return "json" if as_json else form or "text"


def _say(text: str) -> None:
    """Print the whole answer at once. Raises ReaderGone, and EnvironmentFault when it cannot be written."""
    if text:
        try:
            sys.stdout.write(_printable(text) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as error:
            raise EnvironmentFault(f"the answer cannot be written: {error.strerror}", "look for a full disk") from error


def write_answer(path: Path, text: str) -> None:
    """Put the answer into a file, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(_printable(text) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageFault(f"{path} cannot be written: {error.strerror}", "name another file with --output") from error


def _printable(text: str) -> str:
    """Keep bytes of odd path names from stopping the output: they are shown as escapes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _color(directory: Path) -> bool:
    """Say whether colour is wanted: only on a terminal, NO_COLOR and git's color.ui honoured."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    asked = Git(directory).act("config", "--get-colorbool", "color.afd", "true") if directory.is_dir() else None
    return asked is None or asked.text != "false"
