"""Acting once: worktrees and pins in the sources, the proof that nothing else moved, the record, the branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from git_afd.actions.freeze.texts import insist_present
from git_afd.adapters.configuration import point, pointer
from git_afd.adapters.git import Git
from git_afd.adapters.making import Making, Target, begin, finish, one_interrupt, undo
from git_afd.adapters.pins import pin
from git_afd.adapters.session import Session
from git_afd.adapters.sources import Source
from git_afd.adapters.untouched import Fingerprint, differences
from git_afd.adapters.worktrees import add_worktree, registered, verify_worktree
from git_afd.core.names import PIN_PREFIX
from git_afd.core.outcome import Json
from git_afd.errors import Conflict, Refused

Record = Callable[[Mapping[str, Json]], None]
"""Writes the freeze's record, given what the making of the worktrees proved."""


def make(
    session: Session,
    making: Making,
    sources: Mapping[str, Source],
    trees: Mapping[str, str],
    before: Mapping[str, Fingerprint],
    record: Record,
) -> None:
    """Make the worktrees and pins, prove the sources untouched, record it; on any failure before that, take all back.

    `trees` are the targets' trees (full ids), `before` the sources' fingerprints, by upstream. Raises Conflict
    when something else changed in a source meanwhile; whatever stops it (a signal too) passes through.
    """
    home = session.ledger.home
    with one_interrupt():
        try:
            begin(home, making)
            readers = _add_all(making, sources, trees)
            for upstream, source in sources.items():
                pin(source.git, making.pins[upstream])
            untouched = {name: _untouched(making, source, before[name]) for name, source in sources.items()}
            record({"untouched": untouched, "verified_by": readers})
        except BaseException as stop:
            if making.upgrade not in session.ledger.read().state.upgrades:
                _tell(stop, undo(home, making))
            raise
        finish(home)


def _add_all(making: Making, sources: Mapping[str, Source], trees: Mapping[str, str]) -> dict[str, Json]:
    """Add all worktrees at once, each in its own git process, and verify them; return who read each."""

    def add(target: Target) -> str:
        source, path = sources[target.upstream], Path(target.path)
        insist_present(source, target.commit, _all_blobs(source, target.commit), fetch=True)
        add_worktree(source, target.commit, path, target.reason)
        return verify_worktree(source, target.commit, trees[target.upstream], path)

    if not making.targets:
        return {}
    with ThreadPoolExecutor(len(making.targets)) as pool:
        done = {target.upstream: pool.submit(add, target) for target in making.targets}
        return {upstream: future.result() for upstream, future in done.items()}


def _all_blobs(source: Source, commit: str) -> list[str]:
    return [entry.id for entry in source.objects.entries(commit)] if source.promisor else []


def _untouched(making: Making, source: Source, before: Fingerprint) -> dict[str, Json]:
    """Compare a source with its fingerprint from before; only our registration and pins may have appeared."""
    added = [f"git:{PIN_PREFIX}{making.upgrade}"]
    for target in making.targets:
        mine = registered(source.common_dir, Path(target.path)) if target.upstream == source.upstream else None
        if mine is not None:
            added.append(f"git:worktrees/{mine.admin.name}")
    after = source.fingerprint()
    moved = differences(before, after, tuple(added))
    if moved:
        more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
        message = f"{source.path} changed while it was being frozen: {moved[0].partition(':')[2]}{more}"
        raise Conflict(message, "let nothing else work in it meanwhile, then run the same command again")
    digest = after.without(tuple(added)).digest
    return {"before": before.without(tuple(added)).digest, "after": digest, "paths": len(after.facts), "added": added}


def _tell(stop: BaseException, left: tuple[str, ...]) -> None:
    """Say with the error what could not be taken back."""
    if left and isinstance(stop, Conflict | Refused):
        stop.fix = f"{stop.fix}; {', '.join(left)} is left over and not ours to remove".lstrip("; ")


def settle(session: Session, branch: str, base: str, upgrade: str) -> None:
    """Make the branch exist at the base, point to the upgrade, and be what HEAD names. Neither index nor files move.

    Raises Refused when HEAD stands at another commit than the branch: switching would touch the user's files.
    """
    git = session.git
    ref = f"refs/heads/{branch}"
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
