"""Which skips count as documented: their place stood, with the text quoted, in the base commit (workflow, Phase 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from git_afd.core.evidence.suite_verdict import AllowedSkip
from git_afd.core.finding import Finding
from git_afd.core.policy import Skip


def documented(
    skips: Iterable[Skip], texts: Mapping[str, bytes | None]
) -> tuple[tuple[AllowedSkip, ...], tuple[Finding, ...]]:
    """Return the skips that were documented at the freeze, and a note for each entry that excuses nothing.

    `texts` holds the base commit's bytes by path, None for what it does not hold. An entry without a quote
    documents nothing.
    """
    allowed: list[AllowedSkip] = []
    notes: list[Finding] = []
    for skip in skips:
        text = texts.get(skip.path)
        if text is not None and skip.quote and skip.quote.encode() in text:
            allowed.append(AllowedSkip(skip.test))
            continue
        why = (
            "which is not in the base commit"
            if text is None
            else f"which does not say {skip.quote!r} in the base commit"
            if skip.quote
            else "without a quote"
        )
        message = f"the policy's skip of {skip.test} names {skip.path}, {why}: it excuses nothing"
        notes.append(Finding("skip-undocumented", skip.path, message, "", "note"))
    return tuple(allowed), tuple(notes)
