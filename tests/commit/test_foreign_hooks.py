from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kit import Kit
from kit_commit import COMMIT, NEW_CODE, commit, hook, others, planned
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade

from git_afd.core.intent import FILE
from git_afd.errors import Exit


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    """The planned work done, and every kind of other work lying around."""
    case = planned(kit, files={f"afd_plugin/{name}.py": f"{name}\n" for name in ("a", "b", "c", "d", "e")})
    repo = case.plugin
    repo.write(".gitignore", "ignored.txt\n")
    repo.write("afd_plugin/a.py", "unstaged\n")
    repo.write("afd_plugin/b.py", "staged\n")
    repo("git add afd_plugin/b.py")
    repo.write("afd_plugin/b.py", "staged and more\n")
    repo("chmod +x afd_plugin/c.py")
    repo("rm afd_plugin/d.py")
    repo("git rm -q --cached afd_plugin/e.py")
    repo.write("afd_plugin/new.py", "intended\n")
    repo("git add --intent-to-add afd_plugin/new.py")
    repo.write("untracked.txt", "untracked\n")
    repo.write("ignored.txt", "ignored\n")
    return case


def leftovers(case: FrozenUpgrade) -> list[str]:
    git = case.plugin.path / ".git"
    found = [*git.glob(FILE), *git.glob("worktrees/*"), *git.glob("afd/scratch/*"), *git.glob("*.lock")]
    return [str(path) for path in found]


# what a hook does that lets the commit through
PASSING = [
    "exit 0",
    "git add -u; git add -A",
    f"sed -i s/batch/lot/ {PRODUCTION}",  # on disk only: git commits the index
    "echo x >>afd_plugin/a.py; rm -f afd_plugin/b.py untracked.txt",
    "git diff >p; git checkout -q -- .; git apply p || true; rm p; git stash -q -u; git stash pop -q --index",
]


@pytest.mark.parametrize("script", PASSING)
def test_whatever_a_passing_hook_does_the_commit_is_the_plan_and_other_work_stays(
    case: FrozenUpgrade, script: str
) -> None:
    before, head = others(case.plugin), case.plugin.head
    hook(case.plugin, "pre-commit", script)
    hook(case.plugin, "post-commit", "echo x >>afd_plugin/a.py; git add -u")
    done = commit(case).ok().json["data"]
    assert done["foreign_hooks"] == ["pre-commit", "post-commit"]
    assert case.plugin("git rev-parse HEAD^") == head
    assert [(p["path"]) for p in done["paths"]] == [PRODUCTION, TEST]
    assert case.plugin("git diff --name-only HEAD^ HEAD").splitlines() == [PRODUCTION, TEST]
    assert case.plugin(["git", "show", f"HEAD:{PRODUCTION}"]) == NEW_CODE.strip()
    assert not case.plugin(["git", "diff", "HEAD", "--", PRODUCTION, TEST])
    assert others(case.plugin) == before
    assert not leftovers(case)


# the stage, what a hook does there, the codes of the findings
REFUSING = [
    ("pre-commit", "echo no >&2; exit 1", ["commit-refused"]),
    ("pre-commit", f"sed -i s/batch/lot/ {PRODUCTION}; exit 1", ["commit-refused", "hook-changes"]),
    ("pre-commit", f"sed -i s/batch/lot/ {PRODUCTION}; git add -u", ["commit-tree", "hook-changes"]),
    ("pre-commit", "echo x >>afd_plugin/a.py; git add -u", ["commit-tree", "hook-changes"]),
    ("pre-commit", "echo x >new.txt; git add -A", ["commit-tree"]),
    ("pre-commit", "git reset -q --hard HEAD; git clean -fdxq", ["commit-tree", "hook-changes"]),
    ("pre-commit", "git checkout -q --orphan x; git rm -rqf .; exit 1", ["commit-refused"]),
    ("commit-msg", "exit 1", ["commit-refused"]),
    ("commit-msg", "echo Signed-off-by: Bob '<bob@example.org>' >>$1", ["message-sign-off"]),
    ("prepare-commit-msg", 'echo "Signed-off-by: Ada Example <ada@example.org>" >>$1', ["commit-trailers"]),
    ("prepare-commit-msg", "echo another >$1", ["commit-trailers"]),
]  # fmt: skip


def test_whatever_a_refusing_hook_does_nothing_is_committed_and_all_work_stays(case: FrozenUpgrade) -> None:
    before, head = others(case.plugin, ()), case.plugin.head
    for stage, script, codes in REFUSING:
        hook(case.plugin, stage, script)
        done = commit(case)
        assert done.code == Exit.REFUSED, script
        found = [item["code"] for item in done.json["findings"]]
        assert set(codes) <= set(found), (script, found, done.err)
        assert others(case.plugin, ()) == before, script
        assert case.plugin.head == head
        assert not leftovers(case)
        (case.plugin.path / ".git/hooks" / stage).unlink()
    commit(case).ok()


