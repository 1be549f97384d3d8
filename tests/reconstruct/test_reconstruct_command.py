"""``git afd reconstruct`` on a frozen upgrade and without one; and what ``--write`` refuses."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from kit import Kit, Repo, call
from kit_upgrade import PRODUCTION, FrozenUpgrade, frozen

PATCH = '''"""Counts batches."""

import vllm.engine as engine_module


# Patch reason: batches are counted.
# Patch functionality: counts each batch before upstream sees it.
# Signature: matches upstream.
# Upstream source: ``vllm/engine.py`` ``Engine.step`` at ``v1.0``.
def step(self, batch):
    # ### PATCH START: count
    count(batch)
    # ### PATCH END: count
    return batch


def count(batch):
    return len(batch)


engine_module.Engine.step = step
'''
UNMARKED = PATCH.replace("    return batch\n\n\ndef", "    return list(batch)\n\n\ndef")
ASKED = f"{PRODUCTION}::step"
NEW = """# Upstream source: ``vllm/engine.py`` ``Engine.step`` at ``v2.0``.
def step(self, batch, *, dbo=False):
    # ### PATCH START: count
    count(batch)
    # ### PATCH END: count
    return batch
"""

_MADE: dict[str, FrozenUpgrade] = {}


@pytest.fixture
def upgrade(kit: Kit, request: pytest.FixtureRequest) -> FrozenUpgrade:
    """An upgrade whose plugin patches Engine.step; RC-1 plans the file. `param` is the file's text."""
    case = frozen(kit, up_to="ARCHITECTURE_GATE", files={PRODUCTION: getattr(request, "param", PATCH)})
    words = ["--title", "take the keyword", "--kind", "adaptation", "--class", "BEHAVIORAL", "--untested", "trivial"]
    words += ["--upstream", "vllm: vllm/engine.py::Engine.step: takes dbo", "--invariant", "one step", "--removal", "x"]
    call(["root-cause", "add", *words, "--file", PRODUCTION], case.plugin.path).ok()
    return case


def test_the_function_is_rebuilt_from_the_frozen_commits(upgrade: FrozenUpgrade) -> None:
    before = upgrade.plugin("git status --porcelain")
    done = call(["reconstruct", ASKED, "--json", "--three-way"], upgrade.plugin.path).ok()
    data = done.json["data"]
    assert data["text"].endswith(NEW)
    assert data["complete"]
    assert [(item["label"], item["expected"], item["found"], item["fate"]) for item in data["blocks"]] == [
        ("count", 1, 1, "placed")
    ]
    assert (data["deviations"], data["questions"]) == ([], [])
    assert "+def step(self, batch, *, dbo=False):" in data["three_way"]["change"]
    assert "+    count(batch)" in data["three_way"]["then"]
    assert upgrade.plugin("git status --porcelain") == before
    by_id = call(["reconstruct", data["contracts"][0], "--json"], upgrade.plugin.path).ok()
    assert by_id.json["data"]["text"] == data["text"]


def test_it_is_put_in_place_for_the_root_cause_that_plans_the_file(upgrade: FrozenUpgrade) -> None:
    path = upgrade.plugin.path / PRODUCTION
    rehearsed = call(["reconstruct", ASKED, "--write", "--dry-run", "--json"], upgrade.plugin.path).ok()
    assert rehearsed.json["data"]["written"] is False
    assert path.read_text() == PATCH
    done = call(["reconstruct", ASKED, "--write", "--json"], upgrade.plugin.path).ok()
    assert done.json["data"]["written"] is True
    assert done.json["next"] == "git afd commit --root-cause RC-1"
    assert NEW in path.read_text()
    old = PATCH[PATCH.index("# Upstream") : PATCH.index("\n\ndef")]
    assert path.read_text() == PATCH.replace(old, NEW)
    ast.parse(path.read_text())
    again = call(["reconstruct", ASKED, "--write", "--json"], upgrade.plugin.path)
    assert (again.code, again.json["findings"][0]["code"]) == (3, "overlap")


def _dirty(case: FrozenUpgrade) -> None:
    case.plugin.write(PRODUCTION, PATCH + "MORE = 1\n")


def _moved_on(case: FrozenUpgrade) -> None:
    case.plugin.commit("more", {PRODUCTION: PATCH + "MORE = 1\n"})


def _unplanned(case: FrozenUpgrade) -> None:
    call(["root-cause", "withdraw", "RC-1", "--why", "not needed"], case.plugin.path).ok()


# what happened before, the code of the refusal
REFUSED: list[tuple[Callable[[FrozenUpgrade], None], str]] = [
    (_dirty, "overlap"),  # somebody's change in the file
    (_moved_on, "moved-on"),  # HEAD's function is not the one that was rebuilt
    (_unplanned, "not-planned"),  # no open root cause
]


