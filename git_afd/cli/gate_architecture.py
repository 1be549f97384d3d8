"""``git afd gate architecture``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from git_afd.actions.architecture_answers import Check
from git_afd.cli.calling import afd_command, dry_run_option
from git_afd.core.outcome import Outcome
from git_afd.core.stop_conditions import Answer, ConditionRow, StackAnswer


@afd_command("gate.architecture", name="architecture")
@click.option(
    "--answers",
    "file",
    metavar="FILE",
    help="Read answers from a file (TOML or JSON; docs/reference/workbook.md shows one).",
)
@click.option("--decide", type=click.Choice(["continue", "stop"]), help="Decide; only the primary may.")
@click.option("--why", metavar="TEXT", default="", help="The reason of the decision.")
@click.option("--output", metavar="FILE", help="Write the stop report: JSON when it ends in .json, else Markdown.")
@dry_run_option
def architecture(
    directory: Path, file: str | None, decide: str | None, why: str, output: str | None, dry_run: bool
) -> Outcome:
    """Phase 3: show the seven stop conditions; with --decide, record whether the upgrade goes on or stops."""
    from git_afd.actions.gate_architecture import Request, gate_architecture
    from git_afd.adapters.session import open_session

    request = Request(
        answers=directory / file if file else None,
        name=file or "",
        decide=decide or "",
        why=why,
        output=directory / output if output else None,
        dry_run=dry_run,
    )
    person = AtTerminal() if sys.stdin.isatty() and sys.stdout.isatty() else None
    return gate_architecture(open_session(directory), request, person)


class AtTerminal:
    """Asks a person; an answer whose evidence names nothing is asked for again."""

    def condition(self, row: ConditionRow, check: Check) -> Answer:
        """Ask whether a condition holds, what shows it, and why."""
        click.echo(f"\n{row.condition.number}. {row.condition.question}")
        holds = click.confirm("does it hold", default=None)
        return Answer(row.condition.number, holds, self._evidence(check), click.prompt("why"))

    def question(self, key: str, text: str, check: Check) -> StackAnswer:
        """Ask what the freeze could not tell of the stack."""
        click.echo(f"\n{key}: {text}")
        return StackAnswer(key, click.prompt("answer"), self._evidence(check))

    def text(self, about: str) -> str:
        """Ask for one text of the stop report."""
        said: str = click.prompt(f"\n{about}")
        return said

    def _evidence(self, check: Check) -> tuple[str, ...]:
        while True:
            said: str = click.prompt("evidence (impact, contract, artifact or path@base, path@vllm.target, …)")
            items = tuple(said.replace(",", " ").split())
            wrong = next((why for item in items if (why := check(item))), "" if items else "nothing was named")
            if not wrong:
                return items
            click.echo(f"no: {wrong}")
