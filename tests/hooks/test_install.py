"""Installing where git looks, keeping what is there, and taking it all away again."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from kit import ROOT, Kit, Repo
from kit_hooks import afd, copy_of_upgrade, snapshot
from kit_upgrade import FrozenUpgrade

from git_afd.adapters.hook_install import CHAINED, STAGES

OLD = '#!/bin/sh\necho "old $0 $*" >>"$TRACE"\n'


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where hooks say that they ran."""
    monkeypatch.setenv("TRACE", str(tmp_path / "trace"))
    return tmp_path / "trace"


def active(repo: Repo) -> list[str]:
    stages = afd(repo, "hooks status --json").ok().json["data"]["stages"]
    return [stage for stage in STAGES if stages[stage]["active"]]


def old_hook(folder: Path, stage: str, text: str = OLD, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / stage
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_hook_that_was_there_still_runs_and_comes_back_byte_for_byte(repo: Repo, trace: Path) -> None:
    hooks = repo.path / ".git/hooks"
    old_hook(hooks, "pre-commit", mode=0o750)
    old_hook(hooks, "post-commit")
    target = old_hook(repo.path / ".git/mine", "message")
    (hooks / "commit-msg").symlink_to("../mine/message")
    before = snapshot(hooks)
    first = afd(repo, "hooks install --json").ok().json
    assert first["data"]["stages"] == {"pre-commit": "chained", "commit-msg": "chained", "pre-push": "installed"}
    assert active(repo) == list(STAGES)
    repo("git commit -q --allow-empty -m x")
    ran = [line.split() for line in trace.read_text().splitlines()]
    assert [words[1].rpartition("/")[2] for words in ran] == [
        f"pre-commit{CHAINED}",
        f"commit-msg{CHAINED}",
        "post-commit",
    ]
    assert ran[1][2:] == [".git/COMMIT_EDITMSG"]
    again = afd(repo, "hooks install --json").ok().json
    assert set(again["data"]["stages"].values()) == {"unchanged"}
    assert again["data"]["changed"] is False
    assert afd(repo, "hooks uninstall --json").ok().json["data"]["stages"]["pre-commit"] == "restored"
    assert snapshot(hooks) == before
    assert target.exists()
    assert afd(repo, "hooks uninstall --json").ok().json["data"]["changed"] is False


def test_a_dry_run_writes_nothing_at_all(repo: Repo) -> None:
    old_hook(repo.path / ".git/hooks", "pre-commit")
    before = snapshot(repo.path)
    assert afd(repo, "hooks install --dry-run --json").ok().json["data"]["stages"]["pre-commit"] == "chained"
    assert snapshot(repo.path) == before
    afd(repo, "hooks install").ok()
    before = snapshot(repo.path)
    assert afd(repo, "hooks uninstall --dry-run --json").ok().json["data"]["stages"]["pre-commit"] == "restored"
    assert snapshot(repo.path) == before


def test_a_hook_without_the_executable_bit_stays_as_inert_as_it_was(repo: Repo, trace: Path) -> None:
    old_hook(repo.path / ".git/hooks", "pre-commit", mode=0o644)
    afd(repo, "hooks install").ok()
    repo("git commit -q --allow-empty -m x")
    assert not trace.exists()
    afd(repo, "hooks uninstall").ok()
    assert (repo.path / ".git/hooks/pre-commit").stat().st_mode & 0o777 == 0o644


def test_the_kept_hook_can_stop_a_commit_and_change_a_message_before_it_is_judged(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = copy_of_upgrade(tmp_path, tmp_path_factory)
    hooks = case.plugin.path / ".git/hooks"
    case.plugin("git switch -q main")
    old_hook(hooks, f"pre-commit{CHAINED}", "#!/bin/sh\necho no >&2; exit 1\n")
    assert case.plugin.run("git commit -q --allow-empty -m x").err == "no\n"
    (hooks / f"pre-commit{CHAINED}").unlink()
    old_hook(hooks, f"commit-msg{CHAINED}", '#!/bin/sh\necho "Signed-off-by: Eve <eve@example.org>" >>"$1"\n')
    case.plugin("git commit -q --allow-empty -m x")
    assert "Eve" in case.plugin("git log -1 --format=%B")


def test_a_kept_hook_that_calls_us_again_does_not_go_round_for_ever(repo: Repo, trace: Path) -> None:
    hooks = repo.path / ".git/hooks"
    for stage in STAGES:
        old_hook(hooks, stage, OLD + f'exec "$(dirname "$0")/{stage}" "$@"\n')
    afd(repo, "hooks install").ok()
    far = Kit(repo.path / ".git").repo("far", "--bare")
    repo("git commit -q --allow-empty -m x", timeout=20)
    repo(["git", "push", "-q", str(far.path), "main"], timeout=20)
    assert len(trace.read_text().splitlines()) == 3


def test_a_kept_hook_may_commit_in_another_repository_with_hooks_of_its_own(repo: Repo, kit: Kit, trace: Path) -> None:
    other = kit.repo("other")
    old_hook(other.path / ".git/hooks", "pre-commit")
    afd(other, "hooks install").ok()
    inner = (
        f"cd {shlex.quote(str(other.path))} && unset GIT_DIR GIT_INDEX_FILE && git commit -q --allow-empty -m inner\n"
    )
    old_hook(repo.path / ".git/hooks", "pre-commit", OLD + inner)
    afd(repo, "hooks install").ok()
    repo("git commit -q --allow-empty -m outer")
    assert len(trace.read_text().splitlines()) == 2


# LAYOUTS: a function that returns where to install from and where to commit


def _linked(kit: Kit) -> tuple[Repo, Repo]:
    repo = kit.repo("main")
    repo.commit()
    repo(["git", "worktree", "add", "-q", str(kit.folder / "linked")])
    return Repo(kit.folder / "linked"), repo


def _bare(kit: Kit) -> tuple[Repo, Repo]:
    source = kit.repo("source")
    source.commit()
    source(["git", "clone", "-q", "--bare", ".", str(kit.folder / "bare.git")])
    bare = Repo(kit.folder / "bare.git")
    bare(["git", "worktree", "add", "-q", "-b", "work", str(kit.folder / "work"), "main"])
    return bare, Repo(kit.folder / "work")


def _submodule(kit: Kit) -> tuple[Repo, Repo]:
    inner, outer = kit.repo("inner"), kit.repo("outer")
    inner.commit("inner", {"a": "1"})
    outer(["git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub"])
    return Repo(outer.path / "sub"), Repo(outer.path / "sub")


def _folder(kit: Kit) -> tuple[Repo, Repo]:
    repo = kit.repo('odd \' "name" $x')
    repo.commit("x", {"a b/c": "1"})
    return Repo(repo.path / "a b"), repo


@pytest.mark.parametrize("layout", [_linked, _bare, _submodule, _folder])
def test_every_layout_gets_hooks_that_git_runs(kit: Kit, layout: object) -> None:
    assert callable(layout)
    there, commits = layout(kit)
    afd(there, "hooks install").ok()
    assert active(there) == active(commits) == list(STAGES)
    commits("git commit -q --allow-empty -m free")
    commits(["git", "config", f"branch.{commits('git branch --show-current')}.afd", "U-1"])
    assert "which the ledger lacks" in commits.run("git commit -q --allow-empty -m x").err
    afd(there, "hooks uninstall").ok()
    commits("git commit -q --allow-empty -m free")


def test_a_hooks_path_of_the_repository_s_own_is_followed(repo: Repo, tmp_path: Path, trace: Path) -> None:
    folder = tmp_path / "team hooks"
    old_hook(folder, "pre-commit")
    repo(["git", "config", "core.hooksPath", str(folder)])
    assert afd(repo, "hooks install --json").ok().json["data"]["folder"] == str(folder)
    assert active(repo) == list(STAGES)
    repo("git commit -q --allow-empty -m x")
    assert trace.read_text().count("old") == 1
    afd(repo, "hooks uninstall").ok()
    assert [path.name for path in folder.iterdir()] == ["pre-commit"]


def test_a_hooks_path_that_does_not_exist_is_made(repo: Repo, tmp_path: Path) -> None:
    repo(["git", "config", "core.hooksPath", str(tmp_path / "not/yet")])
    assert active(repo) == []
    afd(repo, "hooks install").ok()
    assert active(repo) == list(STAGES)


def test_a_relative_hooks_path_is_inert_in_worktrees_that_lack_it_and_is_said_to_be(repo: Repo, tmp_path: Path) -> None:
    repo.commit()
    repo("git config core.hooksPath .hooks")
    afd(repo, "hooks install").ok()
    assert active(repo) == list(STAGES)
    repo(["git", "worktree", "add", "-q", str(tmp_path / "linked")])
    linked = Repo(tmp_path / "linked")
    assert active(linked) == []
    status = afd(linked, "hooks status --json").ok().json
    assert [finding["code"] for finding in status["findings"]] == ["hooks-inert"] * 3
    assert afd(linked, "doctor").code == 1


def test_a_hook_that_is_repository_content_is_not_moved(repo: Repo) -> None:
    repo.commit("hooks", {".githooks/pre-commit": OLD})
    repo("git config core.hooksPath .githooks")
    before = snapshot(repo.path)
    done = afd(repo, "hooks install")
    assert (done.code, 'exec git-afd-hook pre-commit "$@"' in done.err) == (3, True)
    assert snapshot(repo.path) == before


def test_the_repository_s_own_folder_is_accepted_whoever_names_it(repo: Repo, sealed: Path) -> None:
    own = repo.path / ".git/hooks"
    repo(["git", "config", "--global", "core.hooksPath", str(own)])
    afd(repo, "hooks install").ok()
    assert active(repo) == list(STAGES)


def test_a_folder_for_every_repository_is_never_written_to_and_the_advice_works(
    repo: Repo, tmp_path: Path, sealed: Path
) -> None:
    (tmp_path / "everyone").mkdir()
    repo(["git", "config", "--global", "core.hooksPath", str(tmp_path / "everyone")])
    done = afd(repo, "hooks install")
    assert (done.code, "in your global settings" in done.err) == (3, True)
    assert not list((tmp_path / "everyone").iterdir())
    advice = next(line for line in done.err.splitlines() if line.startswith("fix: "))
    repo(shlex.split(advice.removeprefix("fix: ").partition(", then ")[0]))
    afd(repo, "hooks install").ok()
    assert active(repo) == list(STAGES)
    # a setting of one command or one environment is none of the repository's either
    env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": str(tmp_path)}
    assert "in the environment" in repo.afd("hooks install", env=env).err


def test_the_advice_for_a_shared_folder_works_too(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    case = copy_of_upgrade(tmp_path, tmp_path_factory)
    for stage in STAGES:
        old_hook(tmp_path / "everyone", stage, '#!/bin/sh\nexec git-afd-hook "${0##*/}" "$@"\n')
    case.plugin(["git", "config", "--global", "core.hooksPath", str(tmp_path / "everyone")])
    case.plugin("git add -A")
    assert "held changes of yours" in case.plugin.run("git commit -q -m x").err
    case.plugin("git switch -q main")
    case.plugin("git commit -q -m x")


def test_what_another_tool_put_over_ours_is_left_alone(repo: Repo) -> None:
    hooks = repo.path / ".git/hooks"
    old_hook(hooks, "pre-commit")
    afd(repo, "hooks install").ok()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 0\n")
    assert active(repo) == ["commit-msg", "pre-push"]
    refused = afd(repo, "hooks install")
    assert (refused.code, "keeps another hook already" in refused.err) == (3, True)
    gone = afd(repo, "hooks uninstall --json").ok().json
    assert gone["data"]["stages"] == {"pre-commit": "foreign", "commit-msg": "removed", "pre-push": "removed"}
    assert gone["findings"][0]["code"] == "hook-left"
    assert (hooks / "pre-commit").read_text() == "#!/bin/sh\nexit 0\n"
    assert (hooks / f"pre-commit{CHAINED}").read_text() == OLD


def test_a_shim_with_somebody_s_changes_is_neither_overwritten_nor_deleted(repo: Repo) -> None:
    afd(repo, "hooks install").ok()
    hook = repo.path / ".git/hooks/pre-commit"
    changed = hook.read_bytes().replace(b"exit 1", b"exit 0")
    for data in (changed, hook.read_bytes() + b"echo mine\n"):
        hook.write_bytes(data)
        for verb in ("install", "uninstall"):
            done = afd(repo, f"hooks {verb}")
            assert (done.code, "changes of somebody else's" in done.err) == (3, True)
        assert hook.read_bytes() == data
        assert "pre-commit" not in active(repo)


def test_a_shim_of_another_interpreter_or_without_its_bit_is_renewed(repo: Repo) -> None:
    afd(repo, "hooks install").ok()
    hook = repo.path / ".git/hooks/pre-commit"
    hook.chmod(0o644)
    assert active(repo) == ["commit-msg", "pre-push"]
    assert afd(repo, "hooks install --json").ok().json["data"]["stages"]["pre-commit"] == "renewed"
    assert active(repo) == list(STAGES)


def test_install_asks_git_whether_it_runs_what_was_installed(repo: Repo, tmp_path: Path) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncase " $* " in *" hook run "*) exit 0 ;; esac\nexec {_git()} "$@"\n')
    program.chmod(0o755)
    done = repo.afd("hooks install", env={"PATH": f"{program.parent}:{os.environ['PATH']}"})
    assert (done.code, "git does not run it" in done.err) == (5, True)


def _git() -> str:
    found = [Path(folder, "git") for folder in os.environ["PATH"].split(os.pathsep)]
    return str(next(path for path in found if path.exists()))


def test_a_wheel_brings_the_shim_along(repo: Repo, tmp_path: Path) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"] == {"hooks": "git_afd/shims"}
    site = tmp_path / "site packages"
    shutil.copytree(ROOT / "git_afd", site / "git_afd", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "hooks", site / "git_afd/shims")
    start = f"import sys; sys.path.insert(0, {str(site)!r}); from git_afd.cli.entry import main; sys.exit(main())"
    repo([sys.executable, "-c", start, "hooks", "install"])
    assert f"site='{site}'" in (repo.path / ".git/hooks/pre-push").read_text()
    shutil.rmtree(site / "git_afd/shims")
    bare = repo.run([sys.executable, "-c", start, "hooks", "status"])
    assert (bare.code, "installed without its hooks" in bare.err) == (5, True)


def test_status_mentions_hooks_that_git_does_not_run(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    case: FrozenUpgrade = copy_of_upgrade(tmp_path, tmp_path_factory)
    codes = [finding["code"] for finding in afd(case.plugin, "status --json").ok().json["findings"]]
    assert "hooks-inert" not in codes
    case.plugin("git config core.hooksPath nowhere")
    found = afd(case.plugin, "status --json").ok().json["findings"]
    assert any(item["code"] == "hooks-inert" and item["severity"] == "note" for item in found)
