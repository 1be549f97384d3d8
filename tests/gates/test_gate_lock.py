"""One gate at a time in a repository, and one on a host's devices; the kernel frees a lock when its holder dies."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from git_afd.adapters.gate_lock import Holder, gate_lock, holder_of, this_process
from git_afd.errors import Conflict, EnvironmentFault

ME = Holder("basic", "U-1", "", "2026-08-01T10:00:00Z", *this_process())


def holder(home: Path, **change: object) -> Holder:
    return dataclasses.replace(ME, repository=str(home), **change)  # type: ignore[arg-type]


# the second gate's repository, what each one needs, whether it is refused and what is said
PAIRS = [
    ("one", False, False, "another gate runs in this repository: gate basic of U-1, run R-3, process"),
    ("one", True, False, "another gate runs in this repository"),
    ("two", True, True, "another gate uses this host's devices: gate basic of U-1, run R-3, process"),
    ("two", True, False, ""),  # what needs no device disturbs nobody
    ("two", False, True, ""),
]


@pytest.mark.parametrize(("second", "first_devices", "second_devices", "said"), PAIRS)
def test_the_second_is_refused_and_told_who_holds_it(
    tmp_path: Path, second: str, first_devices: bool, second_devices: bool, said: str
) -> None:
    one, other = tmp_path / "one", tmp_path / second
    with gate_lock(one, holder(one), devices=first_devices) as lock:
        lock.name("R-3")
        refusal = refused(other, devices=second_devices)
    assert (refusal is None) == (said == "")
    if refusal:
        assert said in refusal.message
        assert f"process {os.getpid()}, since 2026-08-01T10:00:00Z" in refusal.message
        assert (refusal.fix == "wait for it") == (second == "two")
        assert (str(one) in refusal.message) == (second == "two")
    with gate_lock(one, holder(one), devices=True), gate_lock(tmp_path / "three", holder(one), devices=False):
        pass  # all is free again


def refused(home: Path, *, devices: bool) -> Conflict | None:
    try:
        with gate_lock(home, holder(home), devices=devices):
            return None
    except Conflict as conflict:
        return conflict


# what stands in the lock's file, and whether somebody is at work by it
FILES = [
    (holder(Path("x"), run="R-1"), True),
    (holder(Path("x"), started=ME.started - 100), False),  # another process has the number now
    (holder(Path("x"), pid=2**22 + 1), False),
    (b"", False),  # not written yet
    (b"\xff{", False),
    (b"[]", False),
    (b'{"pid": "1"}', False),
    (b"9" * 70_000, False),
]


@pytest.mark.parametrize(("text", "at_work"), FILES)
def test_a_gate_is_at_work_only_while_its_very_process_lives(
    tmp_path: Path, text: Holder | bytes, at_work: bool
) -> None:
    if isinstance(text, Holder):
        with gate_lock(tmp_path, text, devices=False):
            assert (holder_of(tmp_path) == text) == at_work
    else:
        (tmp_path / "gate.lock").write_bytes(text)
        assert holder_of(tmp_path) is None
        with gate_lock(tmp_path, ME, devices=False):
            assert holder_of(tmp_path) == ME


def test_a_lock_that_outlives_its_gate_says_that_its_commands_are_being_ended(tmp_path: Path) -> None:
    dead = holder(tmp_path, pid=2**22 + 1, run="R-1")
    with gate_lock(tmp_path, dead, devices=False):
        refusal = refused(tmp_path, devices=False)
    assert refusal is not None
    assert "has died, and what it started is being ended" in refusal.message


def test_without_a_session_folder_the_lock_stands_below_the_temporary_one_and_only_in_our_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with gate_lock(tmp_path / "home", ME, devices=True):
        folder = tmp_path / f"git-afd-{os.getuid()}"
        assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "devices.lock").unlink()
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentFault), gate_lock(tmp_path / "home", ME, devices=True):
        pass
