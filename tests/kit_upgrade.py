"""A frozen upgrade for tests, written straight into the ledger: what `git afd freeze` and the gates would record.

Three small repositories and one freeze; the phases up to a name can be PASS. Nothing here is an interface of
the product: a test of freeze, inventory, diff or a gate runs the command itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files as package_files

from kit import Kit, Repo
from kit_native import Control

from git_afd.adapters.configuration import point, read_policy
from git_afd.adapters.content import digests
from git_afd.adapters.dirty import dirty_digests
from git_afd.adapters.session import Session, open_session
from git_afd.core.command import PLACEHOLDERS
from git_afd.core.evidence.host_snapshot import AFTER_FACTS, BEFORE_FACTS, Port, Snapshot
from git_afd.core.evidence.host_verdict import AFTER, BEFORE
from git_afd.core.evidence.raw_run import FILE, Ended, Identity, RawRun
from git_afd.core.names import REVISION_KEYS, UPSTREAMS, revision_key
from git_afd.core.outcome import Json
from git_afd.core.phases import BY_NAME, GATES, PHASES
from git_afd.core.policy import Gate
from git_afd.core.records import Draft, Record, drafted
from git_afd.core.state import Upgrade

UPGRADE = "U-2026-08-01-v2"
BRANCH = "upgrade/v2"
CURRENT, TARGET = "v1.0", "v2.0"
IMPACTS: Mapping[str, str] = {"I-1": "MECHANICAL", "I-2": "BEHAVIORAL"}
PRODUCTION = "afd_plugin/patch.py"
TEST = "tests/test_patch.py"

VLLM: Mapping[str, Mapping[str, str]] = {
    "v1.0": {"vllm/engine.py": "class Engine:\n    def step(self, batch):\n        return batch\n"},
    "v2.0": {"vllm/engine.py": "class Engine:\n    def step(self, batch, *, dbo=False):\n        return batch\n"},
}
ASCEND: Mapping[str, Mapping[str, str]] = {
    "v1.0": {"vllm_ascend/worker.py": "class Worker:\n    def load(self):\n        return 1\n"},
    "v2.0": {"vllm_ascend/worker.py": "class Worker:\n    def load_model(self):\n        return 1\n"},
}
Upstreams = tuple[Mapping[str, Mapping[str, str]], Mapping[str, Mapping[str, str]]]

PLUGIN: Mapping[str, str] = {
    "AGENTS.md": "Rules of the house.\n",
    "README.md": "A plugin.\n",
    "afd_plugin/__init__.py": "",
    PRODUCTION: "def step(self, batch):\n    return batch\n",
    "afd_plugin/other.py": "OTHER = 1\n",
    TEST: "def test_step():\n    assert True\n",
    "docs/guide.md": "How to run it.\n",
}


SMI = """\
+-----+
| npu-smi 25.5.2 Version: 25.5.2 |
| NPU Name | Health | Power(W) Temp(C) Hugepages-Usage(page) |
| Chip | Bus-Id | AICore(%) Memory-Usage(MB) HBM-Usage(MB) |
| 0 910B2 | OK | 91.5 35 0 / 0 |
| 0 | 0000:C1:00.0 | 0 0 / 0 3397 / 65536 |
| NPU Chip | Process id | Process name | Process memory(MB) |
| No running processes found in NPU 0 |
+-----+
"""
"""What `npu-smi info` prints on a host with one device."""


@dataclass(frozen=True)
class FrozenUpgrade:
    """A plugin on its upgrade branch, both upstreams, and the upgrade's id."""

    plugin: Repo
    vllm: Repo
    ascend: Repo
    id: str

    @property
    def session(self) -> Session:
        """A fresh session on the plugin."""
        return open_session(self.plugin.path)

    @property
    def upgrade(self) -> Upgrade:
        """The upgrade as the ledger says now."""
        return self.session.ledger.read().state.upgrades[self.id]

    def record(self, *drafts: tuple[str, Mapping[str, Json]]) -> tuple[Record, ...]:
        """Append records (kind, body) on HEAD, in one transaction."""
        session = self.session
        made = [Draft(kind, self.id, body, session.head or "") for kind, body in drafts]
        return session.ledger.transact(lambda _: made)[1]

    def pass_up_to(self, name: str) -> None:
        """Make every phase up to `name` PASS, for the content that HEAD holds now; phase 4 by keeping every impact."""
        have = self.upgrade.recorded
        for phase in PHASES[: BY_NAME[name].number + 1]:
            if have.get(phase.name) != "PASS" or phase.binding in ("content", "whole"):
                self.decide(phase.name, "PASS")

    def decide(self, name: str, status: str, *, blocker: str = "") -> None:
        """Record one phase with `status`, and before it what such a phase rests on."""
        basis = self._basis(name, status)
        evidence = [drafted(place) for place in range(len(basis))]
        self.record(*basis, ("phase", phase_body(name, status, evidence, blocker)))

    def _basis(self, name: str, status: str) -> Sequence[tuple[str, Mapping[str, Json]]]:
        if name == "INVENTORY_AFD_CONTRACTS":
            return (("inventory", {"how": "by hand", "artifact": "", "items": {"C-1": "patch"}}),)
        if name == "DIFF_BOTH_UPSTREAMS":
            return (("diff", {"how": "by hand", "artifact": "", "items": dict(IMPACTS)}),)
        if name == "ARCHITECTURE_GATE":
            decide = "stop" if status == "STOPPED" else "continue"
            return (("decision", {"decide": decide, "why": "it maps one to one", "conditions": []}),)
        if name == "IMPLEMENT_ATOMIC_ADAPTATIONS":
            return (("root-cause", kept(f"RC-{len(self.upgrade.root_causes) + 1}", *self.upgrade.undisposed)),)
        gate = next((gate for gate, phase in GATES.items() if phase.name == name), None)
        return self._run(gate, status) if gate else ()

    def _served(self, rule: Gate) -> Mapping[str, bytes]:
        """Return the raw files of a native control that went well."""
        revisions = self.upgrade.freeze.revisions
        wanted = {name: revisions[revision_key(name, "target")].commit for name in UPSTREAMS}
        return {name: data for cell in rule.cells for name, data in Control().files(cell, wanted).items()}

    def _run(self, gate: str, status: str) -> Sequence[tuple[str, Mapping[str, Json]]]:
        session = self.session
        freeze = self.upgrade.freeze
        head = session.head or ""
        policy = session.policy(self.upgrade).policy
        content, whole = digests(session.git, head, policy)
        tree = session.git("rev-parse", f"{head}^{{tree}}")
        identity = Identity(self.id, head, tree, content, whole, freeze.commits_digest, freeze.policy_digest)
        rule = policy.gates.get(gate, Gate())
        filled = dict.fromkeys(PLACEHOLDERS, "x")
        ended = tuple(Ended(one.name, one.filled(filled)[0], exit_code=0) for one in rule.commands)
        seen = Snapshot(0.0, tuple(Port(number, "free") for number in policy.host.ports))
        ended += tuple(Control().end(cell) for cell in rule.cells)
        served = {name: _keep(session, data) for name, data in self._served(rule).items()}
        host = dict.fromkeys((BEFORE_FACTS, AFTER_FACTS), _keep(session, seen.as_bytes()))
        host |= dict.fromkeys((BEFORE, AFTER), _keep(session, SMI.encode())) if rule.npu else {}
        kept = _keep(session, RawRun(gate, identity, "x", str(self.plugin.path), ended, {**host, **served}).as_bytes())
        number = len(self.upgrade.runs) + 1
        common = {"run": f"run-{number}", "gate": gate, "commit": head, "artifacts": {**host, **served, FILE: kept}}
        return (("run", {**common, "op": "finished", "status": status, "bound": identity.bound()}),)


