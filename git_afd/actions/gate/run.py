"""``git afd gate static|native|basic|accuracy``: the whole way from the order to the recorded verdict."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from git_afd.actions.gate import record
from git_afd.actions.gate.alone import Alone, alone
from git_afd.actions.gate.bundle import bring_in, refuse_target, take_out
from git_afd.actions.gate.carry_out import Bench, carry_out
from git_afd.actions.gate.enter import Entry, disturbed, enter, interpreter, upgrade_here
from git_afd.actions.gate.host import look, texts_after
from git_afd.actions.gate.judge import judge_raw
from git_afd.actions.gate.native import serve_cells
from git_afd.actions.gate.order import Order
from git_afd.actions.gate.patches import patches_at
from git_afd.actions.gate.preflight import lacking
from git_afd.actions.gate.retry import refuse_retry
from git_afd.actions.gate.runtime import look_at_runtime, moved
from git_afd.actions.gate.say import blocked, judged, would_run
from git_afd.actions.gate.tree import tree_of
from git_afd.actions.kept import drop_copies
from git_afd.actions.settle import settle_implementation
from git_afd.adapters.git import Git
from git_afd.adapters.host import HostFacts
from git_afd.adapters.session import Session
from git_afd.core.evidence.host_verdict import is_simulated
from git_afd.core.evidence.raw_run import RawRun
from git_afd.core.gate_environment import shown_environment
from git_afd.core.native_cell import NO_CELL
from git_afd.core.outcome import Outcome
from git_afd.errors import Blocked

_TICK_S: Final = 0.2


def gate(session: Session, order: Order) -> Outcome:
    """Run a gate and record its verdict; with ``dry_run`` say what would be run, with a bundle write or read it."""
    up = upgrade_here(session, session.reading(strict=True), order)
    refuse_target(order)
    if not (order.dry_run or order.bundle):
        up = settle_implementation(session, up)
    entry = enter(session, up, order)
    if order.source:
        return bring_in(session, entry, order)
    python = interpreter(session, up, order)
    entry.chosen(order)  # an unknown one is a fault before anything else
    if order.dry_run:
        facts = look(entry.source.policy, python, session.root)
        return would_run(entry, order, python, _lacking(entry, order, facts, python, session.root))
    with alone(session, entry, order) as held:
        return _at_work(session, entry, order, python, held)


def _at_work(session: Session, entry: Entry, order: Order, python: str, held: Alone) -> Outcome:
    """Run the gate, now that no other one runs here."""
    up = entry.up
    facts = look(entry.source.policy, python, session.root)
    raw = _about_to_run(entry, order, python, session.root, facts)
    refuse_retry(session, up, raw)
    missing = _lacking(entry, order, facts, python, session.root)
    held.stops.insist()
    if missing and order.bundle:
        raise Blocked(missing, f"git afd gate {order.gate} -h", code="gate-blocked")
    if missing:
        return blocked(entry, order, missing, recorded=record.block(session, up, order, entry.identity.commit, missing))
    with tree_of(session, order) as root:
        raw = replace(raw, root=str(root))
        held.stops.insist()  # nothing has been recorded yet
        name = "" if order.bundle else record.begin(session, raw)
        held.lock.name(name or f"bundle-{secrets.token_hex(4)}")
        raw = _run(session, entry, order, raw, facts, held)
    if order.bundle:
        return take_out(session, entry, order, raw)
    verdict = judge_raw(session, up, raw, but=name)
    up, name = record.finish(session, name, raw, verdict, session.artifacts.put_bytes(raw.as_bytes()))
    drop_copies(session, up, up.runs[name])
    return judged(session, up, name, raw, verdict, entry.notes)


def _about_to_run(entry: Entry, order: Order, python: str, root: Path, facts: HostFacts) -> RawRun:
    return RawRun(
        gate=order.gate,
        identity=entry.identity,
        python=python,
        root=str(root),
        commands=(),
        simulated=entry.gate.npu and is_simulated(facts.npu_text),
        diagnostic=not order.counts,
        cell=order.cell,
        host=facts.as_json(),
        environment=shown_environment(os.environ, entry.source.policy.accuracy.steers),
        trees={name: str(path) for name, path in entry.targets.items()},
        only=order.only,
        failure=order.failure,
        narrowed=entry.up.failures[order.failure].failing if order.failure else (),
    )


def _run(session: Session, entry: Entry, order: Order, raw: RawRun, facts: HostFacts, held: Alone) -> RawRun:
    """Carry out the commands and look at everything again afterwards; return the run's raw facts."""
    root = Path(raw.root)
    folder = session.ledger.home / "runs" / entry.up.id / held.lock.run
    targets = {target: str(path) for target, path in entry.targets.items()}
    values = {"python": raw.python, "out": str(folder / "out"), "plugin": raw.root, "base": entry.up.freeze.base}
    task = entry.source.policy.accuracy.task
    bench = Bench(order.gate, folder, root, {**values, **targets}, session.artifacts, task, held)
    checks, rule = entry.checks(order), entry.source.policy.runtime
    patches = partial(patches_at, session, entry.up, raw.identity.commit, raw.trees)
    looked = look_at_runtime(bench, checks, rule, order, patches)
    commands, cells = entry.chosen(order)
    kept = carry_out(bench, () if looked.interrupted else commands, order)
    kept.interrupted = kept.interrupted or looked.interrupted
    serve_cells(bench, cells, order, kept)
    kept.artifacts |= looked.artifacts
    differs: tuple[str, ...] = ()
    try:
        differs = () if kept.interrupted else moved(bench, looked, rule)
        policy = entry.source.policy
        budget_s = 0 if kept.interrupted else policy.host.teardown_s
        order.began(f"{order.gate}: until ports and devices are as they were", 0)
        with held.stops.interruptible():
            wait = partial(_wait, order)
            texts = texts_after(entry.gate, policy, facts, folder, budget_s=budget_s, wait=wait, tell=order.tell)
        kept.artifacts |= dict(zip(texts, session.artifacts.put(texts.values()), strict=True))
    except KeyboardInterrupt:
        kept.interrupted = True
    order.ended()
    git = session.git if root == session.root else Git(root)
    return replace(
        raw,
        commands=tuple(kept.ended),
        listings=tuple(kept.listings),
        artifacts=kept.artifacts,
        interrupted=kept.interrupted,
        disturbed=(*disturbed(git, entry), *differs),
        checks=checks,
    )


def _wait(order: Order, seconds: float) -> None:
    """Wait, and let whoever looks on see that we do."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        order.tick()
        time.sleep(_TICK_S)


def _lacking(entry: Entry, order: Order, facts: HostFacts, python: str, root: Path) -> str:
    if order.gate == "native" and not entry.gate.cells:
        return NO_CELL
    if not entry.gate.commands and not entry.gate.cells:
        return f"the policy names no command for gate {order.gate}{f' and cell {order.cell}' if order.cell else ''}"
    return "; ".join(lacking(entry.gate, entry.source.policy, facts, python, root))
