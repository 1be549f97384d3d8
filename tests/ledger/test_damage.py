"""A ledger that is damaged can be looked at; nothing may be decided on it until the damage is dealt with (D10, G16)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from chronicle import ADA, FREEZE, UPGRADE, phase
from kit import Repo

from git_afd.adapters import state_cache
from git_afd.adapters.configuration import point
from git_afd.adapters.ledger import Ledger
from git_afd.adapters.session import open_session
from git_afd.core.names import LEDGER_REF
from git_afd.core.records import Draft
from git_afd.errors import Blocked, EnvironmentFault, Exit

Break = Callable[[Repo, list[str]], None]


def ledger_of(repo: Repo) -> Ledger:
    return open_session(repo.path).ledger


def written(repo: Repo) -> list[str]:
    """Three records on three commits: a freeze, its phase, a remark. Returns the commits."""
    commits = [repo.commit(str(number)) for number in range(3)]
    said = [("freeze", {**FREEZE, "base": commits[0], "branch": "main"}), ("phase", phase("FREEZE_IDENTITY"))]
    for (kind, body), name in zip([*said, ("remark", {"said": "true"})], commits, strict=True):
        ledger_of(repo).transact(lambda _, k=kind, b=body, n=name: (Draft(k, UPGRADE, b, n),))  # type: ignore[misc]  # bound
    point(open_session(repo.path).git, "main", UPGRADE)
    return commits


def note(repo: Repo, name: str) -> str:
    return repo(["git", "notes", "--ref", LEDGER_REF, "show", name]) + "\n"


def set_note(repo: Repo, name: str, text: str) -> None:
    repo(["git", "notes", "--ref", LEDGER_REF, "add", "-f", "-F", "-", name], stdin=text)


def object_file(repo: Repo, name: str) -> Path:
    return repo.path / ".git/objects" / name[:2] / name[2:]


def overwrite(file: Path, text: str) -> None:
    file.chmod(0o644)
    file.write_text(text)


def remove_note(repo: Repo, name: str) -> None:
    repo(["git", "notes", "--ref", LEDGER_REF, "remove", name])


def listed(repo: Repo, name: str) -> str:
    return repo(["git", "notes", "--ref", LEDGER_REF, "list", name])


def forget(repo: Repo) -> None:
    """Drop every cached state, on disk and in this process."""
    for file in (repo.path / ".git/afd/cache").iterdir():
        file.unlink()
    state_cache._memory.clear()


EDITS: list[tuple[Break, str]] = [
    # somebody's own note on a commit of ours
    (lambda r, c: set_note(r, c[2], note(r, c[2]) + "LGTM\n"), "is not JSON"),
    # a word in a record changed by hand
    (lambda r, c: set_note(r, c[2], note(r, c[2]).replace("true", "false")), "does not match its id"),
    # pretty-printed by a helpful editor
    (lambda r, c: set_note(r, c[2], note(r, c[2]).replace(",", ",\n ")), "is not JSON"),
    # a record taken out of the middle
    (lambda r, c: remove_note(r, c[1]), "is missing: record"),
    # a broken ref is not the same as no ledger
    (lambda r, _: overwrite(r.path / ".git" / LEDGER_REF, "gibberish\n"), "cannot be read"),
]

LOSSES: list[tuple[Break, str]] = [
    # the object store lost a note, or has it corrupt
    (lambda r, c: object_file(r, listed(r, c[2])).unlink(), "note that is missing"),
    (lambda r, c: overwrite(object_file(r, listed(r, c[0])), "no zlib"), "note that is missing"),
    # or the tree, or the commit
    (lambda r, _: object_file(r, r(["git", "rev-parse", f"{LEDGER_REF}^{{tree}}"])).unlink(), "cannot be listed"),
    (lambda r, _: object_file(r, r(["git", "rev-parse", LEDGER_REF])).unlink(), "cannot be"),
]


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize(("damage", "why"), EDITS)
def test_an_edited_ledger_is_shown_by_status_and_stops_what_relies_on_it(
    repo: Repo, damage: Break, why: str, cached: bool
) -> None:
    commits = written(repo)
    damage(repo, commits)
    if not cached:
        forget(repo)
    check(repo, commits[0], why)


@pytest.mark.parametrize(("damage", "why"), LOSSES)
def test_a_lost_object_is_shown_by_status_and_stops_what_relies_on_it(repo: Repo, damage: Break, why: str) -> None:
    commits = written(repo)
    damage(repo, commits)
    assert why in ledger_of(repo).read(fresh=True).damage[0].reason
    forget(repo)
    check(repo, commits[0], why)


def check(repo: Repo, commit: str, why: str) -> None:
    reading = ledger_of(repo).read()
    assert not reading.readable
    assert why in reading.damage[0].reason
    shown = repo.afd("status --json").ok().json
    assert shown["findings"][0]["code"] == "ledger-unreadable"
    assert why in shown["findings"][0]["message"]
    with pytest.raises(Blocked) as stop:
        open_session(repo.path).reading(strict=True)
    assert (stop.value.exit, stop.value.code) == (Exit.BLOCKED, "ledger-unreadable")
    assert stop.value.fix == "git afd log --damage"
    with pytest.raises(Blocked):
        ledger_of(repo).transact(lambda _: (Draft("remark", UPGRADE, {}, commit),))


def test_damage_that_a_person_has_set_aside_blocks_no_more_and_is_shown_for_ever(repo: Repo) -> None:
    commits = written(repo)
    set_note(repo, commits[2], note(repo, commits[2]) + "LGTM\n")
    ledger = ledger_of(repo)
    body = {"what": "damage", "subject": ledger.read().damage[0].id, "name": "Ada", "reason": "a stray review remark"}
    ledger.transact(lambda _: (Draft("approval", UPGRADE, body, commits[0]),))
    reading = ledger.read()
    assert (reading.readable, len(reading.damage), reading.open_damage) == (True, 1, ())
    ledger.transact(lambda _: (Draft("remark", UPGRADE, {}, commits[0]),))
    assert ledger.read().readable
    set_note(repo, commits[1], note(repo, commits[1]) + "me too\n")
    assert not ledger.read().readable


def test_a_note_that_came_back_makes_the_ledger_whole_again(repo: Repo) -> None:
    commits = written(repo)
    good = repo(["git", "rev-parse", LEDGER_REF])
    state = ledger_of(repo).read().state
    repo(["git", "notes", "--ref", LEDGER_REF, "remove", commits[1]])
    assert not ledger_of(repo).read().readable
    repo(["git", "update-ref", LEDGER_REF, good])
    assert ledger_of(repo).read().state == state


@pytest.mark.parametrize("what", ["file", "folder"])
def test_where_our_folder_cannot_be_the_fault_names_it_and_reading_still_works(repo: Repo, what: str) -> None:
    head = repo.commit()
    if what == "file":
        repo.write(".git/afd", "in the way")
    else:
        (repo.path / ".git/afd/ledger.lock").mkdir(parents=True)
    assert ledger_of(repo).read().tip is None
    with pytest.raises(EnvironmentFault, match=r"ledger\.lock cannot be written"):
        ledger_of(repo).transact(lambda _: (Draft("remark", "U", {}, head),))


def test_an_object_store_that_cannot_be_written_is_named_with_a_fix(repo: Repo) -> None:
    head = repo.commit()
    for number in range(256):  # root writes through mode bits, but not into a file
        folder = repo.path / ".git/objects" / f"{number:02x}"
        if not folder.exists():
            folder.write_text("")
    drafts = [Draft("remark", "U", {"n": number}, head) for number in range(8)]

    def write_all() -> None:
        for draft in drafts:
            ledger_of(repo).transact(lambda _, draft=draft: (draft,))  # type: ignore[misc]  # bound

    with pytest.raises(EnvironmentFault, match="the ledger cannot be written") as stop:
        write_all()
    assert "permissions" in stop.value.fix


def test_a_lock_that_another_git_left_is_named(repo: Repo) -> None:
    head = repo.commit()
    ledger_of(repo).transact(lambda _: (Draft("remark", "U", {}, head),))
    (repo.path / ".git" / f"{LEDGER_REF}.lock").write_text("")
    with pytest.raises(EnvironmentFault, match=r"ledger\.lock") as stop:
        ledger_of(repo).transact(lambda _: (Draft("remark", "U", {"n": 2}, head),))
    assert "ledger.lock" in stop.value.fix
    assert len(ledger_of(repo).records()) == 1


def test_a_cached_state_can_be_anything_and_is_never_believed_nor_run(repo: Repo) -> None:
    written(repo)
    good = ledger_of(repo).read()
    for text in (b"", b"rubbish", b"cos\nsystem\n(S'touch owned'\ntR.", b"\x80\x05N.", b"\x80\x05\x8e" + b"\xff" * 8):
        forget(repo)
        assert ledger_of(repo).read() == good
        for file in (repo.path / ".git/afd/cache").iterdir():
            file.write_bytes(text)
        state_cache._memory.clear()
        assert ledger_of(repo).read() == good
    assert not Path("owned").exists()
    assert good.state.upgrades[UPGRADE].freeze.primary == ADA
