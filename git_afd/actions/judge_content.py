"""Judging what is about to be committed or published: patch functions and guarded values.

One judgement with three doors: ``git afd commit`` asks before anything is staged, pre-commit again for whatever is
staged, and pre-push for what the branch makes of its base, whoever made it (design, tenet 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from git_afd.actions.check_patches import check_patches
from git_afd.adapters.analysis_cache import AnalysisCache
from git_afd.adapters.git import Git, decode
from git_afd.adapters.objects import Objects
from git_afd.adapters.upstream_sources import Reader, frozen_revisions
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.finding import Finding
from git_afd.core.guards import Guarded, changed_values, guarded_in, new_skips
from git_afd.core.hook_rules import PATCH_WORDS
from git_afd.core.patch_checks.model import Checked
from git_afd.core.patch_checks.refused import APPROVAL, Judged, judged
from git_afd.core.policy import Policy, fits
from git_afd.core.state import Upgrade

_WORDS = tuple(word.encode() for word in PATCH_WORDS)


@dataclass(frozen=True, slots=True)
class Content:
    """What changes: `old` is the commit (full id) it stands on, `now` each changed path's bytes, None where it is gone.

    `base` is the commit of the freeze: the values that stood there count.
    """

    old: str
    base: str
    now: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Doors:
    """How to read: git in the plugin, its objects, and what opens those of an upstream.

    What upstream modules say is taken from the `cache`, and kept there where it writes.
    """

    git: Git
    objects: Objects
    reader: Reader
    cache: AnalysisCache


def judge_content(doors: Doors, up: Upgrade, policy: Policy, content: Content) -> Judged:
    """Say what refuses this content and what its author should know. Raises Blocked when a source is not there."""
    kinds = {path: policy.kind_of(path) for path in content.now}
    held = SourceTree(doors.objects, content.old, wanted=lambda _: True)
    production = [path for path, kind in kinds.items() if kind == "production"]
    checked = _patches(doors, up, held, {path: content.now[path] for path in production if path.endswith(".py")})
    globs = [guard.path for guard in policy.guards]
    guarded = {path: data for path, data in content.now.items() if fits(path, globs)}
    frozen = held if content.base == content.old else SourceTree(doors.objects, content.base, wanted=lambda _: True)
    then, now = _values(policy, frozen, guarded), tuple(_found(policy, guarded.items()))
    before = then if frozen is held else _values(policy, held, guarded)
    changes = (*changed_values(then, now, ("threshold", "tolerance")), *new_skips(before, now))
    approved = {item.subject for item in up.approvals if item.what == APPROVAL}
    return judged(checked, changes, approved, alone=not production)


def _patches(doors: Doors, up: Upgrade, held: SourceTree, now: Mapping[str, bytes | None]) -> Checked:
    """Check the files that hold something of an upstream."""
    held.read(path for path in now if path in held.ids)
    then = {path: held.data(path) for path in now}
    wanted = [path for path, data in now.items() if data is not None and any(word in data for word in _WORDS)]
    texts = {path: _text(now[path]) for path in wanted}
    unreadable = [path for path, text in texts.items() if text is None]
    files = {path: (text, _text(then[path])) for path, text in texts.items() if text is not None}
    checked = Checked((), (), 0)
    if files:
        inside, revisions = SourceTree(doors.objects, held.commit), frozen_revisions(doors.git, up.freeze, "target")
        checked = check_patches(files, inside, revisions, {}, doors.reader, doors.cache)
    wrong = [Finding("patch-unparsable", path, f"{path} is not UTF-8", "mend it") for path in unreadable]
    return Checked((*checked.findings, *wrong), checked.not_checked, checked.functions, checked.touched)


def _text(data: bytes | None) -> str | None:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n") if data is not None else None
    except UnicodeDecodeError:
        return None


def _values(policy: Policy, held: SourceTree, paths: Iterable[str]) -> tuple[Guarded, ...]:
    listed = [path for path in paths if path in held.ids]
    held.read(listed)
    return tuple(_found(policy, ((path, held.data(path)) for path in listed)))


def _found(policy: Policy, texts: Iterable[tuple[str, bytes | None]]) -> Iterator[Guarded]:
    for path, data in texts:
        if data is not None:
            yield from guarded_in(policy.guards, path, decode(data))
