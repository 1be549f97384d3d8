"""Who commits, how it is signed and worded, and the shapes of repositories in which it must work."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pexpect
import pytest
from kit import Kit, Repo, call, run
from kit_commit import COMMIT, NEW_CODE, commit, hook, others, planned, trailers
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade

from git_afd.adapters.hook_install import inspect, install
from git_afd.errors import Exit

ADA = "Ada Example <ada@example.org>"


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    return planned(kit)


# the environment of the call, the exit code, a part of the sentence
IDENTITIES: list[tuple[dict[str, str], int, str]] = [
    ({"GIT_AFD_ACTOR": "somebody else"}, Exit.REFUSED, f"only the primary ({ADA}) commits, and this is somebody else"),
    ({"GIT_COMMITTER_NAME": "Bob"}, Exit.REFUSED, "this is Bob <ada@example.org>"),
    ({"GIT_AFD_ACTOR": ADA, "GIT_COMMITTER_NAME": "Helper[bot]"}, Exit.REFUSED, "committer Helper[bot] <ada"),
    ({"GIT_AFD_ACTOR": ADA, "GIT_AUTHOR_EMAIL": "noreply@example.org"}, Exit.REFUSED, "author Ada Example <noreply@"),
    ({"GIT_AFD_ACTOR": ADA, "GIT_AUTHOR_NAME": "GitHub Copilot"}, Exit.REFUSED, "a bot cannot sign off"),
    ({"GIT_AFD_ACTOR": ADA, "GIT_AUTHOR_NAME": "<>"}, Exit.ENVIRONMENT, "git knows no author identity"),
]


def test_only_a_person_who_is_the_primary_commits(case: FrozenUpgrade) -> None:
    for env, code, part in IDENTITIES:
        done = commit(case, env=env)
        assert (done.code, part in done.json["findings"][0]["message"]) == (code, True), done.out
    assert not case.upgrade.commits


def test_another_committer_with_the_primarys_word_signs_off_as_himself(case: FrozenUpgrade) -> None:
    bob = {"GIT_COMMITTER_NAME": "Bob", "GIT_COMMITTER_EMAIL": "bob@example.org"}
    commit(case, env={"GIT_AFD_ACTOR": ADA, **bob}).ok()
    assert trailers(case.plugin)[-1] == "Signed-off-by: Bob <bob@example.org>"
    assert case.plugin("git log -1 --format=%an,%cn") == "Ada Example,Bob"


SIGNER = """#!/bin/sh
cat >/dev/null
echo "[GNUPG:] SIG_CREATED " >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'
"""


@pytest.mark.parametrize("passing_hook", [False, True])
def test_signing_is_the_users_own_and_its_failure_leaves_nothing(
    case: FrozenUpgrade, passing_hook: bool, tmp_path: Path
) -> None:
    if passing_hook:
        hook(case.plugin, "pre-commit", "exit 0")
    program = tmp_path / "signer"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    case.plugin("git config commit.gpgSign true")
    case.plugin(["git", "config", "gpg.program", str(program)])
    head, index = case.plugin.head, case.plugin("git ls-files --stage")
    assert commit(case).json["findings"][0]["code"] == "commit-refused"
    assert (case.plugin.head, case.plugin("git ls-files --stage")) == (head, index)
    program.write_text(SIGNER)
    commit(case).ok()
    assert "gpgsig -----BEGIN PGP SIGNATURE-----" in case.plugin("git cat-file commit HEAD")


# what is done to the message in the editor, what git afd answers
EDITS = [
    ("s/^- planned test.*/- pytest: 1 passed/", "RC-1 is"),
    ("/^Validation:/d", "the section `Validation:` is missing"),
    ("/^Signed-off-by/d", "the message has no sign-off"),
    ("s/^AFD-Root-Cause: RC-1/AFD-Root-Cause: RC-2/", "AFD-Root-Cause says RC-2"),
    ("d", "is not `type.scope.: summary`"),
]


@pytest.mark.parametrize(("script", "answer"), EDITS)
def test_the_editor_opens_on_a_terminal_and_the_message_is_judged_again(
    case: FrozenUpgrade, script: str, answer: str
) -> None:
    env = {**os.environ, "GIT_EDITOR": f"sed -i -e '{script}'", "TERM": "dumb"}
    head = case.plugin.head
    child = pexpect.spawn("git-afd", [*COMMIT, "--edit"], cwd=str(case.plugin.path), env=env, timeout=30)
    child.expect(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == (Exit.DONE if answer == "RC-1 is" else Exit.REFUSED)
    assert (case.plugin.head != head) == (answer == "RC-1 is")
    if answer == "RC-1 is":
        assert "- pytest: 1 passed" in case.plugin("git log -1 --format=%B")


def test_editing_without_a_terminal_and_a_failing_editor_are_refused(case: FrozenUpgrade) -> None:
    done = commit(case, "--edit")
    assert (done.code, "--edit needs a terminal" in done.out) == (Exit.USAGE, True)
    child = pexpect.spawn("git-afd", [*COMMIT, "--edit"], cwd=str(case.plugin.path), env=dict(os.environ), timeout=30)
    child.expect("the editor .false. failed, so nothing is committed")
    child.expect(pexpect.EOF)
    assert not case.upgrade.commits


@pytest.mark.parametrize("foreign", [False, True])
def test_with_our_hooks_installed_the_announced_commit_passes_them(case: FrozenUpgrade, foreign: bool) -> None:
    if foreign:
        hook(case.plugin, "pre-commit", f"touch '{case.plugin.path}/.git/ran'")
    for found in inspect(case.session):
        install(found)
    case.plugin.write("afd_plugin/other.py", "OTHER = 2\n")
    refused = case.plugin.run(["git", "commit", "-q", "-m", "by hand", "--", PRODUCTION])
    assert refused.code != 0, "our hook let an ordinary commit through"
    assert case.plugin("git diff --cached --name-only") == ""
    before = others(case.plugin)
    done = commit(case).ok().json["data"]
    assert done["way"] == ("scratch worktree" if foreign else "in place")
    assert (case.plugin.path / ".git/ran").exists() == foreign
    assert others(case.plugin) == before


# configuration that must change nothing
HOSTILE = {
    "color.ui": "always",
    "log.showSignature": "true",
    "core.quotePath": "true",
    "diff.noprefix": "true",
    "diff.external": "false",
    "status.showUntrackedFiles": "no",
    "status.relativePaths": "true",
    "submodule.recurse": "true",
    "core.commentChar": "auto",
    "commit.template": "/nonexistent",
    "commit.cleanup": "scissors",
    "commit.verbose": "true",
    "commit.status": "true",
    "format.signOff": "true",
    "trailer.separators": "%",
    "trailer.sign.key": "Signed-off-by",
    "trailer.sign.ifexists": "add",
    "notes.rewriteRef": "refs/notes/*",
    "core.splitIndex": "true",
    "core.untrackedCache": "true",
    "core.safecrlf": "warn",
    "i18n.commitEncoding": "UTF-8",
    "advice.statusHints": "true",
}


@pytest.mark.parametrize("passing_hook", [False, True])
def test_hostile_configuration_changes_nothing(case: FrozenUpgrade, passing_hook: bool) -> None:
    if passing_hook:
        hook(case.plugin, "pre-commit", "exit 0")
    for name, value in HOSTILE.items():
        case.plugin(["git", "config", "--global", name, value])
    case.plugin.write("afd_plugin/other.py", "OTHER = 2\n")
    before = others(case.plugin)
    commit(case).ok()
    assert trailers(case.plugin) == [*trailers(case.plugin)[:3], f"Signed-off-by: {ADA}"]
    assert others(case.plugin) == before


@pytest.mark.parametrize("passing_hook", [False, True])
def test_clean_filters_and_line_ends_are_gits_own(kit: Kit, passing_hook: bool) -> None:
    case = planned(kit, files={".gitattributes": f"{PRODUCTION} filter=up\n{TEST} text\n"})
    if passing_hook:
        hook(case.plugin, "pre-commit", "exit 0")
    case.plugin("git config filter.up.clean 'tr a-z A-Z'")
    case.plugin("git config filter.up.smudge false")
    case.plugin("git config core.autocrlf true")
    case.plugin.write(TEST, "one\r\ntwo\r\n")
    commit(case).ok()
    assert case.plugin(["git", "cat-file", "blob", f"HEAD:{PRODUCTION}"]) == NEW_CODE.upper().strip()
    assert case.plugin.run(["git", "cat-file", "blob", f"HEAD:{TEST}"]).out == "one\ntwo\n"
    assert (case.plugin.path / PRODUCTION).read_text() == NEW_CODE
    assert case.plugin("git status --porcelain") == ""


# how the repository is laid out: a shell script in the plugin that prints the folder to work in
LAYOUTS = {
    "linked": "git switch -q main && git worktree add -q ../linked upgrade/v2 && echo ../linked",
    "bare with worktrees": """git clone -q --bare --mirror . ../bare.git
        git -C ../bare.git config branch.upgrade/v2.afd U-2026-08-01-v2
        git -C ../bare.git worktree add -q ../w upgrade/v2
        echo ../w""",
    "subdirectory": "echo docs",
    "split index": "git update-index --split-index && echo .",
    "sparse": "git sparse-checkout set --cone --sparse-index afd_plugin tests && echo .",
    "git dir elsewhere": "mv .git ../elsewhere && echo 'gitdir: ../elsewhere' >.git && echo .",
    "worktree config": """git config extensions.worktreeConfig true
        git config --worktree user.name 'Ada Example'
        echo .""",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("passing_hook", [False, True])
def test_it_works_in_every_layout(kit: Kit, layout: str, passing_hook: bool) -> None:
    case = planned(kit)
    case.plugin("git checkout -q -- .")
    folder = case.plugin.path / run(["sh", "-ec", LAYOUTS[layout]], case.plugin.path).ok().out.strip()
    top = Repo(Path(run("git rev-parse --show-toplevel", folder).ok().out.strip()))
    top.write(PRODUCTION, NEW_CODE)
    top.write(TEST, "def test_step():\n    assert 1\n")
    top.write("afd_plugin/other.py", "OTHER = 2\n")
    if passing_hook:
        hooks = Path(top("git rev-parse --path-format=absolute --git-path hooks"))
        hooks.mkdir(exist_ok=True)
        (hooks / "pre-commit").write_text("#!/bin/sh\ngit add -u\n")
        (hooks / "pre-commit").chmod(0o755)
    before = others(top)
    done = call(["commit", "--root-cause", "RC-1", "--json"], folder).ok().json["data"]
    assert done["way"] == ("scratch worktree" if passing_hook else "in place")
    assert top("git diff --name-only HEAD^ HEAD").splitlines() == [PRODUCTION, TEST]
    assert others(top) == before
    assert top("git worktree list").count("\n") == (layout in ("linked", "bare with worktrees"))


def test_inherited_locations_and_a_hooks_folder_of_the_work_tree_are_understood(case: FrozenUpgrade) -> None:
    case.plugin("git config core.hooksPath .githooks")
    for name in ("pre-commit", "commit-msg"):
        path = case.plugin.write(f".githooks/{name}", f"#!/bin/sh\necho {name} ran >&2\n")
        path.chmod(0o755)
    git = case.plugin.path / ".git"
    env: Mapping[str, str] = {"GIT_DIR": str(git), "GIT_WORK_TREE": str(case.plugin.path), "GIT_INDEX_FILE": "nowhere"}
    done = run(["git-afd", *COMMIT, "--json"], case.plugin.path / "docs", env=env).ok()
    assert done.json["data"]["way"] == "scratch worktree"
    assert "pre-commit ran\ncommit-msg ran" in done.err
    assert not (case.plugin.path / "nowhere").exists()


def test_what_else_is_dirty_in_crlf_or_a_submodule_stays(kit: Kit) -> None:
    case = planned(kit, files={"afd_plugin/crlf.py": "a\r\nb\r\n"})
    inner = kit.repo("inner")
    inner.commit("one", {"x": "1"})
    case.plugin(["git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub"])
    case.plugin("git commit -q --no-verify -m sub -- sub .gitmodules")
    case.plugin("git config core.autocrlf input")
    case.plugin.write("afd_plugin/crlf.py", "a\nb\r\n")
    case.plugin.write("sub/x", "2")
    hook(case.plugin, "pre-commit", "git add -u")
    before = others(case.plugin)
    commit(case).ok()
    assert others(case.plugin) == before
