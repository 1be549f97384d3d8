"""Taking up what a killed `git afd commit` left: a commit that no record speaks of, announcements, scratch worktrees.

A commit on the branch is taken for ours only when an announcement with its parent and its tree is still there:
trailers can be copied by anybody. Everything that is found dead is swept, whatever root cause it belonged to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from git_afd.adapters.commit_object import claims, must_be_signed, read_commit
from git_afd.adapters.drawing import tree_difference
from git_afd.adapters.scratch import remove_scratch, survivor_intent, survivors
from git_afd.adapters.session import Session
from git_afd.adapters.user_index import PlannedEntries, bring_forward
from git_afd.core.blueprint import Blueprint, read_changes
from git_afd.core.commit_rules import MadeCommit, commit_faults, message_faults
from git_afd.core.finding import Finding
from git_afd.core.intent import FILE, GONE, Intent, IntentFault, read_intent
from git_afd.core.plan import planned_paths
from git_afd.core.state import RootCause, Upgrade
from git_afd.errors import Refused


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A commit on the branch that was made for a root cause and not recorded: it, and its plan."""

    made: MadeCommit
    blueprint: Blueprint


def find_unrecorded(session: Session, up: Upgrade, cause: RootCause, signer: str) -> Unrecorded | None:
    """Return the commit that a killed run made as announced, None when there is none.

    Raises Refused when a commit claims to be this root cause's and is not what was announced.
    """
    announced = {(intent.parent, intent.tree) for intent in _intents(session) if intent.root_cause == cause.name}
    for name in claims(session.git, up.id, cause.name, up.freeze.base):
        made = read_commit(session.git, name)
        parent = made.parents[0]
        changes = read_changes(tree_difference(session.git, parent, name))
        blueprint = Blueprint(parent, made.tree, changes)
        faults = (
            *_unplanned(blueprint, cause),
            *commit_faults(made, blueprint, signer, signed=must_be_signed(session.git)),
            *message_faults(up, cause, made.message, signer, parent=parent),
        )
        if (parent, made.tree) in announced and not faults:
            return Unrecorded(made, blueprint)
        why = faults[0].message if faults else "no announcement of git afd commit fits it"
        raise Refused(
            f"{name} claims to be {cause.name}'s commit, and {why}",
            f"take it off the branch yourself (git revert {name[:12]}, then a new root cause), or look at it first",
            code="foreign-commit",
        )
    return None


def _unplanned(blueprint: Blueprint, cause: RootCause) -> Iterator[Finding]:
    """Name what a commit changes besides the plan: an announcement is a file that anybody can write."""
    planned = set(planned_paths(cause))
    for path in blueprint.paths:
        if path not in planned:
            yield Finding("commit-paths", path, f"it changes {path}, which {cause.name} does not plan", "")


def take_up(session: Session, found: Unrecorded) -> None:
    """Bring the user's planned index entries to the commit, when the killed run had not come to that."""
    entries = {item.path: (item.old_mode, item.old_blob) for item in found.blueprint.changes if item.old_mode != GONE}
    bring_forward(session.git, PlannedEntries(found.blueprint.paths, entries), found.blueprint.changes)


def sweep(session: Session) -> None:
    """Remove announcements and scratch worktrees of runs that are dead; only right while the commit lock is held."""
    (session.git_dir / FILE).unlink(missing_ok=True)
    for folder in survivors(session):
        remove_scratch(session, folder)


def _intents(session: Session) -> Iterator[Intent]:
    files: list[Path] = [session.git_dir / FILE]
    files += [survivor_intent(session, folder) for folder in survivors(session)]
    for file in files:
        try:
            yield read_intent(file.read_text(encoding="utf-8", errors="surrogateescape"))
        except (OSError, IntentFault):
            continue  # absent, or cut off by the kill: it announces nothing
