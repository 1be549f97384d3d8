from __future__ import annotations

import re

import pytest
from kit import Kit, call
from kit_commit import COMMIT, commit, hook, others, plan, plan_fix, planned, trailers
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade, frozen

from git_afd.core.intent import FILE
from git_afd.errors import Exit

ADA = "Ada Example <ada@example.org>"


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    return planned(kit)


def leftovers(case: FrozenUpgrade) -> list[str]:
    """What a finished command must not leave anywhere."""
    git = case.plugin.path / ".git"
    found = [*git.glob(FILE), *git.glob("worktrees/*"), *git.glob("afd/scratch/*"), *git.glob("index.lock")]
    return [str(path) for path in found] + case.plugin("git for-each-ref refs/notes/afd-scratch").splitlines()


@pytest.fixture(params=["in place", "scratch worktree"])
def way(request: pytest.FixtureRequest, case: FrozenUpgrade) -> str:
    """Both ways to commit: without hooks of the user's, and with one that passes."""
    if request.param == "scratch worktree":
        hook(case.plugin, "pre-commit", "exit 0")
    return str(request.param)


def test_one_signed_off_commit_with_exactly_the_planned_paths(case: FrozenUpgrade, way: str) -> None:
    case.plugin.write("afd_plugin/other.py", "STAGED = 1\n")
    case.plugin("git add afd_plugin/other.py")
    case.plugin.write("afd_plugin/other.py", "STAGED_AND_MORE = 1\n")
    case.plugin.write("untracked.txt", "mine\n")
    case.plugin.write("new staged", "mine\n")
    case.plugin(["git", "add", "new staged"])
    before, parent = others(case.plugin), case.plugin.head
    done = commit(case, "--validation", "pytest tests: 1 passed", "--assisted-by", "a tool").ok().json
    assert done["data"]["way"] == way
    assert case.plugin("git rev-parse HEAD^") == parent
    assert case.plugin.head == done["data"]["commit"]
    assert case.plugin("git diff-tree -r --name-status --no-commit-id HEAD").splitlines() == [
        f"M\t{PRODUCTION}",
        f"M\t{TEST}",
    ]
    assert others(case.plugin) == before
    assert not case.plugin(["git", "status", "--porcelain", "--", PRODUCTION, TEST])
    assert not leftovers(case)


def test_message_and_record_say_what_was_done(case: FrozenUpgrade, way: str) -> None:
    head = case.session.ledger.read().state.heads[0]
    done = commit(case).ok().json
    assert trailers(case.plugin) == [
        f"AFD-Upgrade: {case.id}",
        "AFD-Root-Cause: RC-1",
        f"AFD-Ledger: {head}",
        f"Signed-off-by: {ADA}",
    ]
    cause, made = case.upgrade.root_causes["RC-1"], case.upgrade.commits[0]
    assert (cause.status, cause.commit) == ("committed", case.plugin.head)
    assert (made.parent, made.tree) == (case.plugin("git rev-parse HEAD^"), case.plugin("git rev-parse HEAD^{tree}"))
    assert made.paths == (PRODUCTION, TEST)
    assert done["next"] == "git afd root-cause add"
    assert not case.session.ledger.read().state.findings


def test_the_last_commit_records_phase_4(case: FrozenUpgrade) -> None:
    commit(case).ok()
    plan(case, files=["afd_plugin/other.py"], tests=["tests/test_other.py"])
    case.plugin.write("afd_plugin/other.py", "OTHER = 2\n")
    case.plugin.write("tests/test_other.py", "def test(): pass\n")
    done = call(["commit", "--root-cause", "RC-2", "--json"], case.plugin.path).ok().json
    assert case.upgrade.recorded["IMPLEMENT_ATOMIC_ADAPTATIONS"] == "PASS"
    assert done["next"] == "git afd gate static"


def test_a_second_commit_for_one_root_cause_is_refused(case: FrozenUpgrade) -> None:
    commit(case).ok()
    case.plugin.write(PRODUCTION, "more\n")
    done = commit(case)
    assert (done.code, done.json["findings"][0]["code"]) == (Exit.REFUSED, "second-commit")


