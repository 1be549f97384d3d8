"""What the chain of records says about records that are not there.

Every record names the heads that its writer saw. A name that no record bears means that a line was taken out
of the ledger, or that a merge lost it: the rest can be looked at, but nothing may be decided on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from git_afd.core.records import Damage, Record


def gaps(records: Collection[Record], damage: Collection[Damage] = ()) -> tuple[Damage, ...]:
    """Return one Damage for each record that others have seen and that is missing, and for each that is backdated.

    A missing id that a line in `damage` bears is that line, and is not reported a second time.
    """
    places = {record.id: record.seq for record in records}
    missing: dict[str, str] = {}
    backdated: list[Damage] = []
    for record in records:
        for seen in record.prev:
            if seen not in places:
                missing.setdefault(seen, record.id)
            elif places[seen] >= record.seq:
                reason = f"claims a place before record {seen[:12]}, which its writer had seen"
                backdated.append(Damage(record.id, reason, ""))
    return (*_missing(missing, damage), *backdated)


def continues(heads: Iterable[str], seq: int, records: Collection[Record]) -> bool:
    """Say whether `records` only go on from a state with these heads and this clock: nothing older, no gap."""
    places = {**dict.fromkeys(heads, seq), **{record.id: record.seq for record in records}}
    return all(
        record.seq > seq and all(places.get(seen, record.seq) < record.seq for seen in record.prev)
        for record in records
    )


def _missing(missing: dict[str, str], damage: Collection[Damage]) -> list[Damage]:
    return [
        Damage(name, f"is missing: record {witness[:12]} was written after it", "")
        for name, witness in sorted(missing.items())
        if not any(name in item.line for item in damage)
    ]
