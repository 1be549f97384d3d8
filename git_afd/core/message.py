"""Composing the message of a root cause's commit from its plan (domain.md, section 3).

Everything that the ledger knows is written from the ledger; what a person adds (validation, reasons) is taken
as said and marked as such. :mod:`git_afd.core.message_rules` judges the result like any other message.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.message_rules import (
    ASSISTED_KEY,
    FAILURE,
    LEDGER_KEY,
    REQUIREMENT,
    ROOT_CAUSE_KEY,
    SIGN_OFF_KEY,
    TYPES,
    UPGRADE_KEY,
    UPSTREAM_CAUSE,
    VALIDATION,
    WHY,
)
from git_afd.core.names import UPSTREAMS, revision_key
from git_afd.core.plan import LAYERS, parse_upstream
from git_afd.core.state import Freeze, RootCause, Upgrade

WIDTH: Final = 72
_NAMED: Final = 12
"""Up to so many impacts are named in a message."""
_TYPE_OF: Final = {"adaptation": "refactor", "failure-fix": "fix", "docs": "docs", "lesson": "docs"}


@dataclass(frozen=True, slots=True)
class Wording:
    """What the caller adds to the plan.

    `type` and `scope` of the summary (empty: derived), exact commands and their results (`validation`), further
    reasons (`why`), who helped (`assisted_by`).
    """

    type: str = ""
    scope: str = ""
    validation: tuple[str, ...] = ()
    why: str = ""
    assisted_by: tuple[str, ...] = ()


def revisions_of(freeze: Freeze) -> dict[str, tuple[str, str]]:
    """Return each upstream's frozen current and target commit (full ids)."""
    commit = {key: revision.commit for key, revision in freeze.revisions.items()}
    return {name: (commit[revision_key(name, "current")], commit[revision_key(name, "target")]) for name in UPSTREAMS}


def compose(up: Upgrade, cause: RootCause, paths: Sequence[str], wording: Wording, *, ledger: str, signer: str) -> str:
    """Return the whole message: summary, sections, trailers.

    `paths` are the committed paths, `ledger` the head of the chain of records, `signer` ``Name <mail>``.
    """
    sections = (
        _opening(cause),
        _upstream_cause(up.freeze, cause),
        _why(cause, wording),
        _validation(cause, wording),
    )
    trailers = [(UPGRADE_KEY, up.id), (ROOT_CAUSE_KEY, cause.name), (LEDGER_KEY, ledger)]
    trailers += [(ASSISTED_KEY, helper) for helper in wording.assisted_by]
    block = "\n".join(f"{key}: {value}" for key, value in (*trailers, (SIGN_OFF_KEY, signer)))
    body = ("\n".join(section) for section in sections)
    return "\n\n".join((summary(cause, paths, wording), *body, block)) + "\n"


def summary(cause: RootCause, paths: Sequence[str], wording: Wording) -> str:
    """Return ``type(scope): title``; a title that already has that form keeps it unless overridden."""
    head, colon, rest = cause.title.partition(": ")
    kind, _, scope = head.removesuffix(")").partition("(")
    if not colon or kind not in TYPES:
        kind, scope, rest = _TYPE_OF[cause.kind], scope_of(paths), cause.title
    kind, scope = wording.type or kind, wording.scope or scope
    return f"{kind}({scope}): {rest}" if scope else f"{kind}: {rest}"


def scope_of(paths: Sequence[str]) -> str:
    """Return the deepest folder below the first level that all paths outside the tests share, else ``upgrade``."""
    folders = [path.split("/")[:-1] for path in paths if not path.startswith("tests/")]
    shared: list[str] = []
    for level in zip(*folders, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    word = shared[-1].lstrip(".") if len(shared) > 1 else ""
    return word if word.replace("-", "").replace("_", "").isalnum() and word.isascii() else "upgrade"


def _opening(cause: RootCause) -> Iterator[str]:
    yield FAILURE if cause.kind == "failure-fix" else REQUIREMENT
    failure = f"{cause.failure}: " if cause.failure else ""
    yield from _prose(f"{failure}{cause.title}")
    if cause.disposes:
        yield from _prose(f"Disposes of: {_fates(cause.disposes)}.")


def _fates(disposes: Mapping[str, str]) -> str:
    """Name each impact with its fate; of many only how many, since the plan's record (``AFD-Ledger``) names each."""
    if len(disposes) <= _NAMED:
        return ", ".join(f"{item} {fate}" for item, fate in disposes.items())
    return ", ".join(f"{number} impacts {fate}" for fate, number in Counter(disposes.values()).items())


def _upstream_cause(freeze: Freeze, cause: RootCause) -> Iterator[str]:
    yield UPSTREAM_CAUSE
    causes = [parse_upstream(text) for text in cause.upstream]
    for name, (current, target) in revisions_of(freeze).items():
        mine = [item for item in causes if item.upstream == name]
        yield f"{name} {current}..{target}:" + ("" if mine else " none")
        for item in mine:
            yield from _prose(f"{item.path}::{item.symbol}: {item.change}", first="- ", rest="  ")


def _why(cause: RootCause, wording: Wording) -> Iterator[str]:
    yield WHY
    layer = f", layer {cause.layer} ({LAYERS[cause.layer]})" if cause.layer else ""
    yield from _prose(f"{cause.class_}{layer}.")
    for label, text in (
        ("Preserves", cause.invariant),
        ("Removal or upstream plan", cause.removal),
        ("Out of order", cause.out_of_order),
    ):
        if text:
            yield from _prose(f"{label}: {text}")
    if wording.why:
        yield from _prose(wording.why)


def _validation(cause: RootCause, wording: Wording) -> Iterator[str]:
    yield VALIDATION
    for text in wording.validation:
        yield from _prose(f"{text} (as stated by the committer)", first="- ", rest="  ")
    for test in cause.tests:
        yield from _prose(f"planned test {test}: git-afd has recorded no run of it", first="- ", rest="  ")
    if cause.untested:
        yield from _prose(f"no test in this commit: {cause.untested}", first="- ", rest="  ")
    if not (wording.validation or cause.tests or cause.untested):
        yield "- none recorded"


def _prose(text: str, *, first: str = "", rest: str = "") -> Iterator[str]:
    """Wrap each line of `text`; words are never broken, so that ids and commands stay whole."""
    for line in text.strip().splitlines():
        wrapped = textwrap.wrap(
            line, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
        )
        yield from wrapped or [""]
        first = rest
