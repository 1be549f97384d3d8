"""The rules behind ``git afd doctor``."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final

from git_afd.core.names import LEDGER_REF

OLDEST_GIT: Final = (2, 39)
"""The git that everything here was measured with; earlier ones lack `git hook run` or lie about notes."""


def too_old(said: str) -> bool:
    """Say whether ``git version`` names one before OLDEST_GIT; an unknown form is not known to be right."""
    found = re.search(r"(\d+)\.(\d+)", said)
    return found is None or (int(found.group(1)), int(found.group(2))) < OLDEST_GIT


def rewrites_ledger(pattern: str) -> bool:
    """Say whether a value of ``notes.rewriteRef`` covers the ledger: a glob in which ``*`` crosses slashes."""
    return fnmatchcase(LEDGER_REF, pattern)
