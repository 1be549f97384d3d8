"""`git afd doctor` names what would make git-afd unreliable here, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit import Kit, Repo
from kit_hooks import afd, copy_of_upgrade, snapshot
from kit_upgrade import FrozenUpgrade

from git_afd.core.doctoring import rewrites_ledger, too_old
from git_afd.core.names import LEDGER_REF


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    return copy_of_upgrade(tmp_path, tmp_path_factory)


def codes(repo: Repo, code: int) -> list[str]:
    done = afd(repo, "doctor --json")
    assert done.code == code, done.out + done.err
    return sorted({item["code"] for item in done.json["findings"]})


def test_all_is_well_in_a_sound_upgrade_and_nothing_is_written(case: FrozenUpgrade) -> None:
    before = snapshot(case.plugin.path)
    assert codes(case.plugin, 0) == []
    assert snapshot(case.plugin.path) == before
    checks = afd(case.plugin, "doctor --json").json["data"]["checks"]
    assert set(checks) == {"git", "objects", "ledger", "upgrade", "hooks", "notes"}
    assert checks["upgrade"].endswith(case.id)


def test_each_fault_has_its_finding_and_its_remedy(case: FrozenUpgrade) -> None:
    repo = case.plugin
    repo("git config notes.rewriteRef refs/notes/*")
    assert codes(repo, 1) == ["notes-rewritten"]
    repo("git config --unset notes.rewriteRef")
    repo("git config core.hooksPath nowhere")
    assert codes(repo, 1) == ["hooks-inert"]
    repo("git config --unset core.hooksPath")
    repo(["git", "notes", f"--ref={LEDGER_REF}", "append", "-m", "no record", "HEAD"])
    assert codes(repo, 1) == ["ledger-unreadable"]
    repo(["git", "update-ref", "-d", LEDGER_REF])
    done = afd(repo, "doctor")
    assert (
        done.code,
        "which the ledger lacks" in done.out,
        "next: git fetch REMOTE refs/notes/afd/ledger" in done.out,
    ) == (1, True, True)


def test_a_repository_that_libgit2_cannot_open_is_no_fault(kit: Kit) -> None:
    repo = kit.repo("sha256", "--object-format=sha256")
    repo.commit()
    afd(repo, "hooks install").ok()
    assert codes(repo, 0) == []
    assert "libgit2 cannot open" in afd(repo, "doctor --json").json["data"]["checks"]["objects"]


# what git version says; whether that is too old
VERSIONS = [
    ("git version 2.39.5", False),
    ("git version 2.55.0.windows.1", False),
    ("git version 3.0", False),
    ("git version 2.38.1", True),
    ("git version 1.99", True),
    ("git, as you like it", True),
]


@pytest.mark.parametrize(("said", "old"), VERSIONS)
def test_the_oldest_git_is_the_one_that_was_measured(said: str, old: bool) -> None:
    assert too_old(said) is old


# notes.rewriteRef; whether git would copy the ledger's notes
REWRITTEN = [
    ("refs/notes/afd/ledger", True),
    ("refs/notes/*", True),
    ("refs/notes/afd/*", True),
    ("refs/notes/commits", False),
    ("refs/notes/afd", False),
    ("afd/ledger", False),
]


@pytest.mark.parametrize(("pattern", "covers"), REWRITTEN)
def test_a_rewrite_of_notes_is_judged_as_git_does_it(repo: Repo, pattern: str, covers: bool) -> None:
    assert rewrites_ledger(pattern) is covers
    repo.commit()
    repo(["git", "config", "notes.rewriteRef", pattern])
    repo(["git", "notes", f"--ref={LEDGER_REF}", "add", "-m", "note"])
    repo("git commit -q --amend --allow-empty -m other")
    assert (repo.run(["git", "notes", f"--ref={LEDGER_REF}", "show"]).code == 0) is covers
