"""``git afd root-cause add|show|list|amend|withdraw``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from git_afd.cli.calling import CONTEXT, afd_command, dry_run_option
from git_afd.cli.lazy import LazyGroup
from git_afd.core.outcome import Outcome
from git_afd.core.state import CLASSES, ROOT_CAUSE_KINDS, RootCause
from git_afd.errors import UsageFault

ROOT_CAUSE_COMMANDS: Final = dict.fromkeys(("add", "show", "list", "amend", "withdraw"), "root_cause")

_PLAN_OPTIONS: Final = (
    click.option("--title", metavar="TEXT", help="What the root cause is, in one line."),
    click.option("--kind", type=click.Choice(ROOT_CAUSE_KINDS), help="What kind of change it needs."),
    click.option("--upstream", multiple=True, metavar="CAUSE", help="'vllm: path::symbol: change'; repeatable."),
    click.option(
        "--class", "class_", type=click.Choice(CLASSES), help="Default: the weightiest of what it disposes of."
    ),
    click.option("--invariant", metavar="TEXT", help="What must stay true."),
    click.option(
        "--file", "files", multiple=True, metavar="PATH", help="A planned file, literal, from the root; repeatable."
    ),
    click.option("--test", "tests", multiple=True, metavar="PATH-OR-ID", help="A focused test; repeatable."),
    click.option("--untested", metavar="WHY", help="Why no test belongs into this commit."),
    click.option("--removal", metavar="TEXT", help="When it can go: a removal or upstream plan."),
    click.option("--layer", type=int, metavar="1..6", help="Its place in the workflow's order."),
    click.option("--out-of-order", metavar="WHY", help="Why it comes before an open earlier layer."),
    click.option("--failure", metavar="F-n", help="The failure that it fixes."),
    click.option(
        "--disposes",
        multiple=True,
        metavar="ITEM=FATE",
        help="kept, rebased, replaced, removed or stopped; repeatable. ITEM with * is every open impact that fits and "
        "weighs no more than --class (BEHAVIORAL if left out).",
    ),
)


def plan_options(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Give a command the options of a plan; each that was not given arrives as None or an empty tuple."""
    for option in reversed(_PLAN_OPTIONS):
        function = option(function)
    return function


@click.group(
    "root-cause", cls=LazyGroup, verbs=ROOT_CAUSE_COMMANDS, context_settings=CONTEXT, invoke_without_command=True
)
@click.pass_context
def root_cause(ctx: click.Context) -> None:
    """Plan one coherent change before it is made: its cause, its files, its tests, what it must preserve."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@afd_command("root-cause.add", name="add")
@plan_options
@dry_run_option
def add(directory: Path, dry_run: bool, **options: Any) -> Outcome:  # noqa: ANN401 - click's own
    """Record a root cause under the next free number.

    One that plans no file and only keeps or stops items needs no commit: it is settled when it is recorded.
    """
    from git_afd.actions.root_cause import add as act
    from git_afd.adapters.session import open_session

    given = _given(options)
    lacking = [f"--{name}" for name in ("title", "kind") if name not in given]
    if lacking:
        raise UsageFault(f"{' and '.join(lacking)} must be given", "git afd root-cause add -h")
    return act(open_session(directory), RootCause(**{"name": "", "class_": "", **given}), dry_run=dry_run)


@afd_command("root-cause.amend", name="amend")
@click.argument("name", metavar="RC-n")
@plan_options
@dry_run_option
def amend(directory: Path, name: str, dry_run: bool, **options: Any) -> Outcome:  # noqa: ANN401 - click's own
    """Change an open root cause's plan; a repeatable option replaces the whole list."""
    from git_afd.actions.root_cause import amend as act
    from git_afd.adapters.session import open_session

    given = _given(options)
    if not given:
        raise UsageFault("nothing to amend was given", "git afd root-cause amend -h")
    return act(open_session(directory), name, given, dry_run=dry_run)


@afd_command("root-cause.withdraw", name="withdraw")
@click.argument("name", metavar="RC-n")
@click.option("--why", required=True, metavar="WHY", help="Why it is given up.")
@dry_run_option
def withdraw(directory: Path, name: str, why: str, dry_run: bool) -> Outcome:
    """Give up an open root cause. The work tree is left as it is."""
    from git_afd.actions.root_cause import withdraw as act
    from git_afd.adapters.session import open_session

    if not why.strip():
        raise UsageFault("--why says nothing", "--why TEXT")
    return act(open_session(directory), name, why, dry_run=dry_run)


@afd_command("root-cause.show", name="show")
@click.argument("name", metavar="RC-n")
def show(directory: Path, name: str) -> Outcome:
    """Show one root cause and its plan."""
    from git_afd.actions.root_cause import show as act
    from git_afd.adapters.session import open_session

    return act(open_session(directory, work_tree=False), name)


@afd_command("root-cause.list", name="list")
def list(directory: Path) -> Outcome:  # noqa: A001 - the verb's name
    """List every root cause, and the impacts that nothing disposes of yet."""
    from git_afd.actions.root_cause import list_all
    from git_afd.adapters.session import open_session

    return list_all(open_session(directory, work_tree=False))


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given, as fields of a root cause."""
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if "disposes" in given:
        given["disposes"] = _disposals(given["disposes"])
    for name in ("files", "tests", "upstream"):
        if len(set(given.get(name, ()))) < len(given.get(name, ())):
            raise UsageFault(f"--{name.removesuffix('s')} names the same twice", "name each once")
    return given


def _disposals(pairs: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        item, equals, fate = pair.rpartition("=")
        if not equals or not item or not fate or item in found:
            raise UsageFault(f"--disposes {pair} is not ITEM=FATE, or names its item twice", "--disposes I-1=kept")
        found[item] = fate
    return found
