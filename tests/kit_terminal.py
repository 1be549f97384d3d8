"""A person at a terminal: a real process on a pseudo-terminal, with what is typed at its prompts."""

from __future__ import annotations

import pexpect
from kit import Repo


def at_terminal(repo: Repo, what: str, *lines: str) -> tuple[int, str]:
    """Type `lines` at the prompts of `git afd approve WHAT`; return exit code and what was shown."""
    child = pexpect.spawn("git-afd", ["approve", what], cwd=str(repo.path), timeout=60, encoding="utf-8")
    shown = ""
    for prompt, line in zip(("phrase: ", "reason: ")[: len(lines)], lines, strict=True):
        child.expect_exact(prompt)
        shown += child.before or ""
        child.sendline(line)
    child.expect(pexpect.EOF)
    shown += child.before or ""
    child.close()
    return child.exitstatus if child.exitstatus is not None else -1, shown
