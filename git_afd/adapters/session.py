"""Where a command stands: the repository, the branch, the upgrade, who acts, what time it is.

Resolved once, to absolute paths, before anything changes directory; the variables an outer git left behind
are dropped here and never seen again (scenarios A3, A4, A6).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from git_afd.adapters.artifacts import Artifacts
from git_afd.adapters.configuration import POLICY_FILE, PolicySource, pointer, read_policy
from git_afd.adapters.git import Git, git_fault
from git_afd.adapters.ledger import Ledger, Reading
from git_afd.core.pointers import FETCH
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked, EnvironmentFault, Refused

_LOCATION: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR")


def utc_now() -> str:
    """Return this moment as ISO 8601 in UTC, to the second.

    SOURCE_DATE_EPOCH (reproducible-builds.org) takes its place, so that two demos write the same records. Nothing
    is ordered or judged by it.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Session:
    """One command's view of its repository.

    `root` is the work tree's top (the git dir in a bare repository), `git_dir` this worktree's own git dir,
    `common_dir` the shared one; `branch` is the short name, None when HEAD is detached; `head` the full id
    of HEAD, None when the branch is unborn.
    """

    git: Git
    root: Path
    git_dir: Path
    common_dir: Path
    bare: bool
    branch: str | None
    head: str | None
    actor: str
    now: Callable[[], str] = utc_now

    @property
    def ledger(self) -> Ledger:
        """The ledger of this repository."""
        return Ledger(self.git, self.common_dir, self.actor, self.now)

    @property
    def artifacts(self) -> Artifacts:
        """The raw evidence that this repository keeps."""
        return Artifacts(self.git, self.common_dir)

    def reading(self, *, strict: bool = False) -> Reading:
        """Read the ledger. With `strict`, raise Blocked when any of it is unreadable."""
        reading = self.ledger.read()
        if strict:
            reading.insist()
        return reading

    def upgrade(self, reading: Reading) -> Upgrade:
        """Return the upgrade of this branch. Raises Refused when there is none, Blocked when it is lost."""
        if self.branch is None:
            raise Refused("HEAD is detached, so no upgrade is meant", "switch to the upgrade branch")
        name = pointer(self.git, self.branch)
        if not name:
            raise Refused(f"branch {self.branch} has no upgrade", "git afd freeze -h")
        found = reading.state.upgrades.get(name)
        if found is None:
            raise Blocked(f"branch {self.branch} points to upgrade {name}, which the ledger lacks", FETCH)
        return found

    def policy(self, up: Upgrade) -> PolicySource:
        """Return the policy frozen with the upgrade: it governs to the end, whatever afd.toml says now.

        Raises EnvironmentFault when this version no longer takes it: nobody can correct what is frozen.
        """
        try:
            return read_policy(up.freeze.policy_text, f"the policy frozen with {up.id}")
        except EnvironmentFault as fault:
            fix = f"use the git-afd that froze it; or correct {POLICY_FILE}, git afd close --why WHY, then freeze again"
            raise EnvironmentFault(fault.message, fix, code="policy-frozen") from None


def open_session(directory: Path, *, work_tree: bool = True, now: Callable[[], str] = utc_now) -> Session:
    """Open the repository that `directory` is in. Raises EnvironmentFault when there is none that can be used."""
    inherited = {name: os.environ[name] for name in _LOCATION if os.environ.get(name)}
    here = Git(directory, env=inherited)
    found = here.run("rev-parse", "--path-format=absolute", "--is-bare-repository", "--git-dir", "--git-common-dir")
    if not found.ok:
        fault = git_fault(found, ("rev-parse",), directory)
        if "not a git repository" in found.reason:
            fault = EnvironmentFault(f"{directory} is in no git repository", "cd into the plugin, or use -C DIR")
        raise fault
    bare, git_dir, common_dir = found.text.split("\n")
    top = here.run("rev-parse", "--path-format=absolute", "--show-toplevel")
    if work_tree and not top.ok:
        raise EnvironmentFault(f"{directory} has no work tree", "use -C with a work tree of this repository")
    root = Path(top.text) if top.ok else Path(git_dir)
    git = _door(root, Path(git_dir), located=bool(inherited) and top.ok)
    return Session(
        git=git,
        root=root,
        git_dir=Path(git_dir),
        common_dir=Path(common_dir),
        bare=bare == "true",
        branch=_branch(git),
        head=_head(git),
        actor=_actor(git),
        now=now,
    )


def _door(root: Path, git_dir: Path, *, located: bool) -> Git:
    """Return a door that needs no inherited variable: by directory alone where git finds the same place."""
    keep = {
        name: value
        for name, value in os.environ.items()
        if name in ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT")
        or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))
    }
    plain = Git(root, env=keep)
    if not located or plain.run("rev-parse", "--path-format=absolute", "--git-dir").text == str(git_dir):
        return plain
    return Git(root, place=(f"--git-dir={git_dir}", f"--work-tree={root}"), env=keep)


def _branch(git: Git) -> str | None:
    result = git.run("symbolic-ref", "--quiet", "HEAD")
    return result.text.removeprefix("refs/heads/") if result.ok else None


def _head(git: Git) -> str | None:
    result = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return result.text if result.ok else None


def _actor(git: Git) -> str:
    """Return who acts: GIT_AFD_ACTOR, else the committer as git itself computes it (with its refusals)."""
    named = os.environ.get("GIT_AFD_ACTOR", "").strip()
    if named:
        return named
    result = git.run("var", "GIT_COMMITTER_IDENT")
    return result.text.rsplit(" ", 2)[0] if result.ok else ""
