"""What every command shares: -C, --json, -q, -h, one way to show an Outcome, one map from faults to exit codes."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from git_afd.adapters.git import Git
from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.core.records import canonical
from git_afd.errors import AfdError, Exit

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be done and write nothing at all.")
"""The option of every command that writes; below :func:`afd_command`, it arrives as ``dry_run``."""


def afd_command(verb: str, **attrs: Any) -> Callable[[Callable[..., Outcome]], click.Command]:  # noqa: ANN401 - click's own
    """Make a click command of a function that takes ``directory`` first and returns an Outcome."""

    def wrap(function: Callable[..., Outcome]) -> click.Command:
        @click.option("-C", "directory", default=".", metavar="DIR", help="Run as if started in DIR.")
        @click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
        @click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
        @functools.wraps(function)
        def call(directory: str, as_json: bool, quiet: bool, **options: Any) -> int:  # noqa: ANN401 - click's own
            try:
                outcome = function(Path(directory).absolute(), **options)
            except AfdError as fault:
                outcome = fault_outcome(verb, fault)
                if not as_json:
                    show_fault(fault)
                    return outcome.exit
            show(outcome, as_json=as_json, quiet=quiet, directory=Path(directory))
            return outcome.exit

        command: Callable[[Callable[..., int]], click.Command] = click.command(context_settings=CONTEXT, **attrs)
        return command(call)

    return wrap


def show(outcome: Outcome, *, as_json: bool, quiet: bool, directory: Path) -> None:
    """Print the answer on stdout and the warnings on stderr."""
    for warning in outcome.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    if as_json:
        text = canonical(outcome.as_json())
    else:
        from git_afd.render.text import as_text

        text = as_text(outcome, color=_color(directory), quiet=quiet)
    if text:
        sys.stdout.write(_printable(text) + "\n")
    sys.stdout.flush()


def show_fault(fault: AfdError) -> None:
    """Print one sentence and one fix line on stderr."""
    sys.stdout.flush()
    sys.stderr.write(_printable(f"git-afd: {fault.message}\n" + (f"fix: {fault.fix}\n" if fault.fix else "")))


def fault_outcome(verb: str, fault: AfdError) -> Outcome:
    """Return the document of a command that was stopped."""
    finding = Finding(fault.code, "", fault.message, fault.fix)
    return Outcome(verb=verb, data={}, findings=(finding,), next=fault.fix, exit=fault.exit)


def _printable(text: str) -> str:
    """Keep bytes of odd path names from stopping the output: they are shown as escapes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _color(directory: Path) -> bool:
    """Say whether colour is wanted: only on a terminal, NO_COLOR and git's color.ui honoured."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    asked = Git(directory).run("config", "--get", "color.ui").text if directory.is_dir() else ""
    return asked not in ("false", "never", "no", "off", "0")


def interrupted() -> int:
    """Return the exit code of a command that the user interrupted."""
    sys.stderr.write("git-afd: interrupted\n")
    return Exit.INTERRUPTED
