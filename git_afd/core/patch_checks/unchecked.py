"""What could not be checked, said once for each reason."""

from __future__ import annotations

from collections.abc import Iterable

from git_afd.core.finding import Finding
from git_afd.core.patch_checks.model import NotChecked

_SOURCE = "--source NAME=DIR"
_COMMENT = "state '# Upstream source: PATH SYMBOL at REF' above it"


def unchecked(items: Iterable[NotChecked]) -> tuple[Finding, ...]:
    """Return one note for each check and reason; it stands at the first place and counts the others."""
    groups: dict[tuple[str, str], list[NotChecked]] = {}
    for item in items:
        groups.setdefault((item.check, item.why.partition(": ")[2] or item.why), []).append(item)
    return tuple(_finding(check, why, found) for (check, why), found in groups.items())


def _finding(check: str, why: str, found: list[NotChecked]) -> Finding:
    first = found[0]
    what = first.why if len(found) == 1 else f"{why}; the first of {len(found)} is {first.why.partition(': ')[0]}"
    remedy = _SOURCE if "no source of" in why else _COMMENT if check == "signature" else "git afd diff --show"
    return Finding("not-checked", first.place, f"{check} not checked: {what}", remedy, "note")