@pytest.mark.parametrize(("before", "code"), REFUSED)
def test_writing_is_refused(upgrade: FrozenUpgrade, before: Callable[[FrozenUpgrade], None], code: str) -> None:
    before(upgrade)
    text = (upgrade.plugin.path / PRODUCTION).read_text()
    done = call(["reconstruct", ASKED, "--write", "--json"], upgrade.plugin.path)
    assert (done.code, done.json["findings"][0]["code"]) == (3, code)
    assert (upgrade.plugin.path / PRODUCTION).read_text() == text


@pytest.mark.parametrize("upgrade", [UNMARKED], indirect=True)
def test_an_open_question_is_a_finding_and_forbids_writing(upgrade: FrozenUpgrade) -> None:
    done = call(["reconstruct", ASKED, "--json"], upgrade.plugin.path)
    assert done.code == 1
    finding = done.json["findings"][0]
    assert finding["code"] == "reconstruct-deviation"
    assert "return list(batch)" in finding["message"]
    assert finding["place"] == f"{PRODUCTION}:14"
    refused = call(["reconstruct", ASKED, "--write", "--json"], upgrade.plugin.path)
    assert (refused.code, refused.json["findings"][0]["code"]) == (3, "incomplete")
    dropped = call(["reconstruct", ASKED, "--drop", "D1", "--json"], upgrade.plugin.path).ok()
    assert dropped.json["data"]["text"].endswith(NEW)


def test_writing_is_refused_before_the_architecture_gate(kit: Kit) -> None:
    case = frozen(kit, up_to="DIFF_BOTH_UPSTREAMS", files={PRODUCTION: PATCH})
    done = call(["reconstruct", ASKED, "--write", "--json"], case.plugin.path)
    assert done.code == 3
    assert "ARCHITECTURE_GATE is not run" in done.json["findings"][0]["message"]


# asked, exit, code
UNKNOWN = [
    ("nothing::here", 3, "no-contract"),  # names no function
    ("afd_plugin/patch.py::count", 3, "no-contract"),  # a function that stands in for nothing
]


@pytest.mark.parametrize(("asked", "code", "finding"), UNKNOWN)
def test_a_contract_that_names_no_copy_is_refused(kit: Kit, asked: str, code: int, finding: str) -> None:
    plugin, words = _without_upgrade(kit)
    done = call(["reconstruct", asked, *words, "--json"], plugin.path)
    assert (done.code, done.json["findings"][0]["code"]) == (code, finding)


def test_it_works_without_an_upgrade(kit: Kit) -> None:
    plugin, words = _without_upgrade(kit)
    assert NEW in call(["reconstruct", "step", *words], plugin.path).ok().out
    refused = call(["reconstruct", "step", *words, "--write", "--json"], plugin.path)
    assert refused.code == 2


def test_a_target_that_is_gone_is_asked_about_with_its_nearest_relative(kit: Kit) -> None:
    plugin, words = _without_upgrade(kit, "class Motor:\n    def turn(self, batch):\n        return batch\n")
    done = call(["reconstruct", "step", *words, "--json"], plugin.path)
    assert done.code == 1
    (question,) = done.json["data"]["questions"]
    assert question["code"] == "target-gone"
    assert "vllm/engine.py::Engine.step" in question["text"]
    assert "`count`" in question["text"]


def test_a_target_that_moved_is_rebuilt_at_its_new_home(kit: Kit) -> None:
    moved = "class Engine:\n    def step(self, batch):\n        check(batch)\n        return batch\n"
    old = moved.replace("check(batch)", "check(batch)  # old")
    plugin, words = _without_upgrade(kit, moved, "vllm/core/motor.py", old)
    plugin.write(
        PRODUCTION,
        PATCH.replace("    return batch\n\n\ndef", "    engine_module.check(batch)\n    return batch\n\n\ndef"),
    )
    plugin.commit("copy")
    done = call(["reconstruct", "step", *words, "--json"], plugin.path)
    data = done.json["data"]
    assert data["target"] == [{"path": "vllm/core/motor.py", "symbol": "Engine.step", "found": True}]
    assert any("vllm/core/motor.py::Engine.step now" in note for note in data["notes"])


def _without_upgrade(
    kit: Kit,
    new: str = "class Engine:\n    def step(self, batch, *, dbo=False):\n        return batch\n",
    path: str = "vllm/engine.py",
    old: str = "class Engine:\n    def step(self, batch):\n        return batch\n",
) -> tuple[Repo, list[str]]:
    plain = {"vllm/__init__.py": "", "vllm/core/__init__.py": ""}
    vllm = kit.upstream("vllm", {"v1.0": {**plain, "vllm/engine.py": old}, "v2.0": {**plain, path: new}})
    ascend = kit.upstream("vllm-ascend", {tag: {"vllm_ascend/__init__.py": ""} for tag in ("v1.0", "v2.0")})
    plugin = kit.repo("plugin")
    plugin.commit("base", {"afd_plugin/__init__.py": "", PRODUCTION: PATCH})
    words = ["--at", "HEAD"]
    for name, repo in (("vllm", vllm), ("vllm-ascend", ascend)):
        words += ["--source", f"{name}={repo.path}", "--current", f"{name}=v1.0", "--target", f"{name}=v2.0"]
    return plugin, words
