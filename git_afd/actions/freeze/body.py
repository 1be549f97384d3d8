"""The freeze record's body, and what is shown of it. Keys: docs/reference/records.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from git_afd.actions.freeze.asked import Asked
from git_afd.actions.freeze.identity import Current
from git_afd.actions.freeze.plugin import Plugin
from git_afd.adapters.making import Making
from git_afd.adapters.revisions import Resolved
from git_afd.adapters.session import Session
from git_afd.adapters.sources import Source
from git_afd.core.finding import Finding
from git_afd.core.identity.pair import Pair
from git_afd.core.identity.stack import Stack
from git_afd.core.names import UPSTREAMS, revision_key
from git_afd.core.outcome import Json


@dataclass(frozen=True, slots=True)
class Identity:
    """What phase 0 decided: four revisions, both pairs, the target's stack, all statements, what is worth noting.

    `refs` are the targets as they were given.
    """

    currents: Mapping[str, Current]
    refs: Mapping[str, str]
    targets: Mapping[str, Resolved]
    pairs: Mapping[str, Pair]
    stack: Stack
    rows: list[Json]
    findings: tuple[Finding, ...]

    @property
    def revisions(self) -> dict[str, Resolved]:
        """The four revisions by key."""
        found = {revision_key(name, "current"): self.currents[name].resolved for name in UPSTREAMS}
        return found | {revision_key(name, "target"): self.targets[name] for name in UPSTREAMS}

    @property
    def commits(self) -> dict[str, str]:
        """The four commits (full ids) by key."""
        return {key: revision.commit for key, revision in self.revisions.items()}


def freeze_body(
    session: Session,
    branch: str,
    plugin: Plugin,
    identity: Identity,
    more: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the body; `more` are the entries that say what is made: sources, worktrees, environment."""
    return {
        "branch": branch,
        "base": plugin.base,
        "base_tree": plugin.tree,
        "primary": session.actor,
        "revisions": _revisions(identity),
        "candidates": identity.rows,
        "pair": {side: _pair(pair) for side, pair in identity.pairs.items()},
        "stack": _stack(identity.stack),
        "policy": {"origin": plugin.policy.origin, "digest": plugin.policy.digest, "text": plugin.policy.text},
        "plugin": {
            "path": str(session.root),
            "branch": session.branch or "",
            "head": plugin.base,
            "dirty": dict(plugin.dirty),
        },
        "documents": dict(plugin.documents),
        "guards": list(plugin.guards),
        "findings": [finding.as_json() for finding in identity.findings],
        **more,
    }


def source_rows(asked: Asked, making: Making) -> dict[str, Json]:
    """Return what is recorded of the sources."""
    made = {target.upstream for target in making.targets}
    return {
        name: {
            "path": str(source.path),
            "head": source.head or "",
            "branch": source.branch or "",
            "dirty": list(asked.dirty[name]),
            "bare": source.root is None,
            "shallow": source.shallow,
            "partial": bool(source.promisor),
            "read_by": source.objects.name,
            "reused": name not in made,
            "lfs_smudge": "as the source has it" if name not in made else "skipped",
        }
        for name, source in asked.sources.items()
    }


def worktree_rows(sources: Mapping[str, Source], making: Making) -> dict[str, Json]:
    """Return the directory of each target: its new worktree, or the provided checkout that is re-used."""
    made = {target.upstream: target.path for target in making.targets}
    return {name: made.get(name, str(source.path)) for name, source in sources.items()}


def _revisions(identity: Identity) -> dict[str, Json]:
    rows: dict[str, Json] = {}
    for name in UPSTREAMS:
        current, target = identity.currents[name], identity.targets[name]
        rows[revision_key(name, "current")] = {"ref": current.ref, "how": current.how, **_ids(current.resolved)}
        rows[revision_key(name, "target")] = {"ref": identity.refs[name], "how": "given with --target", **_ids(target)}
    return rows


def _ids(resolved: Resolved) -> dict[str, Json]:
    return {"object": resolved.object, "commit": resolved.commit, "tree": resolved.tree}


def _pair(pair: Pair) -> dict[str, Json]:
    return {"verdict": pair.verdict, "reason": pair.reason, "evidence": [one.as_json() for one in pair.evidence]}


def _stack(stack: Stack) -> dict[str, Json]:
    members = {
        name: [{"value": one.value, "place": one.place} for one in stated] for name, stated in stack.members.items()
    }
    operators = [{"name": one.name, "version": one.version, "path": one.path} for one in stack.operators]
    return {"members": members, "operators": operators, "questions": _rows(stack.questions)}


def _rows(findings: Iterable[Finding]) -> list[Json]:
    return [finding.as_json() for finding in findings]
