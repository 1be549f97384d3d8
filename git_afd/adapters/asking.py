"""Asks a program something: it runs like any command, what it prints is returned, and nothing of it is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from git_afd.adapters.process import ProcessResult, run_command

_GRACE_S: Final = 2.0


def asked(
    argv: Sequence[str], *, env: Mapping[str, str], timeout_s: float, cwd: Path | None = None
) -> tuple[ProcessResult, str]:
    """Run `argv` in `cwd`, else in a folder of its own; return how it ended and what it printed on both outputs.

    Raises EnvironmentFault when it cannot be started, KeyboardInterrupt when this program was told to stop meanwhile.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        place = cwd or Path(folder)
        done = run_command(argv, cwd=place, env=env, log=log, timeout_s=timeout_s, grace_s=_GRACE_S)
        text = log.read_text(errors="replace")
    if done.interrupted:
        raise KeyboardInterrupt
    return done, text