def picture(case: FrozenUpgrade) -> dict[str, object]:
    git = case.plugin.path / ".git"
    store = {str(path) for path in (git / "objects").rglob("*")}
    state = {name: (git / name).read_bytes() for name in ("index", "config", "HEAD")}
    return {"refs": case.plugin("git for-each-ref"), "store": store, "names": sorted(p.name for p in git.iterdir()),
            "others": others(case.plugin, ()), **state}  # fmt: skip


def test_dry_run_shows_message_and_plan_and_writes_nothing(case: FrozenUpgrade, way: str) -> None:
    case.plugin.write("afd_plugin/new.py", "")
    case.plugin("git-afd root-cause amend RC-1 --untested x")
    before = picture(case)
    done = commit(case, "--dry-run").ok().json["data"]
    assert picture(case) == before
    assert [item["path"] for item in done["paths"]] == [PRODUCTION, TEST]
    assert (done["way"], done["commit"]) == (way, "")
    text = case.plugin.afd([*COMMIT, "--dry-run"]).ok().out
    assert "RC-1 would be committed" in text
    assert f"\nSigned-off-by: {ADA}\n" in text
    assert commit(case).ok().json["data"]["tree"] == done["tree"]


NAMES = ["a b.py", "a\nb.py", "a\"b'.py", "*.py", ":(top)x", "-x", " -> ", "\udcff\udcfe.py", "[a]?.py", "é.py", "\\n"]


def test_names_are_taken_literally_whatever_they_look_like(kit: Kit) -> None:
    for number, passing_hook in enumerate((False, True)):
        case = frozen(Kit(kit.folder / str(number)), up_to="ARCHITECTURE_GATE", files={"tests/*": "", "tests/-x": ""})
        if passing_hook:
            hook(case.plugin, "pre-commit", "exit 0")
        paths = [f"tests/{name}" for name in NAMES]
        plan_fix(case, paths)
        for path in paths:
            (case.plugin.path / path).write_text("content\n")
        (case.plugin.path / "tests/a.py").write_text("what the glob would catch\n")
        done = commit(case).ok().json["data"]
        assert sorted(item["path"] for item in done["paths"]) == sorted(paths)
        assert case.upgrade.commits[0].paths == tuple(item["path"] for item in done["paths"])
        assert case.plugin("git status --porcelain -uall") == "?? tests/a.py"


def test_every_kind_of_change_is_committed_as_it_lies_there(case: FrozenUpgrade, way: str) -> None:
    repo = case.plugin
    old = ["gone.py", "turns/file.py", "link.py", "run.sh"]
    repo.commit("more", {f"afd_plugin/{name}": "x" for name in old})
    call(["root-cause", "withdraw", "RC-1", "--why", "x"], repo.path).ok()
    plan_fix(case, [f"afd_plugin/{name}" for name in (*old, "new/deep/er.py")])
    repo("git mv afd_plugin/gone.py gone-elsewhere")
    repo("rm -r afd_plugin/turns afd_plugin/link.py")
    repo("ln -s run.sh afd_plugin/link.py")
    repo("chmod +x afd_plugin/run.sh")
    repo.write("afd_plugin/new/deep/er.py", b"\xff\x00binary\r\n")
    done = repo.afd("commit --root-cause RC-2 --json").ok().json["data"]
    assert done["way"] == way
    raw = repo("git diff-tree -r --raw --no-renames --no-commit-id HEAD")
    assert re.sub(r"([0-9a-f]{4})[0-9a-f]{36}", r"\1", raw).split("\n") == [
        ":100644 000000 c1b0 0000 D\tafd_plugin/gone.py",
        ":100644 120000 c1b0 e0e6 T\tafd_plugin/link.py",
        ":000000 100644 0000 1d1b A\tafd_plugin/new/deep/er.py",
        ":100644 100755 c1b0 c1b0 M\tafd_plugin/run.sh",
        ":100644 000000 c1b0 0000 D\tafd_plugin/turns/file.py",
    ]
    assert "A  gone-elsewhere" in repo("git status --porcelain")


