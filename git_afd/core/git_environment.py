"""The variables by which an outer git tells its children which repository they stand in.

Imports nothing at run time: the hook path, the git door and the process runner all read this one list. A child that we
send to a directory of our choice must not inherit any of them: git would then act on the outer repository,
whatever the directory (git documentation, ``rev-parse --local-env-vars``; scenarios A1, A3).
"""

from __future__ import annotations

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Mapping

REPOSITORY_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
)
"""What ``git rev-parse --local-env-vars`` lists (2.39, a superset of later ones; a test compares with the git
at hand), and two that redirect refs and objects without being listed there."""


def without_repository(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of `environment` in which nothing locates a repository."""
    return {name: value for name, value in environment.items() if name not in REPOSITORY_VARIABLES}
