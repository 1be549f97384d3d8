"""The how-to pages name commands, options and values that exist: what a reader types is asked of the program itself."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from kit import ROOT

from git_afd.cli.entry import afd

FENCE = re.compile(r"```(?:sh|text)\n(.*?)\n```", re.DOTALL)
TYPED = re.compile(r"^(?:\$ )?(git[ -]afd .*?)(?:\s+#.*)?$")
INLINE = re.compile(r"`(git[ -]afd [^`]*)`")
PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))


def commands_of(page: Path) -> list[str]:
    """Return every command line that a page shows, in blocks and in sentences."""
    text = page.read_text().replace("\\\n", " ")
    lines = [
        line for block in FENCE.findall(text) for line in block.split("\n") if not line.startswith(("fix:", "next:"))
    ]
    typed = [match[1] for line in lines if (match := TYPED.match(line))]
    return [*typed, *INLINE.findall(FENCE.sub("", text))]


def fault_of(line: str) -> str:
    """Say what is wrong with a command line, as far as that can be told without running it; empty for nothing."""
    words = shlex.split(line.split(" > ", maxsplit=1)[0].replace("git-afd", "git afd", 1))[2:]
    command: click.Command = afd
    context = click.Context(afd)
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            break
        command, context, words = found, click.Context(found), words[1:]
    if command is afd:
        return f"there is no command {words[:1]}"
    options = {name: item for item in command.params if isinstance(item, click.Option) for name in item.opts}
    for place, word in enumerate(words):
        name, _, value = word.partition("=")
        if not word.startswith("--"):
            continue
        if name not in options:
            return f"{command.name} has no option {name}"
        kind, given = options[name].type, value or " ".join(words[place + 1 : place + 2])
        if isinstance(kind, click.Choice) and given not in (*kind.choices, "…"):
            return f"{name} takes no {given!r}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_how_to_names_only_what_exists(page: Path) -> None:
    lines = commands_of(page)
    assert {line: fault for line in lines if (fault := fault_of(line))} == {}


def test_the_analysis_page_shows_every_command_of_its_subject() -> None:
    shown = " ".join(commands_of(ROOT / "docs" / "how-to" / "analyse-an-upgrade.md"))
    wanted = (
        "inventory --read",
        "inventory annotate",
        "diff --changed",
        "diff --show",
        "classify --proposed",
        "verify --patches",
    )
    assert [
        words for words in (*wanted, "--markdown", "--html", "--at", "--write", "--staged") if words not in shown
    ] == []


# a line that drifted, and what is said of it
DRIFTED = [
    ("git afd inventry", "no command"),
    ("git afd inventory --unknwon", "has no option --unknwon"),
    ("git afd diff --changed --class SEMANTIC", "takes no 'SEMANTIC'"),
    ("git afd inventory annotate X --invariant Y --why Z", "annotate has no option --why"),
    ("git afd gate accuracy --bundel FILE", "has no option --bundel"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), DRIFTED)
def test_a_line_that_drifted_is_found(line: str, said: str) -> None:
    assert said in fault_of(line)
