"""The git door of the hooks: several read-only calls at once, without the price of importing `subprocess`.

A hook stands where git put it, so the variables by which git locates repository and index pass through here, and
only here. What would write, prompt or lie is switched off as in :mod:`git_afd.adapters.git`.
"""

from __future__ import annotations

import posix  # `os` without its price: an eighth of a bare start

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Sequence

_STEADY = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=keep", "-c", "core.quotePath=false")
_ENVIRONMENT = {
    b"LC_ALL": b"C.UTF-8",
    b"GIT_OPTIONAL_LOCKS": b"0",
    b"GIT_NO_REPLACE_OBJECTS": b"1",
    b"GIT_NO_LAZY_FETCH": b"1",
    b"GIT_TERMINAL_PROMPT": b"0",
}
_NOTHING = "/dev/null"


def ask(*calls: Sequence[str]) -> list[tuple[int, bytes]]:
    """Run ``git ARGS`` for each call, all of them side by side; return exit code and standard output of each.

    What they say on standard error is dropped: who needs the reason asks again through the ordinary door.
    Raises OSError when git cannot be started.
    """
    environment = {**posix.environ, **_ENVIRONMENT}
    started = [_start(call, environment) for call in calls]
    return [(_finish(pid), output) for output, pid in [(_read(end), pid) for pid, end in started]]


def text_of(data: bytes) -> str:
    """Return `data` as text; a path that is no UTF-8 keeps its bytes (surrogateescape)."""
    return data.decode("utf-8", "surrogateescape")


def _start(call: Sequence[str], environment: dict[bytes, bytes]) -> tuple[int, int]:
    read_end, write_end = posix.pipe()  # both close on exec; the copy that dup2 makes does not
    try:
        actions = [
            (posix.POSIX_SPAWN_OPEN, 0, _NOTHING, posix.O_RDONLY, 0),
            (posix.POSIX_SPAWN_OPEN, 2, _NOTHING, posix.O_WRONLY, 0),
            (posix.POSIX_SPAWN_DUP2, write_end, 1),
        ]
        pid = posix.posix_spawnp("git", ["git", *_STEADY, *call], environment, file_actions=actions)
    finally:
        posix.close(write_end)
    return pid, read_end


def _read(end: int) -> bytes:
    chunks = []
    while chunk := posix.read(end, 1 << 16):
        chunks.append(chunk)
    posix.close(end)
    return b"".join(chunks)


def _finish(pid: int) -> int:
    return posix.waitstatus_to_exitcode(posix.waitpid(pid, 0)[1])
