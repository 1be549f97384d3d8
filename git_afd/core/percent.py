"""Shares as a person reads them: a fraction of 1 in percent, a difference of two shares in percentage points."""

from __future__ import annotations


def percent(share: float, *, signed: bool = False) -> str:
    """Return a fraction as percent: 0.2699 is ``26.99 %``."""
    return f"{100 * share:{'+' if signed else ''}.2f} %"


def points(difference: float) -> str:
    """Return a difference of two fractions in percentage points: -0.013 is ``-1.30 points``."""
    return f"{100 * difference:+.2f} points"
