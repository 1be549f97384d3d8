"""Commits of the branch that no record announces: what came past the hooks is named, in every gate that runs on it.

``--no-verify`` exists, and cherry-pick, revert and ``am`` run no hook. A gate vouches for content, whoever committed
it, so this does not decide its verdict; push and audit ask about each such commit again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from git_afd.adapters.session import Session
from git_afd.core.finding import Finding
from git_afd.core.policy import Policy
from git_afd.core.state import Upgrade

_SHOWN: Final = 5


def unannounced(session: Session, up: Upgrade, policy: Policy) -> tuple[Finding, ...]:
    """Return a note for each commit beyond the base, merges aside, that changes what gates vouch for unannounced."""
    known = {item.commit for item in up.commits}
    listed = session.git.run("rev-list", "--no-merges", f"{up.freeze.base}..HEAD")
    strangers = [commit for commit in listed.text.split() if commit not in known] if listed.ok else []
    notes = [_note(commit, paths) for commit, paths in _vouched(session, strangers, policy).items() if paths]
    left = len(notes) - _SHOWN
    more = Finding("unannounced-commit", "", f"{left} more commits are announced by no record", "", "note")
    return (*notes[:_SHOWN], *([more] if left > 0 else []))


def _vouched(session: Session, commits: Sequence[str], policy: Policy) -> dict[str, list[str]]:
    """Return what each of `commits` (full ids) changes of the files that gates vouch for, asked of git at once."""
    found: dict[str, list[str]] = {commit: [] for commit in commits}
    if not commits:
        return found
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    said = session.git.run("diff-tree", "--stdin", "-r", "-z", "--name-only", "--root", input=asked)
    changed: list[str] = []
    for field in said.fields():  # a commit's id, then its paths
        if field in found:
            changed = found[field]
        elif policy.kind_of(field) in ("production", "test"):
            changed.append(field)
    return found


def _note(commit: str, paths: list[str]) -> Finding:
    more = f" and {len(paths) - 1} more" if paths[1:] else ""
    return Finding(
        "unannounced-commit",
        commit[:12],
        f"commit {commit[:12]} changes {paths[0]}{more}, and no record announces it",
        "git afd commit --root-cause makes the next one",
        "note",
    )
