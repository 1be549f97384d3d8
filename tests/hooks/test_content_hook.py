"""What a commit and a push may not hold, fired as real commits: patch functions and guarded values."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from kit import ROOT, Kit, Repo
from kit_hooks import afd, announce, commit, message, plan_root_cause, put_hooks, snapshot
from kit_upgrade import BRANCH, PRODUCTION, TEST, FrozenUpgrade, frozen

from git_afd.actions.approve import Question, approve
from git_afd.core.intent import FILE as INTENT
from git_afd.errors import Refused

GOOD = """\
import vllm.engine as engine_module


# Patch reason: it counts.
# Patch functionality: counts first.
# Signature: matches upstream.
# Upstream source: ``vllm/engine.py`` ``Engine.step`` at ``v2.0``.
def step(self, batch, *, dbo=False):
    # ### PATCH START: count
    count(batch)
    # ### PATCH END: count
    return batch


engine_module.Engine.step = step
"""
ACCURACY = "tests/e2e/accuracy/test_gsm8k.py"
PLAIN = "def test_step():\n    assert 1\n"
BAR = "GSM8K_THRESHOLD = 0.27\nGSM8K_TOLERANCE = 0.05\n"
APPROVED = {"what": "guard", "name": "Ada Example", "reason": "the maintainers decided", "subject": ""}

_built: list[FrozenUpgrade] = []


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    """An upgrade with hooks; RC-7 is a patch and its test, RC-8 are tests alone. Built once, copied."""
    if not _built:
        old = GOOD.replace(", *, dbo=False", "").replace("v2.0", "v1.0")
        made = frozen(
            Kit(tmp_path_factory.mktemp("built")), up_to="ARCHITECTURE_GATE", files={PRODUCTION: old, ACCURACY: BAR}
        )
        plan_root_cause(made, "RC-7", [PRODUCTION, TEST])
        plan_root_cause(made, "RC-8", [ACCURACY, "tests/test_other.py"])
        put_hooks(made.plugin.path)
        _built.append(made)
    first = _built[0]
    shutil.copytree(first.plugin.path, tmp_path / "plugin", symlinks=True)
    return FrozenUpgrade(Repo(tmp_path / "plugin"), first.vllm, first.ascend, first.id)


# what is committed (a root cause and its files); what pre-commit says
REFUSED: list[tuple[str, Mapping[str, str | None], str]] = [
    # a block that does not end
    ("RC-7", {PRODUCTION: GOOD.replace("    # ### PATCH END: count\n", "")}, "has no PATCH END"),
    # the current signature on the target's body: it binds, and it is wrong
    ("RC-7", {PRODUCTION: GOOD.replace(", *, dbo=False", "")}, "the signature of step is not vllm"),
    # a default, an annotation that the target does not have
    ("RC-7", {PRODUCTION: GOOD.replace("dbo=False", "dbo=True")}, "default of dbo: False upstream, True here"),
    ("RC-7", {PRODUCTION: GOOD.replace("(self, batch,", "(self, batch: list,")}, "the signature of step is not"),
    # the comment above states another source, or no reason
    ("RC-7", {PRODUCTION: GOOD.replace("``vllm/engine.py``", "``vllm/core.py``")}, "states the source"),
    ("RC-7", {PRODUCTION: GOOD.replace("# Patch reason: it counts.\n", "")}, "does not state Patch reason"),
    # a name that the target does not have
    ("RC-7", {PRODUCTION: "from vllm.engine import gone\n" + GOOD}, "has no gone"),
    # no Python at all
    ("RC-7", {PRODUCTION: GOOD + "def (:\n"}, "does not parse"),
    # a threshold lowered, a tolerance widened, one taken away; a skip, a deselection in a plain test
    ("RC-8", {ACCURACY: BAR.replace("0.27", "0.2")}, "gsm8k threshold"),
    ("RC-8", {ACCURACY: BAR.replace("0.05", "0.1")}, "gsm8k tolerance"),
    ("RC-8", {ACCURACY: BAR.partition("\n")[2]}, "is nothing; at the freeze it was 0.27"),
    ("RC-8", {ACCURACY: None}, "is nothing; at the freeze it was 0.27"),
    # (the plugin's test, not one of ours: the hook must refuse its skip)
    ("RC-7", {TEST: "import pytest\n\n\n@pytest.mark.skip\n" + PLAIN}, "pytest.mark.skip; it was not there before"),
    ("RC-8", {"tests/test_other.py": "collect_ignore = ['test_patch.py']\n"}, "collect_ignore"),
]  # fmt: skip


def test_what_a_commit_may_not_hold_is_refused_by_line(case: FrozenUpgrade) -> None:
    before = case.plugin.head
    for name, files, said in REFUSED:
        intent = announce(case, files, name=name)
        done = commit(case.plugin, message(case, intent))
        assert (done.code, said in done.err, "\nfix: " in done.err) == (1, True, True), (said, done.err)
        case.plugin("git restore --staged --worktree .")
    assert case.plugin.head == before
    assert commit(case.plugin, message(case, announce(case, {PRODUCTION: GOOD, TEST: PLAIN}))).ok().err == ""


def test_a_commit_answers_for_the_functions_that_it_touches(case: FrozenUpgrade) -> None:
    owed = "def launch(config, extra):\n    # ### PATCH START: x\n    # ### PATCH END: x\n    return config\n"
    old = GOOD.replace(", *, dbo=False", "").replace("v2.0", "v1.0")
    case.plugin.commit("more", {PRODUCTION: f"{owed}\n\n{old}\n\nengine_module.launch = launch\n"})
    now = f"{owed}\n\n{GOOD}\n\nengine_module.launch = launch\n"
    commit(case.plugin, message(case, announce(case, {PRODUCTION: now, TEST: PLAIN}))).ok()
    intent = announce(case, {PRODUCTION: now.replace("config, extra", "config, other"), TEST: PLAIN + "\n"})
    assert "the comment above launch does not state" in commit(case.plugin, message(case, intent)).err


def test_git_afd_commit_says_all_of_it_before_anything_is_staged(case: FrozenUpgrade) -> None:
    wrong = GOOD.replace(", *, dbo=False", "").replace("# Patch reason: it counts.\n", "")
    case.plugin.write(PRODUCTION, wrong + "\n\nhasattr(step, 'x')\n")
    case.plugin.write(TEST, PLAIN)
    before = (case.plugin.head, (case.plugin.path / ".git/index").read_bytes())
    for option in ("", " --dry-run"):
        done = afd(case.plugin, f"commit --root-cause RC-7 --json{option}")
        found = [(item["code"], item["severity"]) for item in done.json["findings"]]
        assert done.code == 3
        assert found == [
            ("header-incomplete", "error"), ("signature-different", "error"), ("reflection-hasattr", "note"),
        ]  # fmt: skip
    assert (case.plugin.head, (case.plugin.path / ".git/index").read_bytes()) == before
    assert not (case.plugin.path / ".git" / INTENT).exists()
    case.plugin.write(PRODUCTION, GOOD + "\n\nhasattr(step, 'x')\n")
    done = case.plugin.afd("commit --root-cause RC-7 --json").ok()  # its hooks judge again
    assert [item["code"] for item in done.json["findings"]] == ["reflection-hasattr"]


def test_a_person_may_change_a_guarded_value_in_a_commit_of_its_own(case: FrozenUpgrade) -> None:
    # a test of the plugin, not one of ours: its skip is what a person must approve
    skipped = "import pytest\n\n\n@pytest.mark.skip\n" + PLAIN
    files = {ACCURACY: BAR.replace("0.27", "0.2"), "tests/test_other.py": skipped}
    for path, text in files.items():
        case.plugin.write(path, text)
    asked: list[Question] = []

    def person(question: Question) -> tuple[str, str]:
        asked.append(question)
        return question.phrase, "the maintainers decided"

    approve(case.session, "guard", person)
    assert "pytest.mark.skip" in commit(case.plugin, message(case, announce(case, files, name="RC-8"))).err
    approve(case.session, "guard", person)
    with pytest.raises(Refused, match="no guarded value waits"):
        approve(case.session, "guard", person)
    assert [item.phrase for item in asked] == [f"approve threshold {ACCURACY}", "approve skip tests/test_other.py"]
    assert [item.subject for item in asked] == [
        f"gsm8k threshold in {ACCURACY}: 0.2", "skips in tests/test_other.py: pytest.mark.skip",
    ]  # fmt: skip
    commit(case.plugin, message(case, announce(case, files, name="RC-8"))).ok()
    # the same value again is approved, another is not, and none travels with production code
    case.record(("approval", {**APPROVED, "subject": f"skips in {TEST}: pytest.mark.skip"}))
    intent = announce(case, {PRODUCTION: GOOD, TEST: skipped})
    assert "changes together with production code" in commit(case.plugin, message(case, intent)).err


def test_the_approval_needs_a_terminal(case: FrozenUpgrade) -> None:
    case.plugin.write(ACCURACY, BAR.replace("0.27", "0.2"))
    done = case.plugin.afd("approve guard", stdin=f"approve threshold {ACCURACY}\nx\n")
    assert (done.code, "only a person on a terminal" in done.err) == (3, True)


def test_a_push_judges_again_what_came_past_the_hooks(case: FrozenUpgrade, tmp_path: Path) -> None:
    far = Kit(tmp_path).repo("far", "--bare")
    case.plugin(["git", "remote", "add", "origin", str(far.path)])
    case.plugin.commit("past the hooks", {PRODUCTION: GOOD.replace("    # ### PATCH END: count\n", "")})
    case.record(("approval", {**APPROVED, "what": "push", "subject": case.plugin.head}))
    done = case.plugin.run(["git", "push", "-q", "origin", BRANCH])
    assert (done.code, "has no PATCH END" in done.err) == (1, True), done.err
    # mended later: what is published is right
    case.plugin.commit("mended", {PRODUCTION: GOOD})
    case.record(("approval", {**APPROVED, "what": "push", "subject": case.plugin.head}))
    case.plugin(["git", "push", "-q", "origin", BRANCH])


PROGRAM = """
import sys
sys.path.append(sys.argv[1])
from git_afd.hook import main
code = main("pre-commit", [])
known = sys.stdlib_module_names | {"git_afd", "__main__"}
print(code, *sorted({name.partition(".")[0] for name in sys.modules} - known))
"""


def test_even_the_expensive_stage_imports_the_standard_library_only_and_writes_nothing(case: FrozenUpgrade) -> None:
    announce(case, {PRODUCTION: GOOD, TEST: PLAIN})
    before = snapshot(case.plugin.path)
    words = [sys.executable, "-I", "-S", "-c", PROGRAM, os.fspath(ROOT)]
    assert case.plugin(words) == "0"
    assert snapshot(case.plugin.path) == before


def test_a_source_that_is_gone_blocks_and_is_named(case: FrozenUpgrade, tmp_path: Path) -> None:
    body = dict(case.upgrade.freeze.body)
    gone = str(tmp_path / "gone")
    moved = {**body, "sources": {"vllm": {"path": gone}, "vllm-ascend": {"path": gone}}}
    other = FrozenUpgrade(case.plugin, case.vllm, case.ascend, "U-other")
    other.record(("freeze", moved))
    other.pass_up_to("ARCHITECTURE_GATE")
    plan_root_cause(other, "RC-7", [PRODUCTION, TEST])
    case.plugin(["git", "config", f"branch.{BRANCH}.afd", "U-other"])
    done = commit(other.plugin, message(other, announce(other, {PRODUCTION: GOOD, TEST: PLAIN})))
    assert (done.code, f"no longer at {gone}" in done.err) == (1, True), done.err
