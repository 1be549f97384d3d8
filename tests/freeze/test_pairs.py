"""Which pairs are accepted, which block, and what only a person can vouch for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from freeze_kit import Stage, everything, fresh
from kit_terminal import at_terminal

from git_afd.adapters.session import open_session


@pytest.fixture
def case(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Stage:
    return fresh(tmp_path_factory, tmp_path)


UNPROVEN = ("v3.0.0", "v3.0.0rc1")

# targets, options -> words of the reason, words of the fix
BLOCKED = [
    # the target's lock and Dockerfile name another vLLM
    (("v3.0.0", "v2.0.0rc1"), [], "does not name vLLM", "--target vllm=REF"),
    (("v1.0.0", "v2.0.0rc1"), [], "it names v2.0.0 (.github/vllm-release-tag.commit", "--target vllm=REF"),
    # the inferred current pair does not belong together: one half was named by a person, wrongly
    (("v2.0.0", "v2.0.0rc1"), ["--current=vllm-ascend=v2.0.0rc1"], "current vLLM-Ascend does not name", "--current"),
]


@pytest.mark.parametrize(("targets", "options", "says", "fix"), BLOCKED)
def test_a_wrong_pair_is_blocked_with_the_reason_and_nothing_is_recorded(
    case: Stage, targets: tuple[str, str], options: list[str], says: str, fix: str
) -> None:
    before = [everything(repo.path) for repo in (case.vllm, case.ascend)]
    done = case.freeze("--json", *options, targets=targets)
    assert done.code == 6
    assert says in done.json["findings"][0]["message"]
    assert fix in done.json["next"]
    assert done.json["data"]["status"] == "BLOCKED"
    assert [everything(repo.path) for repo in (case.vllm, case.ascend)] == before
    assert case.plugin("git branch --show-current") == "main"
    assert case.plugin.run("git rev-parse -q --verify refs/notes/afd/ledger").code == 1


# the plugin's pyproject.toml and README.md -> words of the reason, words of the fix
UNDECIDED = [
    # two pins of one kind
    (
        'dependencies = ["vllm==1.0.0"]\n[project.optional-dependencies]\nx = ["vllm==2.0.0"]\n',
        "names 2 commits",
        "--current vllm",
    ),
    # a pin of what the source does not hold: the support table does not step in
    ('dependencies = ["vllm==9.9.9"]\n', "is no commit of", "fetch origin tag v9.9.9"),
]


@pytest.mark.parametrize(("pins", "says", "fix"), UNDECIDED)
def test_an_undecided_current_revision_blocks_and_names_what_decides(
    case: Stage, pins: str, says: str, fix: str
) -> None:
    case.plugin.commit("pins", {"pyproject.toml": f'[project]\nname = "plugin"\nversion = "1"\n{pins}'})
    done = case.freeze("--json", "--explain")
    assert done.code == 6
    assert says in done.json["findings"][0]["message"]
    assert fix in done.json["findings"][0]["remedy"]
    assert case.frozen("--current=vllm=v1.0.0")["status"] == "PASS"


def test_explain_shows_every_candidate_with_place_rank_kind_and_commit(case: Stage) -> None:
    done = case.freeze("--explain", "--dry-run", env={"COLUMNS": "200"}).ok()
    row = next(
        line for line in done.out.splitlines() if "pyproject.toml:4" in line and "1.0.0 " in line and "pin" in line
    )
    assert case.vllm("git rev-parse v1.0.0^{commit}")[:12] in row
    assert any("README.md:4" in line and "support-matrix" in line for line in done.out.splitlines())
    assert any("checkout" in line and str(case.vllm.path) in line for line in done.out.splitlines())


def recorded(case: Stage) -> dict[str, str]:
    session = open_session(case.plugin.path)
    return session.upgrade(session.reading()).recorded


def test_an_unproven_pair_waits_for_a_person(case: Stage) -> None:
    done = case.freeze("--json", targets=UNPROVEN)
    assert done.code == 6
    assert done.json["data"]["result"] == "frozen"
    assert done.json["next"] == "git afd approve pair"
    assert recorded(case) == {"FREEZE_IDENTITY": "BLOCKED"}
    again = case.freeze("--json", targets=UNPROVEN)
    assert (again.code, again.json["data"]["result"]) == (6, "already")


@pytest.mark.parametrize("typed", ["", "yes\n", "approve pair U-00000000\nbecause\n"])
def test_no_pipe_stands_for_a_person(case: Stage, typed: str) -> None:
    case.freeze(targets=UNPROVEN)
    done = case.plugin.afd("approve pair", stdin=typed)
    assert (done.code, "terminal" in done.err) == (3, True)
    assert recorded(case) == {"FREEZE_IDENTITY": "BLOCKED"}


@pytest.mark.skipif(
    sys.platform == "win32",
    reason="a prompt is typed into a pseudo-terminal, which Windows has none of for pexpect.spawn",
)
def test_a_person_approves_a_pair_with_phrase_and_reason_and_it_is_shown_for_ever(case: Stage) -> None:
    upgrade = case.freeze("--json", targets=UNPROVEN).json["data"]["upgrade"]
    assert at_terminal(case.plugin, "pair", "yes")[0] == 3
    assert at_terminal(case.plugin, "pair", f"approve pair {upgrade}", " ")[0] == 3
    assert recorded(case) == {"FREEZE_IDENTITY": "BLOCKED"}
    code, shown = at_terminal(case.plugin, "pair", f"approve pair {upgrade}", "tried on our cluster")
    assert code == 0, shown
    assert case.vllm("git rev-parse v3.0.0^{commit}") in shown
    assert recorded(case) == {"FREEZE_IDENTITY": "PASS"}
    status = case.plugin.afd("status").ok()
    assert "approved by Ada Example <ada@example.org>: pair" in status.out
    assert "tried on our cluster" in status.out
    again = case.plugin.afd("approve pair --json").ok()
    assert again.json["data"]["result"] == "already"


def test_a_supported_pair_needs_no_approval(case: Stage) -> None:
    case.frozen()
    done = case.plugin.afd("approve pair")
    assert (done.code, "needs no approval" in done.err) == (3, True)


def test_a_dry_run_of_an_approval_asks_nothing(case: Stage) -> None:
    case.freeze(targets=UNPROVEN)
    assert "Would ask" in case.plugin.afd("approve pair --dry-run").ok().out
