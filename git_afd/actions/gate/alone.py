"""A gate at work: alone in its repository and on its devices, and stopped only where nothing is torn apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from git_afd.actions.gate.enter import Entry
from git_afd.actions.gate.order import Order
from git_afd.adapters.gate_lock import GateLock, Holder, gate_lock, this_process
from git_afd.adapters.session import Session
from git_afd.adapters.signal_forwarding import Stops


@dataclass(frozen=True, slots=True)
class Alone:
    """The locks that are held, and whoever tells us to stop."""

    lock: GateLock
    stops: Stops


@contextmanager
def alone(session: Session, entry: Entry, order: Order) -> Iterator[Alone]:
    """Hold the locks of a gate, and hold back the signals that stop. Raises Conflict naming who holds a lock."""
    pid, started = this_process()
    home = session.ledger.home
    holder = Holder(order.gate, entry.up.id, str(home), session.now(), pid, started)
    with gate_lock(home, holder, devices=entry.gate.npu) as lock, Stops() as stops:
        session.artifacts.sweep()
        yield Alone(lock, stops)
