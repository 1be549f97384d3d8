"""The user's editor, as git would start it (git-var(1), GIT_EDITOR), on a file, with the user's terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from git_afd.adapters.git import Git
from git_afd.errors import EnvironmentFault, UsageFault


def insist_on_terminal() -> None:
    """Refuse to edit without one: an editor that nobody sees would hang for ever."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageFault(
            "--edit needs a terminal", "leave out --edit; --type, --scope, --why and --validation shape it"
        )


def edit(git: Git, file: Path) -> None:
    """Let the user edit `file`. Raises EnvironmentFault when the editor cannot be started or fails."""
    editor = git.run("var", "GIT_EDITOR").text
    if not editor:
        raise EnvironmentFault("git knows no editor", "git config core.editor PROGRAM")
    done = subprocess.run(["/bin/sh", "-c", f'{editor} "$@"', editor, str(file)], cwd=git.cwd, check=False)
    if done.returncode:
        raise EnvironmentFault(
            f"the editor ({editor}) failed, so nothing is committed", "git config core.editor PROGRAM"
        )
