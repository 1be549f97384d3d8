"""Evidence from elsewhere: a run is taken out as one file on the host with the devices, and judged again here.

The host that runs needs the ledger to read (the frozen identity and policy stand there) and writes nothing to
it. Nothing in a bundle is believed but its raw files and the raw facts of the run among them; whoever can forge
those can forge a bundle, since nothing in it is signed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from git_afd.actions.gate import record
from git_afd.actions.gate.enter import Entry
from git_afd.actions.gate.judge import judge_raw
from git_afd.actions.gate.order import Order
from git_afd.actions.gate.say import exit_of, facts_of, judged
from git_afd.adapters.bundle import Bundle, read_bundle, write_bundle
from git_afd.adapters.content import digests
from git_afd.adapters.session import Session
from git_afd.core.evidence.bundle import Header
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.host_verdict import BEFORE, is_simulated
from git_afd.core.evidence.raw_run import FILE, RawRun, parse_raw_run
from git_afd.core.outcome import Outcome
from git_afd.core.records import line_of
from git_afd.core.recovering import insist_classified
from git_afd.core.state import Run, Upgrade
from git_afd.errors import Blocked, Refused


def refuse_target(order: Order) -> None:
    """Raise Refused when the bundle cannot be written where it is asked for: before hours are spent on it."""
    if order.bundle is not None and (order.bundle.exists() or not order.bundle.parent.is_dir()):
        why = "exists already" if order.bundle.exists() else "is in no folder"
        raise Refused(f"{order.bundle} {why}", "name a new file for the bundle", code="bundle-target")


def take_out(session: Session, entry: Entry, order: Order, raw: RawRun) -> Outcome:
    """Write the bundle of a run that took place here and say how it would be judged; records nothing."""
    verdict = judge_raw(session, entry.up, raw)
    data = facts_of(entry.up.id, raw, verdict)
    if order.bundle is None or raw.interrupted:
        return Outcome(f"gate.{raw.gate}", {**data, "bundle": ""}, verdict.findings, "", exit_of(raw, verdict))
    store = session.artifacts
    kept = {**raw.artifacts, FILE: store.put_bytes(raw.as_bytes())}
    frozen = [line_of(one) for one in session.ledger.records() if one.id == entry.up.freeze.record]
    claims = {"gate": raw.gate, "commit": raw.identity.commit, "tree": raw.identity.tree, "host": dict(raw.host)}
    digest = write_bundle(order.bundle, claims, frozen, {name: store.path(one) for name, one in kept.items()})
    data |= {"bundle": str(order.bundle), "bundle_digest": digest}
    then = f"{order.words} --from {order.bundle.name}, where the upgrade is judged"
    return Outcome(f"gate.{raw.gate}", data, (*verdict.findings, *entry.notes), then, exit_of(raw, verdict))


def bring_in(session: Session, entry: Entry, order: Order) -> Outcome:
    """Judge a bundle from its raw files and record it as imported; the same bundle again changes nothing.

    Raises Refused: it is of another gate, upgrade, policy, tree or pair; Blocked: it cannot be read whole, or its
    commit is not here.
    """
    if order.source is None:
        raise Blocked("there is no bundle to read", "name one with --from")
    with tempfile.TemporaryDirectory() as folder:
        bundle = read_bundle(order.source, Path(folder))
        raw = _raw_run(bundle, order)
        _refuse_foreign(session, entry, raw, bundle.header, order)
        if not order.dry_run:
            session.artifacts.put(bundle.files.values())
        known = _known(entry.up, bundle.header.artifacts)
        verdict = judge_raw(session, entry.up, raw, but=known.name if known else "", files=_files(raw, bundle))
        if known is None and not raw.diagnostic:
            insist_classified(entry.up, raw.gate, raw.identity.content)
    if order.dry_run:
        return Outcome(
            f"gate.{raw.gate}", facts_of(entry.up.id, raw, verdict), verdict.findings, "", exit_of(raw, verdict)
        )
    if known:
        return judged(session, entry.up, known.name, raw, verdict, entry.notes)
    kept = bundle.header.artifacts[FILE]
    up, name = record.finish(session, "", raw, verdict, kept, origin="imported")
    return judged(session, up, name, raw, verdict, entry.notes)


def _raw_run(bundle: Bundle, order: Order) -> RawRun:
    path = bundle.file(FILE)
    if path is None or order.source is None:
        raise EvidenceFault(str(order.source), FILE, "is not in it", "the raw facts of the run")
    raw = parse_raw_run(path.read_bytes(), f"{order.source.name}/{FILE}")
    if {**raw.artifacts, FILE: bundle.header.artifacts[FILE]} != dict(bundle.header.artifacts):
        raise EvidenceFault(order.source.name, FILE, "names other files than the bundle holds", "the files of that run")
    printed = bundle.file(BEFORE)
    simulated = printed is not None and is_simulated(printed.read_text(errors="replace"))
    return replace(raw, simulated=raw.simulated or simulated)


def _files(raw: RawRun, bundle: Bundle) -> Mapping[str, Path]:
    return {name: bundle.files[digest] for name, digest in raw.artifacts.items()}


def _known(up: Upgrade, artifacts: Mapping[str, str]) -> Run | None:
    return next((run for run in up.runs.values() if dict(run.artifacts) == dict(artifacts)), None)


def _refuse_foreign(session: Session, entry: Entry, raw: RawRun, header: Header, order: Order) -> None:
    """Refuse a bundle that vouches for something else than what stands here (scenarios A8, B13, U10)."""
    here, there = entry.identity, raw.identity
    differs = (
        (raw.gate != order.gate, f"gate {raw.gate}, not of {order.gate}"),
        (header.gate != raw.gate, f"gate {raw.gate}, although its header says {header.gate}"),
        (bool(order.cell) and raw.cell != order.cell, f"cell {raw.cell or 'afd'}, not of {order.cell}"),
        (there.upgrade != here.upgrade, f"upgrade {there.upgrade}, not of {here.upgrade}"),
        (there.policy != here.policy, "a run under another policy than the frozen one"),
        (there.commits != here.commits, "a run against other upstream commits than the frozen four"),
        (there.content != here.content, f"other content than HEAD's: it ran on commit {there.commit[:12]}"),
        (bool(order.only) and raw.only != order.only, f"another run than of {order.only} alone"),
        (bool(order.failure) and raw.failure != order.failure, f"another run than of what {order.failure} failed on"),
        ((header.commit, header.tree) != (there.commit, there.tree), "another commit than its own header says"),
    )
    for wrong, what in differs:
        if wrong:
            raise Refused(
                f"{order.source} holds evidence of {what}",
                "run the gate there again on this commit",
                code="foreign-bundle",
            )
    tree = session.git.run("rev-parse", "--verify", "--quiet", f"{there.commit}^{{tree}}")
    if not tree.ok:
        raise Blocked(
            f"commit {there.commit[:12]}, on which the bundle was recorded, is not here", "fetch it, then run again"
        )
    if tree.text != there.tree or digests(session.git, there.commit, entry.source.policy)[0] != there.content:
        raise Refused(
            f"{order.source} does not hold what commit {there.commit[:12]} holds",
            "run the gate there again",
            code="foreign-bundle",
        )
