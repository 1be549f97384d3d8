from __future__ import annotations

from kit import Repo

from git_afd.core.git_environment import REPOSITORY_VARIABLES, without_repository


def test_every_variable_that_this_git_calls_local_is_removed(repo: Repo) -> None:
    assert set(repo("git rev-parse --local-env-vars").split()) <= set(REPOSITORY_VARIABLES)


def test_only_what_locates_a_repository_is_removed() -> None:
    kept = {"PATH": "/bin", "GIT_EDITOR": "false", "GIT_AUTHOR_NAME": "Ada"}
    assert without_repository({**kept, **dict.fromkeys(REPOSITORY_VARIABLES, "x")}) == kept
