"""The git door of the hooks: several read-only calls at once, without the price of importing `subprocess`.

A hook stands where git put it, so the variables by which git locates repository and index pass through here, and
only here. What would write, prompt or lie is switched off as in :mod:`git_afd.adapters.git`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Sequence

_STEADY = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=keep", "-c", "core.quotePath=false")
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


def ask(*calls: Sequence[str]) -> list[tuple[int, bytes]]:
    """Run ``git ARGS`` for each call, all of them side by side; return exit code and standard output of each.

    What they say on standard error is dropped: who needs the reason asks again through the ordinary door.
    Raises OSError when git cannot be started.
    """
    environment = {**os.environ, **_ENVIRONMENT}
    started = [_start(call, environment) for call in calls]
    return [(_finish(pid), output) for output, pid in [(_read(end), pid) for pid, end in started]]


def text_of(data: bytes) -> str:
    """Return `data` as text; a path that is no UTF-8 keeps its bytes (surrogateescape)."""
    return data.decode("utf-8", "surrogateescape")


def _start(call: Sequence[str], environment: dict[str, str]) -> tuple[int, int]:
    read_end, write_end = os.pipe()  # both close on exec; the copy that dup2 makes does not
    try:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, write_end, 1),
        ]
        pid = os.posix_spawnp("git", ["git", *_STEADY, *call], environment, file_actions=actions)
    finally:
        os.close(write_end)
    return pid, read_end


def _read(end: int) -> bytes:
    chunks = []
    while chunk := os.read(end, 1 << 16):
        chunks.append(chunk)
    os.close(end)
    return b"".join(chunks)


def _finish(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
