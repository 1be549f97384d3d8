"""What a freeze records of the plugin itself: dirty paths, documents to be read, guarded values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from git_afd.actions.freeze.texts import choose, texts_of
from git_afd.adapters.configuration import PolicySource, policy_at
from git_afd.adapters.content import Entry
from git_afd.adapters.dirty import dirty_digests, under_way
from git_afd.adapters.objects import open_objects
from git_afd.adapters.session import Session
from git_afd.core.finding import Finding
from git_afd.core.guards import guarded_in
from git_afd.core.identity.plugin import wanted_paths
from git_afd.core.names import LESSON_SUFFIX
from git_afd.core.outcome import Json
from git_afd.core.policy import Policy, fits
from git_afd.errors import EnvironmentFault, Refused


@dataclass(frozen=True, slots=True)
class Plugin:
    """The plugin at its HEAD: commit and tree (full ids), policy, all paths, texts that may speak about versions."""

    base: str
    tree: str
    policy: PolicySource
    paths: tuple[str, ...]
    texts: Mapping[str, str]
    dirty: Mapping[str, str]
    documents: Mapping[str, str]
    guards: tuple[Mapping[str, Json], ...]
    findings: tuple[Finding, ...]


def plugin_facts(session: Session) -> Plugin:
    """Gather them. Raises EnvironmentFault without a commit or an identity, Refused while an operation is under way."""
    if session.head is None:
        raise EnvironmentFault(f"{session.root} has no commit yet", "commit the plugin's files first")
    if not session.actor:
        raise EnvironmentFault("git knows no identity to act under", "git config user.name NAME, and user.email")
    busy = under_way(session.git_dir)
    if busy:
        raise Refused(f"{busy} is in progress in {session.root}", "finish or abort it first")
    policy = policy_at(session.git, session.head)
    objects = open_objects(session.git, session.root)
    listed = objects.entries(session.head)
    guarded = [guard.path for guard in policy.policy.guards]
    speaking = set(wanted_paths(entry.path for entry in listed))
    chosen = choose(listed, lambda paths: [p for p in paths if p in speaking or fits(p, guarded)])
    texts = texts_of(objects, chosen)
    documents = _documents(listed, policy.policy)
    return Plugin(
        base=session.head,
        tree=session.git("rev-parse", "--verify", f"{session.head}^{{tree}}"),
        policy=policy,
        paths=tuple(entry.path for entry in listed),
        texts={path: text for path, text in texts.items() if path in speaking},
        dirty=dirty_digests(session.git, session.root),
        documents=documents,
        guards=tuple(_guards(policy.policy, chosen, texts)),
        findings=tuple(_absent(policy.policy, documents)),
    )


def _documents(listed: Iterable[Entry], policy: Policy) -> dict[str, str]:
    """Map what must be read before analysis, and every earlier lesson, to its blob id (full)."""
    wanted = policy.paths.must_read
    return {one.path: one.id for one in listed if one.path in wanted or one.path.endswith(LESSON_SUFFIX)}


def _absent(policy: Policy, documents: Mapping[str, str]) -> Iterable[Finding]:
    for path in policy.paths.must_read:
        if path not in documents:
            yield Finding(
                "document-absent", path, f"{path} must be read before analysis and does not exist", "", "note"
            )


def _guards(policy: Policy, chosen: Iterable[Entry], texts: Mapping[str, str]) -> Iterable[Mapping[str, Json]]:
    for entry in chosen:
        for value in guarded_in(policy.guards, entry.path, texts[entry.path]):
            place = {"path": value.path, "line": value.line, "blob": entry.id}
            yield {"guard": value.guard, "kind": value.kind, "value": value.value, **place}
