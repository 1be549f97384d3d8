"""What the records amount to. Values only: :mod:`git_afd.core.fold` makes them, nothing changes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.finding import Finding
from git_afd.core.names import REVISION_KEYS
from git_afd.core.outcome import Json
from git_afd.core.records import digest

ROOT_CAUSE_KINDS: Final = ("adaptation", "failure-fix", "docs", "lesson")
ADAPTING: Final = ("adaptation", "failure-fix")
"""The kinds of root cause that change production or tests."""

CLASSES: Final = ("MECHANICAL", "BEHAVIORAL", "ARCHITECTURAL")
ANNOTATIONS: Final = ("invariant", "state_owner", "lifetime", "removal")
"""What a person may say of a contract, since sources cannot."""

FATES: Final = ("kept", "rebased", "replaced", "removed", "stopped")
FATES_WITHOUT_CHANGE: Final = ("kept", "stopped")
"""The fates that need no commit: the item stays as it is."""

ENVIRONMENT: Final = "environment"
NATIVE: Final = "native-runtime"
UNKNOWN: Final = "unknown"
FAILURE_CLASSES: Final = (ENVIRONMENT, NATIVE, "afd", "connector-topology", "accuracy", UNKNOWN)
"""What a failure of a gate can be (workflow, Phases 5 to 8)."""

REPEATABLE: Final = (ENVIRONMENT, NATIVE)
"""Classes that a run on the same content may answer: what was mended lies outside the plugin."""

DAMAGE_APPROVAL: Final = "damage"
"""What an approval is for that sets one piece of the ledger's damage aside; its subject is the damage's id."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A side of an upstream: the ref as given, the object it named, the commit and tree (full ids)."""

    ref: str
    object: str
    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class Freeze:
    """The frozen identity of an upgrade. `body` is the whole record; the rest is what decisions need.

    `revisions` has the keys of names.REVISION_KEYS; `base` is the plugin's commit (full id) at the freeze;
    `dirty` maps the plugin's dirty paths at that moment to a digest of their content; `policy_text` is the
    frozen policy as TOML; `worktrees` maps an upstream to the directory of its target.
    """

    record: str
    branch: str
    base: str
    base_tree: str
    primary: str
    revisions: Mapping[str, Revision]
    policy_digest: str
    policy_text: str
    dirty: Mapping[str, str]
    worktrees: Mapping[str, str]
    body: Mapping[str, Json]

    @property
    def commits_digest(self) -> str:
        """A digest of the four commits: part of what every gate's evidence is bound to."""
        return digest({key: self.revisions[key].commit for key in REVISION_KEYS})


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """The newest record at a phase's boundary: exactly the workflow's five fields, and its own id."""

    record: str
    phase: str
    status: str
    evidence: tuple[str, ...]
    blocker: str
    next_allowed_action: str


@dataclass(frozen=True, slots=True)
class RootCause:
    """One root cause and its plan. `files` are literal repository-relative paths; `disposes` maps items to fates.

    `record` is the id of the record with the plan (the newest amendment): what is written about a root cause
    names it as ``plan``, so that it never counts for somebody else's root cause of the same number. `status` is
    ``open``, ``committed`` (then `commit` is a full id), ``settled`` (it plans no file and keeps or stops every
    item it names: nothing to commit) or ``withdrawn`` (then `why` says why).
    """

    name: str
    title: str
    kind: str
    upstream: tuple[str, ...] = ()
    class_: str = "MECHANICAL"
    invariant: str = ""
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    removal: str = ""
    layer: int = 0
    out_of_order: str = ""
    untested: str = ""
    failure: str = ""
    disposes: Mapping[str, str] = field(default_factory=dict)
    status: str = "open"
    commit: str = ""
    why: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class Classified:
    """Somebody's decision on an impact: the class, what the tool had proposed (empty: nothing), who, why, the record.

    `bulk` says that one reason was given for many impacts at once.
    """

    class_: str
    proposed: str
    by: str
    why: str
    record: str
    bulk: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """What phase 1 or 2 recorded: how (``by hand`` or a tool's name), the artifact with its rows, the items.

    For an inventory, `items` maps contract ids to their kind; for a diff, impact ids to their class. `seq` is
    the record's place: what rests on it must come after it. An automatic diff only proposes: `proposed` maps every
    impact that needs a decision to the class proposed (empty: none could be), `decided` holds the decisions.
    """

    record: str
    how: str
    artifact: str
    items: Mapping[str, str]
    seq: int = 0
    proposed: Mapping[str, str] = field(default_factory=dict)
    decided: Mapping[str, Classified] = field(default_factory=dict)

    @property
    def unclassified(self) -> tuple[str, ...]:
        """Impacts whose class was proposed and that nobody has decided on."""
        return tuple(item for item in self.proposed if item not in self.decided)


