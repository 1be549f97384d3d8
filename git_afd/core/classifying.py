"""Proposals and decisions on them: what an automatic comparison amounts to, given what was decided before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from git_afd.core.state import Analysis, Classified


def with_proposals(fresh: Analysis, proposed: Mapping[str, str], before: Analysis | None) -> Analysis:
    """Return a new comparison whose classes are proposals (empty: none could be made).

    Decisions on the comparison before stay for what is proposed exactly as it was.
    """
    kept = before.decided if before else {}
    decided = {item: known for item, known in kept.items() if proposed.get(item) == known.proposed}
    items = with_decisions({item: class_ for item, class_ in proposed.items() if class_}, decided)
    return replace(fresh, items=items, proposed=dict(proposed), decided=decided)


def with_decisions(items: Mapping[str, str], decided: Mapping[str, Classified]) -> dict[str, str]:
    """Return the class of every impact that counts: the decision where there is one, else the proposal."""
    both = {**items, **{item: found.class_ for item, found in decided.items()}}
    return {item: class_ for item, class_ in both.items() if class_ != "NONE"}