def test_what_a_hook_made_of_the_planned_files_is_shown_and_can_be_applied(case: FrozenUpgrade) -> None:
    hook(case.plugin, "pre-commit", f"sed -i s/batch/lot/ {PRODUCTION}; exit 1")
    done = case.plugin.afd(COMMIT)
    assert "+def step(self, lot, *, dbo=False):" in done.out
    line = next(line for line in done.out.splitlines() if line.startswith("fix: git apply"))
    case.plugin(["sh", "-c", line.removeprefix("fix: ").partition(",")[0]])
    assert (case.plugin.path / PRODUCTION).read_text() == NEW_CODE.replace("batch", "lot")


SLOW = 'echo $$ >"$FLAGS/pid"; mv "$FLAGS/pid" "$FLAGS/started"; while [ ! -e "$FLAGS/go" ]; do sleep 0.02; done'
AWAY = 'git diff >"$FLAGS/p"; git checkout -q -- . ; ' + SLOW + '; [ ! -s "$FLAGS/p" ] || git apply "$FLAGS/p"'


KILLS = ((signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGKILL, False), (signal.SIGKILL, True))


@pytest.mark.parametrize("script", [AWAY, "git add -A; " + SLOW], ids=["stashes", "adds all"])
def test_killed_inside_a_hook_everything_of_the_users_is_there_and_the_next_run_cleans_up(
    case: FrozenUpgrade, script: str, tmp_path: Path
) -> None:
    before, head = others(case.plugin, ()), case.plugin.head
    hook(case.plugin, "pre-commit", script)
    for number, whole_group in KILLS:
        kill_inside_hook(case, tmp_path / f"{number}-{whole_group}", number, whole_group=whole_group)
        assert others(case.plugin, ()) == before, (number, whole_group)
        assert case.plugin.head == head
    hook(case.plugin, "pre-commit", "exit 0")
    unplanned = others(case.plugin)
    commit(case).ok()
    assert others(case.plugin) == unplanned
    assert not leftovers(case)


def kill_inside_hook(case: FrozenUpgrade, flags: Path, number: int, *, whole_group: bool) -> None:
    flags.mkdir()
    child = subprocess.Popen(
        ["git-afd", *COMMIT], cwd=case.plugin.path, env={**os.environ, "FLAGS": str(flags)}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not (flags / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        (os.killpg if whole_group else os.kill)(child.pid, number)
        code = child.wait(30)
        assert code == (-signal.SIGKILL if number == signal.SIGKILL else Exit.INTERRUPTED)
    finally:
        (flags / "go").touch()
        wait_for_orphans(int((flags / "started").read_text()))


def wait_for_orphans(pid: int) -> None:
    """Let the hook that outlived us come to its end."""
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)


FRAMEWORK = """
repos:
- repo: local
  hooks:
  - {id: fix, name: fix, language: system, entry: sh fix.sh, types: [python]}
"""
FIX = """
for file in "$@"; do grep -q "# fixed" "$file" || { echo "# fixed" >>"$file"; bad=1; }; done
exit ${bad-0}
"""


def test_the_pre_commit_framework_runs_on_the_plan_and_leaves_other_work_alone(kit: Kit) -> None:
    case = planned(kit, files={".pre-commit-config.yaml": FRAMEWORK, "fix.sh": FIX})
    framework = [sys.executable, "-m", "pre_commit"]
    case.plugin([*framework, "install"])
    case.plugin.write("afd_plugin/other.py", "OTHER = 2\n")
    before = others(case.plugin, ())
    done = commit(case)
    assert [item["code"] for item in done.json["findings"]] == ["commit-refused", "hook-changes"]
    assert "files were modified by this hook" in done.err
    assert others(case.plugin, ()) == before
    assert case.plugin.run([*framework, "run", "--files", PRODUCTION, TEST]).code == 1
    unplanned = others(case.plugin)
    commit(case).ok()
    assert "# fixed" in case.plugin(["git", "show", f"HEAD:{PRODUCTION}"])
    assert others(case.plugin) == unplanned
    assert not leftovers(case)


def test_in_place_is_refused_while_other_tracked_work_is_there_and_undoes_what_differs(kit: Kit) -> None:
    case = planned(kit)
    hook(case.plugin, "pre-commit", "[ -e untracked.txt ] || exit 1; [ ! -e add ] || { echo x >y; git add y; }")
    case.plugin.write("untracked.txt", "mine\n")
    assert commit(case).code == Exit.REFUSED
    head, index = case.plugin.head, case.plugin("git ls-files --stage")
    case.plugin.write("add", "")
    done = commit(case, "--in-place")
    assert [item["code"] for item in done.json["findings"]] == ["commit-tree"]
    assert (case.plugin.head, case.plugin("git ls-files --stage")) == (head, index)
    (case.plugin.path / "add").unlink()
    case.plugin.write("afd_plugin/other.py", "OTHER = 2\n")
    assert "afd_plugin/other.py is changed and not planned" in commit(case, "--in-place").out
    case.plugin("git checkout -q -- afd_plugin/other.py")
    assert commit(case, "--in-place").ok().json["data"]["way"] == "in place"