def _keep(session: Session, data: bytes) -> str:
    """Put a small artifact where `status` looks for it, without git: hundreds of tests do."""
    digest = sha256(data).hexdigest()
    path = session.artifacts.path(digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return digest


def kept(name: str, *items: str) -> Mapping[str, Json]:
    """Return the body of a root cause that keeps `items` as they are: nothing to commit."""
    plan = {"title": "nothing to do", "kind": "adaptation", "class": "MECHANICAL", "invariant": "unchanged"}
    return {"root_cause": name, "op": "add", **plan, "disposes": dict.fromkeys(items, "kept")}


def phase_body(name: str, status: str, evidence: Sequence[str] = (), blocker: str = "") -> Mapping[str, Json]:
    """Return a phase record's five fields."""
    return {
        "phase": name,
        "status": status,
        "evidence": list(evidence),
        "blocker": blocker,
        "next_allowed_action": PHASES[min(BY_NAME[name].number + 1, len(PHASES) - 1)].command,
    }


def frozen(
    kit: Kit,
    *,
    up_to: str = "FREEZE_IDENTITY",
    files: Mapping[str, str | bytes] | None = None,
    dirty: Mapping[str, str | bytes] | None = None,
    policy: str = "",
    primary: str = "",
    upgrade: str = UPGRADE,
    more: Mapping[str, Json] | None = None,
    upstreams: Upstreams = (VLLM, ASCEND),
) -> FrozenUpgrade:
    """Make the three repositories and a freeze on branch BRANCH; phases up to `up_to` are PASS.

    `files` are added to the plugin's base commit; `dirty` is written after it and recorded as dirty at the
    freeze; `more` are other fields of its body; `policy` is the TOML to freeze (default: the built-in profile);
    `primary` defaults to the committer; `upstreams` are the trees of vLLM and vLLM-Ascend by tag.
    """
    vllm, ascend = kit.upstream("vllm", upstreams[0]), kit.upstream("vllm-ascend", upstreams[1])
    plugin = kit.repo("plugin")
    plugin.commit("base", {**PLUGIN, **(files or {})})
    plugin(["git", "switch", "-q", "-c", BRANCH])
    for name, text in (dirty or {}).items():
        plugin.write(name, text)
    case = FrozenUpgrade(plugin, vllm, ascend, upgrade)
    session = case.session
    text = policy or (package_files("git_afd") / "profiles" / "npu.toml").read_text(encoding="utf-8")
    body = {
        "branch": BRANCH,
        "base": plugin.head,
        "base_tree": plugin("git rev-parse HEAD^{tree}"),
        "primary": primary or session.actor,
        "revisions": _revisions(vllm, ascend),
        "policy": {"digest": read_policy(text, "test").digest, "text": text},
        "plugin": {"path": str(plugin.path), "dirty": _dirty(plugin, dirty or {})},
        "documents": {"AGENTS.md": plugin("git rev-parse HEAD:AGENTS.md")},
        "sources": {"vllm": {"path": str(vllm.path)}, "vllm-ascend": {"path": str(ascend.path)}},
        "worktrees": {"vllm": str(vllm.path), "vllm-ascend": str(ascend.path)},
        "pair": {"target": {"verdict": "supported"}},
        **(more or {}),
    }
    case.record(("freeze", body), ("phase", phase_body("FREEZE_IDENTITY", "PASS")))
    point(session.git, BRANCH, upgrade)
    case.pass_up_to(up_to)
    return case


def _revisions(vllm: Repo, ascend: Repo) -> Mapping[str, Json]:
    found: dict[str, Json] = {}
    for key in REVISION_KEYS:
        upstream, side = key.rsplit(".", 1)
        ref = CURRENT if side == "current" else TARGET
        repo = dict(zip(UPSTREAMS, (vllm, ascend), strict=True))[upstream]
        names = (f"refs/tags/{ref}", f"{ref}^{{commit}}", f"{ref}^{{tree}}")
        ids = repo(["git", "rev-parse", *names]).splitlines()
        found[key] = {"ref": ref, "object": ids[0], "commit": ids[1], "tree": ids[2]}
    return found


def _dirty(plugin: Repo, dirty: Mapping[str, str | bytes]) -> dict[str, str]:
    return {
        name: digest
        for name, digest in dirty_digests(open_session(plugin.path).git, plugin.path).items()
        if name in dirty
    }
