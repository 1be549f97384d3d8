"""The pre-commit framework runs our hooks by `.pre-commit-hooks.yaml`, and lives beside the native ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit import ROOT, Kit, Repo
from kit_hooks import afd, announce, commit, copy_of_upgrade, message, plan_root_cause, put_hooks
from kit_upgrade import BRANCH, PRODUCTION, FrozenUpgrade

from git_afd.adapters.hook_install import STAGES

ALL = [word for stage in STAGES for word in ("-t", stage)]


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    """An upgrade whose plugin names our hooks in the framework's settings; no hook is installed yet.

    The framework clones the repository that offers hooks; `language: system` needs nothing else, so no network.
    """
    made = copy_of_upgrade(tmp_path, tmp_path_factory)
    offers = Kit(tmp_path).repo("offers")
    offers.commit("hooks", {".pre-commit-hooks.yaml": (ROOT / ".pre-commit-hooks.yaml").read_bytes()})
    ids = "".join(f"      - id: git-afd-{stage}\n" for stage in STAGES)
    settings = f"repos:\n  - repo: {offers.path}\n    rev: {offers.head}\n    hooks:\n{ids}"
    made.plugin.write(".pre-commit-config.yaml", settings)
    made.plugin("git checkout -q -- afd_plugin")
    made.plugin.commit("settings")
    afd(made.plugin, "hooks uninstall").ok()
    return made


def framework(repo: Repo) -> None:
    repo(["pre-commit", "install", *ALL])


def test_our_hooks_work_through_the_framework(case: FrozenUpgrade, tmp_path: Path) -> None:
    framework(case.plugin)
    refused = case.plugin.run("git commit -q --allow-empty -m x")
    assert (refused.code, "nothing announced this commit" in refused.err) == (1, True)
    case.plugin.write("README.md", "the user's own work\n")  # the framework takes it away and brings it back
    intent = announce(case)
    assert (
        "`Validation:` is missing" in commit(case.plugin, message(case, intent).replace("Validation:", "Checked:")).err
    )
    commit(case.plugin, message(case, intent)).ok()
    assert (case.plugin.path / "README.md").read_text() == "the user's own work\n"
    far = Kit(tmp_path).repo("far", "--bare")
    pushed = case.plugin.run(["git", "push", "-q", str(far.path), BRANCH])
    assert (pushed.code, f"of the open upgrade {case.id}" in pushed.out) == (1, True)
    case.plugin(["git", "push", "-q", str(far.path), "main"])
    stages = afd(case.plugin, "hooks status --json").ok().json["data"]["stages"]
    assert {(hook["kind"], hook["active"]) for hook in stages.values()} == {("framework", True)}


def test_a_framework_without_our_hooks_is_said_to_check_nothing(case: FrozenUpgrade) -> None:
    framework(case.plugin)
    case.plugin.write(".pre-commit-config.yaml", "repos: []\n")
    status = afd(case.plugin, "hooks status --json").ok().json
    assert [item["message"] for item in status["findings"]] == [
        f"{stage} is the pre-commit framework's, and its settings do not name git-afd" for stage in STAGES
    ]


@pytest.mark.parametrize("first", ["ours", "the framework"])
def test_running_twice_is_harmless_whoever_came_first(case: FrozenUpgrade, first: str) -> None:
    if first == "ours":
        put_hooks(case.plugin.path)
    framework(case.plugin)
    if first != "ours":
        put_hooks(case.plugin.path)
    plan_root_cause(case, "RC-8", [PRODUCTION])
    intent = announce(case, {PRODUCTION: "2\n"}, name="RC-8")
    commit(case.plugin, message(case, intent)).ok()
    stages = afd(case.plugin, "hooks status --json").ok().json["data"]["stages"]
    assert all(hook["active"] for hook in stages.values())
    afd(case.plugin, "hooks uninstall").ok()
    left = {path.name for path in (case.plugin.path / ".git/hooks").iterdir() if not path.name.endswith(".sample")}
    assert left == set(STAGES)
    assert all(b"pre-commit.com" in (case.plugin.path / ".git/hooks" / stage).read_bytes() for stage in STAGES)
