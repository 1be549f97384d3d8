"""The stage `pre-push`: no ref, whatever its name, may carry a commit of an open upgrade to anybody unasked.

Workflow, hard boundaries: do not push, publish, merge or open a pull request unless the user separately asks. A
push of the ledger alone publishes no commit of the upgrade and passes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from git_afd.adapters.git import Git, decode
from git_afd.adapters.upgrade_commits import UpgradeCommits
from git_afd.core.pointers import FETCH
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked, EnvironmentFault, Refused
from git_afd.hook.explain import reading


@dataclass(frozen=True, slots=True)
class Pushed:
    """One line of git's standard input to the hook: what is pushed (a full id) and under which name it was given."""

    name: str
    commit: str


def check(argv: list[str]) -> None:  # noqa: ARG001 - remote and address; a rule that asked for them could be dodged
    """Raise Refused when a pushed commit reaches an open upgrade's, Blocked when that cannot be decided."""
    pushed = list(asked(sys.stdin.buffer.read(), os.environ))
    if not pushed:
        return  # nothing, or deletions only
    common_dir = _common_dir()
    git = Git(common_dir, place=(f"--git-dir={common_dir}",))
    commits = UpgradeCommits(git)
    now = reading(str(common_dir))
    now.insist()  # nobody knows what is not to be pushed
    for item in pushed:
        commit = commits.peeled(item.commit)
        if commit:
            _judge(item, commit, commits, now.state.upgrades)


def asked(data: bytes, environment: Mapping[str, str]) -> Iterator[Pushed]:
    """Read what git says it will push: ``local-ref local-id remote-ref remote-id`` per line; deletions left out.

    A local ref may hold spaces (``main@{1 day ago}``). The pre-commit framework keeps git's input to itself and
    names one pair in variables, the commit not always; they add to what is judged and take nothing away.
    """
    for line in decode(data).splitlines():
        words = line.rsplit(" ", 3)
        if len(words) != 4:  # noqa: PLR2004 - the four that git documents (githooks, pre-push)
            raise EnvironmentFault(f"git names a push as {line!r}, which is not understood", "git afd doctor")
        if words[1].strip("0"):
            yield Pushed(words[0], words[1])
    branch, commit = (environment.get(f"PRE_COMMIT_{name}", "") for name in ("LOCAL_BRANCH", "TO_REF"))
    for named in dict.fromkeys((commit, branch)):
        if named.strip("0"):
            yield Pushed(branch or named, named)


def _common_dir() -> Path:
    """Return the common git dir of the repository that the push started in."""
    from git_afd.adapters.quick_git import ask, text_of  # the one door that keeps git's own location variables

    ((code, out),) = ask(("rev-parse", "--path-format=absolute", "--git-common-dir"))
    if code != 0:
        raise EnvironmentFault("git does not say which repository this is", "git afd doctor")
    return Path(text_of(out).rstrip("\n"))


def _judge(item: Pushed, commit: str, commits: UpgradeCommits, upgrades: Mapping[str, Upgrade]) -> None:
    for branch, name in commits.pointers.items():
        if name not in upgrades and commits.reaches(commit, branch):
            raise Blocked(f"{branch} points to upgrade {name}, which the ledger lacks", FETCH)
    for up in upgrades.values():
        if up.closed:
            continue
        held = commits.held(commit, up)
        if held and not _approved(held, commits, up):
            raise Refused(
                f"{item.name} holds {len(held)} commit(s) of the open upgrade {up.id}, {held[0][:12]} among them, "
                "and publishing them was not approved",
                "git afd approve push, once the user has asked for it",
                code="push-not-approved",
            )
        if held:
            _judge_content(commits, up, commit, held)


def _judge_content(commits: UpgradeCommits, up: Upgrade, commit: str, held: Iterable[str]) -> None:
    """Judge what the upgrade's commits make of the base, as `commit` would publish it, whoever made them."""
    from git_afd.hook.content import findings, raise_first

    files = commits.files(commit, held)
    found = findings(commits.git, up, up.freeze.base, files) if files else ()
    raise_first(found, "git afd verify --patches --base BASE")


def _approved(held: Iterable[str], commits: UpgradeCommits, up: Upgrade) -> bool:
    """Say whether one approval covers all of them: it names a commit that they lead to."""
    subjects = (approval.subject for approval in up.approvals if approval.what == "push")
    return any(set(held) <= commits.beyond_base(subject, up) for subject in subjects if commits.peeled(subject))
