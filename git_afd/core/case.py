"""An upgrade while its records are folded, and the freeze that it begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from git_afd.core import shape
from git_afd.core.names import REVISION_KEYS, is_full_id
from git_afd.core.outcome import Json
from git_afd.core.records import Record
from git_afd.core.state import (
    Analysis,
    Approval,
    Committed,
    Decision,
    Failure,
    Freeze,
    PhaseRecord,
    Revision,
    RootCause,
    Run,
    Upgrade,
)


class Illegal(ValueError):
    """The state does not allow this record."""


@dataclass(slots=True)
class Case:
    """An upgrade while it is being folded: dictionaries that grow, so that ten thousand records stay linear."""

    id: str
    freeze: Freeze
    phases: dict[str, PhaseRecord] = field(default_factory=dict)
    root_causes: dict[str, RootCause] = field(default_factory=dict)
    commits: list[Committed] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    approvals: list[Approval] = field(default_factory=list)
    inventory: Analysis | None = None
    diff: Analysis | None = None
    decision: Decision | None = None
    closed: str = ""
    annotations: dict[str, Mapping[str, str]] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)

    @classmethod
    def of(cls, up: Upgrade) -> Case:
        """Open a finished state for more records; `up` itself is not touched."""
        return cls(
            up.id,
            up.freeze,
            dict(up.phases),
            dict(up.root_causes),
            list(up.commits),
            dict(up.runs),
            list(up.approvals),
            up.inventory,
            up.diff,
            up.decision,
            up.closed,
            dict(up.annotations),
            dict(up.failures),
        )

    def upgrade(self) -> Upgrade:
        """Return what the case amounts to."""
        return Upgrade(
            self.id,
            self.freeze,
            self.phases,
            self.root_causes,
            tuple(self.commits),
            self.runs,
            tuple(self.approvals),
            self.inventory,
            self.diff,
            self.decision,
            self.closed,
            self.annotations,
            self.failures,
        )


def frozen(record: Record) -> Freeze:
    """Return the frozen identity that a freeze record states."""
    body = record.body
    revisions = {key: _revision(shape.table(shape.table(body, "revisions"), key), key) for key in REVISION_KEYS}
    policy, plugin = shape.table(body, "policy"), shape.table(body, "plugin")
    return Freeze(
        record=record.id,
        branch=shape.said(body, "branch"),
        base=shape.full_id(body, "base"),
        base_tree=shape.text(body, "base_tree"),
        primary=shape.said(body, "primary"),
        revisions=revisions,
        policy_digest=shape.text(policy, "digest"),
        policy_text=shape.text(policy, "text"),
        dirty=shape.text_table(plugin, "dirty"),
        worktrees=shape.text_table(body, "worktrees"),
        body=body,
    )


def _revision(body: Mapping[str, Json], key: str) -> Revision:
    found = Revision(*(shape.text(body, name, "") for name in ("ref", "object", "commit", "tree")))
    if not is_full_id(found.commit):
        raise shape.ShapeFault(f"revisions.{key}: a full commit id was expected")
    return found
