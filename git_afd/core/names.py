"""Names the project uses, and what makes one well formed."""

from __future__ import annotations

import re
from typing import Final

UPSTREAMS: Final = ("vllm", "vllm-ascend")
"""The two upstreams, in the order in which everything lists them."""

PACKAGES: Final = {"vllm": "vllm", "vllm-ascend": "vllm_ascend"}
"""The importable package of each upstream, which is also its folder in the upstream's repository."""

SIDES: Final = ("current", "target")

LEDGER_REF: Final = "refs/notes/afd/ledger"
ARTIFACT_REF: Final = "refs/afd/artifacts"
PIN_PREFIX: Final = "refs/afd/pins/"
LESSON_SUFFIX: Final = "lessons.md"

_FULL_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_ROOT_CAUSE = re.compile(r"RC-([1-9][0-9]*)\Z")


def is_full_id(text: str) -> bool:
    """Say whether `text` is a full object id (SHA-1 or SHA-256, lower-case hex)."""
    return bool(_FULL_ID.match(text))


def root_cause_number(name: str) -> int | None:
    """Return n of ``RC-n``, None when `name` is not one."""
    match = _ROOT_CAUSE.match(name)
    return int(match.group(1)) if match else None


def revision_key(upstream: str, side: str) -> str:
    """Return the ledger's key of a revision: ``vllm-ascend.target``."""
    return f"{upstream}.{side}"


REVISION_KEYS: Final = tuple(revision_key(upstream, side) for side in SIDES for upstream in UPSTREAMS)


def literal_path_fault(path: str) -> str | None:
    """Say what is wrong with a planned path (repository-relative, literal), None when nothing is.

    Globs are legal file names and are taken literally; absolute paths, ``..``, ``.git`` components and
    trailing slashes are not paths of files below the root.
    """
    if not path or path.startswith("/"):
        return "is not relative to the repository's root"
    if path.endswith("/"):
        return "names a folder; name each file"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "is not in its shortest form"
    if any(part.lower() == ".git" for part in parts):
        return "lies inside a git directory"
    if "\0" in path:
        return "holds a NUL byte"
    return None
