"""The demo is the README's first command: it must work anywhere, quickly, and tell only what happened."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from kit import Done, Repo, run


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> tuple[Path, Done]:
    """The demo's folder after the whole walk, and what it said. The demo seals itself: nothing of ours reaches it."""
    folder = tmp_path_factory.mktemp("demo") / "kept"
    home = tmp_path_factory.mktemp("nothing")
    env = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    return folder, run(["git-afd", "demo", "--keep", str(folder)], home, env=env)


def afd(folder: Path, words: str, env: Mapping[str, str] | None = None) -> Done:
    """Run git-afd in the kept plugin with the demo's own HOME and host."""
    own = {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder / "home"), **(env or {})}
    return Repo(folder / "plugin").afd(words, env=own)


def statuses(folder: Path) -> dict[str, str]:
    return {row["phase"]: row["status"] for row in afd(folder, "status --json").ok().json["data"]["phases"]}


def test_the_whole_way_is_walked_and_ends_with_what_is_owed(kept: tuple[Path, Done]) -> None:
    folder, done = kept
    assert done.code == 0, done.out + done.err
    shown = statuses(folder)
    assert [shown[name] for name in shown][:9] == ["PASS"] * 9
    assert [shown[name] for name in shown][9:] == ["not run"] * 3
    assert "AFD_GSM8K_LIMIT would lower" in done.out
    assert "BLOCKED" in done.out
    assert "production code, which waits for ARCHITECTURE_GATE" in done.out


def test_the_colleagues_work_is_not_in_the_commit_and_still_there(kept: tuple[Path, Done]) -> None:
    plugin = Repo(kept[0] / "plugin")
    assert plugin("git show --format= --name-only HEAD").splitlines() == [
        "afd_plugin/patches/engine.py",
        "pyproject.toml",
        "tests/unit/test_engine.py",
    ]
    assert plugin("git status --short") == "M README.md"
    assert plugin("git show -s --format=%B HEAD").count("Signed-off-by:") == 1


def test_the_same_demo_in_json_is_one_document(tmp_path: Path) -> None:
    done = run(["git-afd", "demo", "--json"], tmp_path)
    document = json.loads(done.out)
    assert done.code == 0
    assert document["ok"]
    assert [step["number"] for step in document["data"]["steps"]] == list(range(1, len(document["data"]["steps"]) + 1))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_refused(tmp_path: Path) -> None:
    done = run(["git-afd", "demo", "--keep", str(tmp_path)], tmp_path)
    assert done.code == 5
    assert "exists already" in done.err


def test_deleting_one_raw_result_turns_the_status_from_pass(kept: tuple[Path, Done]) -> None:
    folder = kept[0]
    records = [json.loads(line) for line in afd(folder, "log --json --kind run").ok().out.splitlines()]
    runs = [record for record in records[0]["data"]["records"] if record["body"]["gate"] == "accuracy"]
    artifacts = runs[-1]["body"]["artifacts"]
    name = next(name for name in artifacts if "results" in name)
    digest = artifacts[name]
    stored = folder / "plugin/.git/afd/artifacts" / digest[:2] / digest
    assert statuses(folder)["NPU_ACCURACY_GATE"] == "PASS"
    stored.parent.chmod(0o755)
    stored.rename(folder / "taken-away")
    assert statuses(folder)["NPU_ACCURACY_GATE"] == "BLOCKED"
    (folder / "taken-away").rename(stored)
    assert statuses(folder)["NPU_ACCURACY_GATE"] == "PASS"
