"""``git afd gate static`` with its checks: on the runtime that it asks for, and on those that only look like it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bench import PASSING_CELL, UNIT, command, gate, policy, shown, upgrade
from kit import Done, Kit, Repo
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade

STATIC = "STATIC_AND_UNIT_GATE"
CHECKS = ["runtime-identity", "plugin-registration", "patches", "focused-tests"]

VLLM = {
    "v1.0": {
        "vllm/__init__.py": "__version__ = '1'\n",
        "vllm/engine.py": "class Engine:\n    def step(self, a): ...\n",
    },
    "v2.0": {
        "vllm/__init__.py": "__version__ = '1'\n",
        "vllm/engine.py": "class Engine:\n    def step(self, b): ...\n",
    },
}
ASCEND = {tag: {"vllm_ascend/__init__.py": f"# {tag}\n"} for tag in ("v1.0", "v2.0")}

PATCH = """\
from vllm.engine import Engine


# Patch reason: the daemon takes steps of its own
# Patch functionality: returns the batch
# Signature: Engine.step, unchanged
# Upstream source: vllm/engine.py::Engine.step at v2.0
def step(self, b):
    # ### PATCH START: batch
    return b
    # ### PATCH END: batch


Engine.step = step
"""
PLUGIN = {
    "afd_plugin/__init__.py": "def register_afd():\n    import afd_plugin.patch\n",
    PRODUCTION: PATCH,
    TEST: "import vllm\n\n\ndef test_step():\n    assert vllm\n",
    "tests/test_later.py": "def test_words():\n    assert True\n",
}
ENTRY = "[vllm.general_plugins]\nafd = afd_plugin:register_afd\n"


def checked_policy() -> str:
    unit = command("static", "unit", *UNIT, junit="'unit.xml'")
    return policy(f"[gates.static]\nchecks = {json.dumps(CHECKS)}\n", unit, PASSING_CELL)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    """One upgrade for the whole module; what one test runs is a diagnostic or the one run that passes."""
    made = upgrade(Kit(tmp_path_factory.mktemp("up")), checked_policy(), files=PLUGIN, upstreams=(VLLM, ASCEND))
    plan = {"title": "follow the batch", "kind": "adaptation", "class": "MECHANICAL", "invariant": "as upstream"}
    about = {"upstream": ["vllm: vllm/engine.py::Engine.step: renamed"], "removal": "never", "files": [PRODUCTION]}
    cause = {"root_cause": "RC-9", "op": "add", **plan, **about, "tests": [TEST, "tests/test_later.py::test_words"]}
    (added,) = made.record(("root-cause", cause))
    parent = made.plugin.head
    commit = made.plugin.commit("adapt", {"afd_plugin/other.py": "OTHER = 2\n"})
    tree = made.plugin("git rev-parse HEAD^{tree}")
    body = {"root_cause": "RC-9", "plan": added.id, "commit": commit, "parent": parent, "tree": tree, "paths": []}
    made.record(("commit", body))
    return made


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder on the path where the plugin's distribution is installed, without its code (an editable install)."""
    folder = tmp_path / "site"
    info = folder / "vllm_afd_plugin-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm-afd-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRY)
    return folder