# what was done to the repository before, the exit code, a part of the sentence
REFUSED: list[tuple[str, int, str]] = [
    ("touch .git/MERGE_HEAD", Exit.REFUSED, "a merge is in progress"),
    ("touch .git/CHERRY_PICK_HEAD", Exit.REFUSED, "a cherry-pick is in progress"),
    ("touch .git/REVERT_HEAD", Exit.REFUSED, "a revert is in progress"),
    ("mkdir .git/rebase-merge", Exit.REFUSED, "a rebase is in progress"),
    ("mkdir .git/rebase-apply; touch .git/rebase-apply/applying", Exit.REFUSED, "a git am is in progress"),
    ("git bisect start", Exit.REFUSED, "a bisect is in progress"),
    ("touch .git/index.lock", Exit.CONFLICT, "another git process holds the index"),
    (f"git add {PRODUCTION}; echo more >> {PRODUCTION}", Exit.REFUSED, f"{PRODUCTION} is partially staged"),
    (f"git rm -q --cached {PRODUCTION}", Exit.REFUSED, f"{PRODUCTION} is partially staged"),
    (f"git checkout -q HEAD -- {PRODUCTION}", Exit.REFUSED, f"{PRODUCTION} is planned by RC-1 and has not changed"),
    (f"git checkout -q HEAD -- {TEST}", Exit.REFUSED, "changes no planned test"),
    (f"git checkout -q HEAD -- {PRODUCTION} {TEST}", Exit.REFUSED, "nothing that RC-1 plans has changed"),
    (f"rm {PRODUCTION}; mkdir {PRODUCTION}", Exit.REFUSED, f"{PRODUCTION} is a folder"),
    ("mv afd_plugin real; ln -s real afd_plugin", Exit.REFUSED, "lies beyond the symlink afd_plugin"),
    (f"git update-index --assume-unchanged {PRODUCTION}", Exit.REFUSED, "is marked assume-unchanged"),
    (f"git update-index --skip-worktree {PRODUCTION}", Exit.REFUSED, "is marked skip-worktree"),
    ("echo '*.py filter=lfs' > .gitattributes", Exit.REFUSED, "needs the filter lfs, which is not configured"),
    ("echo '*.py filter=x' > .gitattributes; git config filter.x.clean false", Exit.REFUSED, "cannot take the planned"),
    ("git config user.useConfigOnly true; git config --global --unset user.email", Exit.ENVIRONMENT, "who you are"),
    ("git config user.name 'Helper[bot]'", Exit.REFUSED, "only the primary"),
    ("git config --unset branch.upgrade/v2.afd", Exit.REFUSED, "has no upgrade"),
    ("git checkout -q --detach", Exit.REFUSED, "HEAD is detached"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "code", "part"), REFUSED, ids=[row[0][:40] for row in REFUSED])
def test_what_cannot_be_committed_exactly_is_refused_by_name(
    case: FrozenUpgrade, act: str, code: int, part: str
) -> None:
    case.plugin(["sh", "-c", act])
    head, index = case.plugin.head, (case.plugin.path / ".git/index").read_bytes()
    for words in ([], ["--dry-run"]):
        done = call([*COMMIT, "--json", *words], case.plugin.path)
        assert (done.code, part in done.out) == (code, True), done.out
        assert done.json["findings"][0]["remedy"]
    assert case.plugin.head == head
    assert (case.plugin.path / ".git/index").read_bytes() == index


def test_an_earlier_lesson_is_never_changed_and_a_new_one_is_committed_after_the_audit(kit: Kit) -> None:
    folder = ".agents/skills/upgrade-npu/references"
    case = frozen(kit, up_to="FINAL_AUDIT", files={f"{folder}/old-lessons.md": "old\n"})
    words = ["root-cause", "add", "--kind", "lesson", "--title", "what we learnt"]
    paths = [f"{folder}/old-lessons.md", f"{folder}/new-lessons.md"]
    call([*words, *(word for path in paths for word in ("--file", path))], case.plugin.path).ok()
    name = next(cause.name for cause in case.upgrade.open_root_causes)
    for path in paths:
        case.plugin.write(path, "new\n")
    done = call(["commit", "--root-cause", name, "--json"], case.plugin.path)
    assert (done.code, done.json["findings"][0]["code"]) == (Exit.REFUSED, "earlier-lesson")
    case.plugin(["git", "checkout", "-q", "--", paths[0]])
    call(["root-cause", "amend", name, "--file", paths[1]], case.plugin.path).ok()
    call(["commit", "--root-cause", name], case.plugin.path).ok()
    assert case.plugin("git log -1 --format=%s") == "docs(references): what we learnt"
