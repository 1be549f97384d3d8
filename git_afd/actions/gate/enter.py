"""May this gate be entered, and on exactly which code: everything that is read before anything starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from git_afd.actions.gate.again import insist_earlier
from git_afd.actions.gate.judge import raw_of
from git_afd.actions.gate.order import Order
from git_afd.actions.gate.unannounced import unannounced
from git_afd.actions.present import rows_of
from git_afd.adapters.configuration import PolicySource
from git_afd.adapters.content import digests
from git_afd.adapters.git import Git
from git_afd.adapters.ledger import Reading
from git_afd.adapters.session import Session
from git_afd.adapters.tidiness import links_out, untidy
from git_afd.core.command import Command
from git_afd.core.entering import refuse_entry
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.raw_run import Identity
from git_afd.core.failing import failure_of, refuse_parity
from git_afd.core.few import few
from git_afd.core.finding import Finding
from git_afd.core.gating import Untidy, disturbing, output_notes
from git_afd.core.names import UPSTREAMS, revision_key
from git_afd.core.native_cell import Cell
from git_afd.core.phases import GATES
from git_afd.core.policy import Gate, Policy
from git_afd.core.recovering import insist_classified, reproduction, runs_again
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked, EnvironmentFault, Refused, UsageFault


@dataclass(frozen=True, slots=True)
class Entry:
    """A gate that may be entered: the upgrade, the frozen policy, what is vouched for, where the target trees are."""

    up: Upgrade
    source: PolicySource
    gate: Gate
    identity: Identity
    targets: Mapping[str, Path]
    notes: tuple[Finding, ...] = ()

    def chosen(self, order: Order) -> tuple[tuple[Command, ...], tuple[Cell, ...]]:
        """Return what to run: all, the one that was asked for, or what a failure failed on, narrowed to it.

        Raises UsageFault when there is no such command or cell, Refused when there is no such failure of the gate.
        """
        gate, only = self.gate, order.only
        if order.failure:
            failure = failure_of(self.up, order.failure, order.gate)
            cells = tuple(cell for cell in gate.cells if cell.name in failure.commands or not failure.commands)
            return reproduction(failure, gate.commands), cells
        chosen = tuple(command for command in gate.commands if only in ("", command.name))
        cells = tuple(cell for cell in gate.cells if only in ("", cell.name))
        if only and not (chosen or cells or self.checks(order)):
            names = (*(one.name for one in gate.commands), *(one.name for one in gate.cells), *gate.checks)
            known = ", ".join(names) or "none"
            raise UsageFault(
                f"the gate has no command {only!r}; it has {known}", "name one of these with --only, or leave it out"
            )
        return chosen, cells

    def checks(self, order: Order) -> tuple[str, ...]:
        """Return the checks to make besides commands: all, the one that was asked for, or those a failure failed on."""
        if order.failure:
            failed = failure_of(self.up, order.failure, order.gate).commands
            return tuple(name for name in self.gate.checks if name in failed or not failed)
        return tuple(name for name in self.gate.checks if order.only in ("", name))


def upgrade_here(session: Session, reading: Reading, order: Order) -> Upgrade:
    """Return the upgrade of this branch.

    On the host that only makes a bundle a clone has no pointer: there it is the one open upgrade frozen on the branch.
    """
    try:
        return session.upgrade(reading)
    except Refused:
        found = reading.state.on_branch(session.branch or "")
        if order.bundle is None or len(found) != 1:
            raise
        return found[0]


def enter(session: Session, up: Upgrade, order: Order) -> Entry:
    """Return the entry of a gate. Raises Refused by the order of phases, Blocked by what stands in the way.

    A bundle is made where the earlier gates may not have been judged yet: there the order is not asked; it is
    when the bundle is read.
    """
    if order.bundle is None:
        if not order.cell:  # a control without the plugin is no AFD test
            refuse_parity(up, order.gate)
        again = bool(order.failure) or runs_again(up, order.gate, order.only)
        refuse_entry(up, rows_of(session, up), GATES[order.gate], again=again)
        if not again:
            insist_earlier(session, up, GATES[order.gate])
    head = session.head
    if head is None:
        raise Refused("the branch has no commit yet", "commit something first")
    source = session.policy(up)
    _refuse_lowering(order, source)
    content, whole = digests(session.git, head, source.policy)
    tree = session.git("rev-parse", "--verify", f"{head}^{{tree}}")
    if order.counts and not (order.bundle or order.source):  # what a bundle holds is known when it has been read
        insist_classified(up, order.gate, content)
    found = untidy(session.git)
    _refuse(
        _disturbing(links_out(session.git), source.policy),
        f"gate {order.gate} cannot vouch for what a link out of the tree stands for",
        "commit the file itself in its place",
    )
    if not order.worktree:
        _refuse(
            _disturbing(found, source.policy),
            f"the work tree is not the commit that gate {order.gate} would vouch for",
            f"commit or move them, or git afd gate {order.gate} --worktree",
        )
    return Entry(
        up=up,
        source=source,
        gate=source.policy.gates.get(order.gate, Gate()).of_cell(order.cell),
        identity=Identity(up.id, head, tree, content, whole, up.freeze.commits_digest, up.freeze.policy_digest),
        targets=_targets(up, order),
        notes=(*output_notes(found, source.policy), *unannounced(session, up, source.policy)),
    )


def disturbed(root: Git, entry: Entry) -> tuple[str, ...]:
    """Say what is not as the entry found it: HEAD, the work tree, the target trees. Asked again after a run."""
    found = _disturbing(untidy(root), entry.source.policy)
    head = root.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").text
    said = [f"during the run the work tree came to differ from its commit: {few(found)}"] if found else []
    if head != entry.identity.commit:
        said.append(f"HEAD moved during the run from {entry.identity.commit[:12]} to {head[:12]}")
    faults = (_tree_fault(name, path, entry.up) for name, path in entry.targets.items())
    return (*said, *(fault for fault in faults if fault))


def interpreter(session: Session, up: Upgrade, order: Order) -> str:
    """Return the interpreter that ``{python}`` stands for. Raises EnvironmentFault when there is none.

    Without ``--python`` it is that of the newest gate which looked at the runtime and passed here, so that what
    `next` says can be typed as it stands; else the one on PATH.
    """
    if order.python:
        found = shutil.which(order.python)
        if found is None:
            raise EnvironmentFault(f"{order.python} is no program", "give --python the target runtime's interpreter")
        return str(Path(found).absolute())
    found = shutil.which("python") or shutil.which("python3") or ""
    name, known = _proven(session, up)
    if known and known != found:
        order.tell(f"{order.gate}: {known} is the target runtime's interpreter, as in {name}; --python names another")
    if not (known or found):
        raise EnvironmentFault("there is no python on PATH", "give --python the target runtime's interpreter")
    return known or found


def _proven(session: Session, up: Upgrade) -> tuple[str, str]:
    """Return the newest passed static or native run that took place here, and its interpreter; empty when none."""
    for run in reversed(tuple(up.runs.values())):
        if run.gate in ("static", "native") and run.status == "PASS" and run.origin == "here" and not run.diagnostic:
            with suppress(EvidenceFault):
                python = raw_of(session, run).python
                return (run.name, python) if shutil.which(python) else ("", "")
    return "", ""


def _refuse_lowering(order: Order, source: PolicySource) -> None:
    decides = order.gate == "accuracy" and order.counts
    names = source.policy.accuracy.lowering(os.environ) if decides else ()
    if names:
        raise Refused(
            f"{', '.join(names)} would lower what accuracy measures or demands",
            f"unset {' '.join(names)}",
            code="lowered",
        )


def _refuse(found: list[str], wrong: str, fix: str) -> None:
    if found:
        raise Blocked(f"{wrong}: {few(found)}", fix, code="dirty")


def _disturbing(found: tuple[Untidy, ...], policy: Policy) -> list[str]:
    return [f"{item.path} ({item.how})" for item in disturbing(found, policy)]


def _targets(up: Upgrade, order: Order) -> Mapping[str, Path]:
    """Return where the target trees stand, proven clean at the frozen commits. Raises Blocked naming what is not."""
    named = {**{name: Path(path) for name, path in up.freeze.worktrees.items()}, **order.targets}
    for name in UPSTREAMS:
        fault = _tree_fault(name, named.get(name), up)
        if fault:
            raise Blocked(
                fault, f"give it back its commit, or name another tree with --target {name}=DIR", code="target"
            )
    return {name: named[name] for name in UPSTREAMS}


def _tree_fault(name: str, path: Path | None, up: Upgrade) -> str:
    wanted = up.freeze.revisions[revision_key(name, "target")].commit
    if path is None or not path.is_dir():
        return f"the target tree of {name} is not at {path}"
    here = Git(path)
    head = here.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").text
    if head != wanted:
        return f"the target tree {path} of {name} stands at {head[:12] or 'no commit'}, not at {wanted[:12]}"
    held = [item.path for item in untidy(here) if item.how != "ignored"]
    return f"the target tree {path} of {name} is not clean: {few(held)}" if held else ""
