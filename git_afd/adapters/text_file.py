"""Changing one text file of the user's work tree: whole or not at all, and only when it still is as it was read."""

from __future__ import annotations

import os
from pathlib import Path

from git_afd.errors import Conflict, EnvironmentFault


def replace_text(path: Path, was: str, now: str) -> None:
    """Replace a file's text (UTF-8, line breaks as given), keeping its mode. Raises Conflict when it has changed."""
    beside = path.with_name(f".{path.name}.afd-{os.getpid()}")
    try:
        if path.read_bytes() != was.encode():
            raise Conflict(f"{path.name} changed meanwhile", "run the same command again")
        beside.write_bytes(now.encode())
        beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise EnvironmentFault(f"{path} cannot be written: {error.strerror}", "look at its permissions") from error