@dataclass(frozen=True, slots=True)
class Decision:
    """The primary's decision at the architecture gate, with the seven answers it rests on.

    `report` names the artifacts of the stop report (``markdown``, ``json``), empty unless it decided to stop.
    """

    record: str
    decide: str
    why: str
    by: str
    conditions: tuple[Mapping[str, Json], ...]
    seq: int = 0
    report: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a gate. `status` is ``started`` until a finished record exists, then the verdict.

    `bound` holds the digests it vouches for (``content`` or ``whole``, ``commits``, ``policy``); `artifacts`
    maps file names to SHA-256 digests of the raw evidence. `cell` is ``native`` for accuracy's native control.
    """

    record: str
    name: str
    gate: str
    status: str
    commit: str
    bound: Mapping[str, str] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    origin: str = "here"
    simulated: bool = False
    diagnostic: bool = False
    only: str = ""
    failure: str = ""
    seq: int = 0
    """A diagnostic of one command, or the narrow reproduction of a failure, says so; `seq` is its record's place."""
    cell: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A gate that failed, by the run that did. `class_` is empty until somebody says `why`; `closed_by` names a run.

    `commands` are the policy's names of what failed, `failing` the ids of the tests, as far as they are known.
    `classified` is the place of the newest word on its class, `architecture` that of the newest word that it is an
    architecture finding (0: there is none): the architecture gate is decided anew after it.
    """

    name: str
    gate: str
    run: str
    record: str
    class_: str = ""
    why: str = ""
    by: str = ""
    closed_by: str = ""
    commands: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    classified: int = 0
    architecture: int = 0

    @property
    def undecided(self) -> bool:
        """Whether nobody could say yet what kind of failure it is: *unknown* decides nothing."""
        return self.class_ in ("", UNKNOWN)

    @property
    def open(self) -> bool:
        """Whether no passed run has answered it yet."""
        return not self.closed_by


@dataclass(frozen=True, slots=True)
class Approval:
    """A human decision: what for, its subject (a pair, a path, a commit), who, why. Shown for ever."""

    record: str
    what: str
    subject: str
    name: str
    reason: str
    at: str


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that `git afd commit` made: which root cause, full commit id, parent and tree."""

    record: str
    root_cause: str
    commit: str
    parent: str
    tree: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """One run of the workflow on one branch."""

    id: str
    freeze: Freeze
    phases: Mapping[str, PhaseRecord] = field(default_factory=dict)
    root_causes: Mapping[str, RootCause] = field(default_factory=dict)
    commits: tuple[Committed, ...] = ()
    runs: Mapping[str, Run] = field(default_factory=dict)
    approvals: tuple[Approval, ...] = ()
    inventory: Analysis | None = None
    diff: Analysis | None = None
    decision: Decision | None = None
    closed: str = ""
    annotations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What people said of contracts, since sources cannot: contract id to the fields of `ANNOTATIONS`."""
    failures: Mapping[str, Failure] = field(default_factory=dict)

    @property
    def open_failures(self) -> tuple[Failure, ...]:
        """Failures that no passed run has answered, in the order they were opened."""
        return tuple(failure for failure in self.failures.values() if failure.open)

    @property
    def architecture_findings(self) -> tuple[Failure, ...]:
        """Failures that somebody called an architecture finding: a decision to go on answers each of them."""
        return tuple(failure for failure in self.failures.values() if failure.architecture)

    @property
    def reopened(self) -> int:
        """The place of the newest architecture finding: an older decision does not answer it; 0 when there is none."""
        return max((failure.architecture for failure in self.architecture_findings), default=0)

    @property
    def open_root_causes(self) -> tuple[RootCause, ...]:
        """Root causes that still need a commit, in the order of their numbers."""
        return tuple(cause for cause in self.root_causes.values() if cause.status == "open")

    @property
    def undisposed(self) -> tuple[str, ...]:
        """Impacts that no committed or settled root cause disposes of."""
        causes = (cause for cause in self.root_causes.values() if cause.status in ("committed", "settled"))
        done = {item for cause in causes for item in cause.disposes}
        return tuple(item for item in (self.diff.items if self.diff else {}) if item not in done)

    @property
    def recorded(self) -> dict[str, str]:
        """The recorded status of each phase that has one."""
        return {name: record.status for name, record in self.phases.items()}


@dataclass(frozen=True, slots=True)
class State:
    """Everything the ledger says: the clock, the heads of the chain, the upgrades, what was illegal."""

    seq: int = 0
    heads: tuple[str, ...] = ()
    upgrades: Mapping[str, Upgrade] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    count: int = 0

    @property
    def set_aside(self) -> frozenset[str]:
        """Ids of the ledger's damage (records.Damage.id) that somebody has approved to go on without."""
        said = (item for up in self.upgrades.values() for item in up.approvals)
        return frozenset(item.subject for item in said if item.what == DAMAGE_APPROVAL)

    def on_branch(self, branch: str) -> tuple[Upgrade, ...]:
        """Upgrades frozen on `branch` and not closed, oldest first."""
        return tuple(up for up in self.upgrades.values() if up.freeze.branch == branch and not up.closed)


EMPTY: Final = State()
