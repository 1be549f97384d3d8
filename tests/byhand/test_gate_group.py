from __future__ import annotations

import pytest
from kit import Repo

# arguments, exit code, a word that must be said
CALLS = (
    ("gate", 0, "Usage: git afd gate"),  # a group alone shows what it holds
    ("gate -h", 0, "Usage: git afd gate"),
    ("gate nothing", 2, "no such command 'nothing'"),  # a gate that is not there is a usage fault with its fix
    ("help gate", 0, "Usage: git afd gate"),
)


@pytest.mark.parametrize(("args", "code", "word"), CALLS)
def test_the_gate_group_answers(repo: Repo, args: str, code: int, word: str) -> None:
    done = repo.afd(args)
    assert done.code == code
    assert word in done.out + done.err
