"""``git afd gate static``, ``native``, ``basic`` and ``accuracy``: the gates that run the policy's commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.command import NATIVE
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Outcome
from git_afd.errors import UsageFault

if TYPE_CHECKING:
    from git_afd.actions.gate.order import Order

_OPTIONS = (
    click.option(
        "--python",
        default="",
        metavar="PATH",
        help="The target runtime's interpreter (default: that of the last static or native gate passed here, else "
        "python on PATH).",
    ),
    click.option("--worktree", is_flag=True, help="Run in a detached worktree of HEAD instead of the work tree."),
    click.option("--diagnostic", is_flag=True, help="Keep the run and decide nothing."),
    click.option("--only", default="", metavar="NAME", help="Run only this command of the gate; decides nothing."),
    click.option("--failure", default="", metavar="F-n", help="Run only what F-n failed on; decides nothing."),
    click.option("--bundle", default=None, metavar="FILE", help="Run here and write a bundle to read elsewhere."),
    click.option("--from", "source", default=None, metavar="PATH", help="Judge a bundle that was recorded elsewhere."),
    click.option("--target", "targets", multiple=True, metavar="NAME=DIR", help="Where a target's tree stands here."),
    click.option("--cancelled", is_flag=True, help="Run nothing: record that the gate was cancelled, and --why."),
    click.option("--why", default="", metavar="WHY", help="Why it was cancelled."),
    dry_run_option,
)
_CELL = click.option(
    "--cell", default="", metavar="NAME", help="native: measure the runtime without the plugin; decides nothing."
)


def _gate(name: str, text: str, *more: Callable[[Any], Any]) -> click.Command:
    def run(directory: Path, **options: Any) -> Outcome:  # noqa: ANN401 - click's own
        from git_afd.actions.gate.cancel import cancel
        from git_afd.actions.gate.run import gate
        from git_afd.adapters.session import open_session

        order = _order(name, directory, **options)
        return (cancel if order.cancelled else gate)(open_session(directory), order)

    for option in reversed((*_OPTIONS, *more)):
        run = option(run)
    return afd_command(f"gate.{name}", name=name, help=text)(run)


def _order(name: str, directory: Path, **options: Any) -> Order:  # noqa: ANN401 - click's own
    from git_afd.actions.gate.order import Order

    if options["bundle"] and options["source"]:
        raise UsageFault("--bundle writes and --from reads: give one of them", f"git afd gate {name} -h")
    if options["only"] and options["failure"]:
        raise UsageFault("--only and --failure each say what to run: give one of them", f"git afd gate {name} -h")
    _refuse_mixed(name, options)
    quiet = bool(click.get_current_context().params.get("quiet"))
    for key in ("bundle", "source"):
        options[key] = directory / options[key] if options[key] else None
    options["targets"] = _targets(options["targets"], directory)
    if quiet:
        return Order(name, **options)
    from git_afd.cli.screen import stderr_screen

    seen = stderr_screen()
    return Order(name, **options, tell=seen.tell, echo=seen.echo, began=seen.began, tick=seen.tick, ended=seen.ended)


def _refuse_mixed(name: str, options: Mapping[str, Any]) -> None:
    """Raise UsageFault for options that say nothing together."""
    usage = f"git afd gate {name} -h"
    cell = options.get("cell", "")
    if cell not in ("", NATIVE):
        raise UsageFault(f"there is no cell {cell}; there is {NATIVE}", usage)
    if cell and (options["only"] or options["failure"]):
        raise UsageFault("--cell measures all of its commands: leave --only and --failure out", usage)
    if options["cancelled"] != bool(options["why"].strip()):
        raise UsageFault("--cancelled and --why go together", f"git afd gate {name} --cancelled --why WHY")
    running = ("bundle", "source", "only", "failure", "diagnostic", "cell")
    if options["cancelled"] and any(options.get(key) for key in running):
        raise UsageFault("--cancelled runs and reads nothing: leave the other options out", usage)


def _targets(words: tuple[str, ...], directory: Path) -> Mapping[str, Path]:
    found: dict[str, Path] = {}
    for word in words:
        name, sign, path = word.partition("=")
        if name not in UPSTREAMS or not sign or not path:
            raise UsageFault(f"--target {word} is not NAME=DIR", f"the names are {' and '.join(UPSTREAMS)}")
        found[name] = directory / path
    return found


static = _gate("static", "Run all static checks and the complete unit suite (phase 5).")
native = _gate("native", "Serve one real request by the exact target runtime without the plugin (phase 6).")
basic = _gate("basic", "Run the complete NPU end-to-end suite without accuracy (phase 7).")
accuracy = _gate("accuracy", "Measure full accuracy, eager and graph, against the frozen threshold (phase 8).", _CELL)