def run(up: FrozenUpgrade, *path: Path, options: tuple[str, ...] = ("--diagnostic",)) -> Done:
    env = {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    return gate(up, "static", "--json", *options, env=env)


def status_of(done: Done) -> Mapping[str, str]:
    return {one["name"]: one["status"] for one in done.json["data"]["commands"]}


def said(done: Done, code: str) -> str:
    return "; ".join(item["message"] for item in done.json["findings"] if item["code"] == code)


def test_a_runtime_of_the_frozen_pair_with_the_plugin_from_its_tree_passes(up: FrozenUpgrade, site: Path) -> None:
    done = run(up, up.plugin.path, up.vllm.path, up.ascend.path, site, options=()).ok()
    data: dict[str, Any] = done.json["data"]
    assert set(status_of(done).values()) == {"PASS"}
    assert set(status_of(done)) == {"unit", *CHECKS}
    assert [(one["upstream"], one["word"]) for one in data["runtime"]["upstreams"]] == [
        ("vllm", "proven"),
        ("vllm-ascend", "proven"),
    ]
    assert data["plugin"]["entry_points"] == [
        {
            "called": True,
            "distribution": "vllm-afd-plugin",
            "origin": str(up.plugin.path / "afd_plugin/__init__.py"),
            "value": "afd_plugin:register_afd",
        }
    ]
    assert (data["patches"]["functions"], data["patches"]["status"]) == (1, "PASS")
    assert [(row["root_cause"], row["test"], row["outcome"]) for row in data["focused"]] == [
        ("RC-9", TEST, "passed"),
        ("RC-9", "tests/test_later.py::test_words", "passed"),
    ]
    assert (data["not_run"], data["environment_failure"]) == ([], "")
    kept = set(up.upgrade.runs[data["run"]].artifacts)
    assert {"runtime/identity.json", "runtime/registration.json", "patches.json"} <= kept
    # The next gate judges it again from what was kept, without that runtime.
    assert shown(up, STATIC)["status"] == "PASS"
    gate(up, "native", "--dry-run").ok()
    # It takes that interpreter without being told, so that what `next` says can be typed, whatever is first on PATH.
    (site / "python").write_text("#!/bin/sh\nexit 1\n")
    (site / "python").chmod(0o755)
    path = {"PATH": os.pathsep.join((str(site), os.environ["PATH"]))}
    again = up.plugin.afd("gate native --dry-run --json", env=path).ok()
    assert again.json["data"]["python"] == sys.executable


def test_without_vllm_the_failed_import_is_named_an_environment_failure(up: FrozenUpgrade, site: Path) -> None:
    done = run(up, up.plugin.path, site)
    data = done.json["data"]
    assert done.code == 1
    assert status_of(done) == {
        "unit": "FAIL",
        "runtime-identity": "BLOCKED",
        "plugin-registration": "BLOCKED",  # found, and nothing there to register with
        "patches": "PASS",
        "focused-tests": "FAIL",
    }
    assert (data["counts"]["passed"], data["counts"]["collection_errors"]) == (0, 1)
    assert data["environment_failure"].startswith(f"{TEST} could not import vllm: an environment or version failure")
    assert data["blocker"].startswith(data["environment_failure"])
    assert [(row["file"], row["needs"]) for row in data["not_run"]] == [(TEST, "vllm")]
    assert "at which pytest stops" in said(done, "focused-test")


def other_commit(up: FrozenUpgrade, folder: Path) -> Path:
    up.vllm(["git", "clone", "-q", str(up.vllm.path), str(folder)])
    Repo(folder)("git checkout -q v1.0")
    return folder


def test_the_same_version_string_at_another_commit_fails(up: FrozenUpgrade, site: Path, tmp_path: Path) -> None:
    path = (up.plugin.path, other_commit(up, tmp_path / "vllm"), up.ascend.path, site)
    done = run(up, *path, options=("--only", "runtime-identity"))
    assert status_of(done) == {"runtime-identity": "FAIL"}
    assert "; the frozen target is " in said(done, "runtime-other")


def test_an_installed_copy_of_the_plugin_is_not_the_tree_under_test(up: FrozenUpgrade, site: Path) -> None:
    (site / "afd_plugin").mkdir()
    for name in ("__init__.py", "patch.py"):
        (site / "afd_plugin" / name).write_text((up.plugin.path / "afd_plugin" / name).read_text())
    done = run(up, site, up.vllm.path, up.ascend.path, options=("--only", "plugin-registration"))
    assert status_of(done) == {"plugin-registration": "FAIL"}
    assert f"from {site}/afd_plugin/__init__.py, a copy, not from the tree under test" in said(done, "plugin-elsewhere")


def test_a_worktree_of_the_same_commit_is_the_code_under_test(up: FrozenUpgrade, site: Path) -> None:
    path = (up.plugin.path, up.vllm.path, up.ascend.path, site)
    done = run(up, *path, options=("--only", "plugin-registration", "--worktree"))
    assert status_of(done)["plugin-registration"] == "PASS", done.out
    assert "a clean tree of the same commit" in said(done, "plugin-same-commit")


def test_a_bundle_carries_what_the_checks_saw_and_they_judge_it_again(
    up: FrozenUpgrade, site: Path, tmp_path: Path
) -> None:
    bundle = str(tmp_path / "static.afd")
    run(up, up.plugin.path, up.vllm.path, up.ascend.path, site, options=("--bundle", bundle)).ok()
    done = run(up, options=("--from", bundle, "--dry-run")).ok()  # here there is no such runtime
    assert set(status_of(done)) == {"unit", *CHECKS}
    assert set(status_of(done).values()) == {"PASS"}


def test_one_check_can_be_asked_for_by_its_name(up: FrozenUpgrade) -> None:
    done = run(up, options=("--only", "patches")).ok()
    assert status_of(done) == {"patches": "PASS"}
    assert done.json["data"]["diagnostic"] is True
    assert run(up, options=("--only", "patchs")).code == 2


def test_patches_are_judged_from_the_commit_whatever_was_kept(kit: Kit) -> None:
    text = policy('[gates.static]\nchecks = ["patches"]\n', command("static", "fine", "true"))
    made = upgrade(kit, text, files=PLUGIN, upstreams=(VLLM, ASCEND))
    broken = PATCH.replace("def step(self, b):", "def step(self, batch):").replace("    # ### PATCH END: batch\n", "")
    made.plugin.commit("break", {PRODUCTION: broken})
    done = run(made)
    assert status_of(done) == {"fine": "PASS", "patches": "FAIL"}
    assert said(done, "signature-different")
    assert said(done, "marker-unbalanced")
    # A source that is gone leaves nothing to judge by; the target trees named for this host still do.
    made.plugin.commit("mend", {PRODUCTION: PATCH})
    made.vllm.path.rename(made.vllm.path.with_name("away"))
    moved = ("--diagnostic", "--target", "vllm=../away")
    assert status_of(run(made, options=moved)) == {"fine": "PASS", "patches": "PASS"}


def test_a_runtime_that_changes_during_the_run_is_seen_after_it(kit: Kit, tmp_path: Path) -> None:
    evil = ("sh", "-c", f"echo '#' >> {tmp_path}/clone/vllm/engine.py")
    text = policy('[gates.static]\nchecks = ["runtime-identity"]\n', command("static", "evil", *evil))
    made = upgrade(kit, text, files=PLUGIN, upstreams=(VLLM, ASCEND))
    made.vllm(["git", "clone", "-q", str(made.vllm.path), str(tmp_path / "clone")])
    done = run(made, tmp_path / "clone", made.ascend.path)
    assert (done.code, status_of(done)["runtime-identity"]) == (6, "PASS")
    assert "would import came to differ during the run" in said(done, "tree-moved")
