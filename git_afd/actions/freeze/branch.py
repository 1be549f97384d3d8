"""The upgrade's branch: which it may be, and making HEAD name it while index and files stay as they are."""

from __future__ import annotations

from git_afd.adapters.configuration import point, pointer, pointers
from git_afd.adapters.git import Git
from git_afd.adapters.pins import pin, pin_name
from git_afd.adapters.session import Session
from git_afd.core.freezing import existing
from git_afd.core.state import State, Upgrade
from git_afd.errors import Blocked, Refused


def default_branch(git: Git) -> str:
    """Return the short name of the default branch: ``origin/HEAD``, else main or master, else init.defaultBranch."""
    remote = git.run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
    if remote.ok:
        return remote.text.removeprefix("refs/remotes/origin/")
    for name in ("main", "master"):
        if git.run("show-ref", "--verify", "--quiet", f"refs/heads/{name}").ok:
            return name
    return git.run("config", "--get", "init.defaultBranch").text or "master"


def upgrade_of(git: Git, state: State, branch: str) -> Upgrade | None:
    """Return the open upgrade of a branch, None when there is none.

    The pointer decides, since git moves it with a branch that is renamed; without one, the name at the freeze does,
    unless that upgrade goes by another name now (Refused). Raises Blocked when the ledger lacks what is pointed to.
    """
    known = pointers(git)
    named = known.get(branch, "")
    up = state.upgrades.get(named)
    if named and up is None:
        raise Blocked(
            f"branch {branch} points to upgrade {named}, which the ledger lacks",
            f"bring its ledger here, or give it up: git config --unset branch.{branch}.afd",
        )
    if up is not None and not up.closed:
        return up
    up = existing(state, branch)
    now = [name for name, upgrade in known.items() if up is not None and upgrade == up.id]
    if up is not None and now:
        raise Refused(
            f"upgrade {up.id} was frozen on {branch}, which is called {now[0]} now",
            f"git switch {now[0]}, or name another branch: --branch NAME",
        )
    return up


def settle(session: Session, branch: str, base: str, upgrade: str) -> None:
    """Make the branch exist at the base, point to the upgrade, and be what HEAD names. Neither index nor files move.

    The base is pinned: rebasing the branch must not lose the commit that the records speak of.

    Raises Refused when HEAD stands at another commit than the branch: switching would touch the user's files.
    """
    git = session.git
    ref = f"refs/heads/{branch}"
    pin(git, {pin_name(upgrade, "plugin", "base"): base})
    found = git.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if not found.ok:
        git("update-ref", "-m", "afd: freeze", ref, base, "0" * len(base), locks=True)
    if pointer(git, branch) != upgrade:
        point(git, branch, upgrade)
    if session.branch == branch:
        return
    if session.head != (found.text if found.ok else base):
        raise Refused(f"upgrade {upgrade} is frozen on branch {branch}, and HEAD is elsewhere", f"git switch {branch}")
    git("symbolic-ref", "-m", "afd: freeze", "HEAD", ref, locks=True)


def insist_branch(git: Git, branch: str, session: Session) -> None:
    """Raise Refused when the branch cannot become the upgrade's without touching files: bad name, elsewhere, in use."""
    if branch == session.branch:
        return
    if branch.startswith("-") or not git.run("check-ref-format", "--branch", branch).ok:
        raise Refused(f"{branch!r} cannot be the name of a branch", "name another: --branch NAME")
    ref = f"refs/heads/{branch}"
    listed = git("for-each-ref", "--format=%(refname) %(objectname) %(worktreepath)", ref, f"{ref}/").splitlines()
    exact = [line.split(" ", 2) for line in listed if line.startswith(f"{ref} ")]
    commit, path = (exact[0][1], exact[0][2]) if exact else ("", "")
    if path:
        raise Refused(f"branch {branch} is checked out in {path}", "run git afd freeze there, or name another branch")
    if commit and commit != session.head:
        raise Refused(f"branch {branch} exists at {commit[:12]}, not at HEAD", f"git switch {branch}, or another name")
    parts = branch.split("/")
    above = [f"refs/heads/{'/'.join(parts[:count])}" for count in range(1, len(parts))]
    clash = [name for name in above if git.run("show-ref", "--verify", "--quiet", name).ok]
    clash += [line.split(" ", 1)[0] for line in listed if line.startswith(f"{ref}/")]
    if clash:
        other = clash[0].removeprefix("refs/heads/")
        raise Refused(f"branch {branch} cannot exist beside branch {other}", "name another: --branch NAME")
