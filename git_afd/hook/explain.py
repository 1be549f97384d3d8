"""The slow way: the state from the records, and the reason that helps. Reads only; may import what it likes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from git_afd.adapters.configuration import read_policy
from git_afd.adapters.git import Git
from git_afd.adapters.hook_file import hook_state
from git_afd.adapters.ledger import Ledger, Reading
from git_afd.core.hook_rules import Staged, earlier_lesson, parse_staged, waiting, waits_for
from git_afd.core.hook_state import HookState, OpenUpgrade
from git_afd.core.intent import GONE
from git_afd.errors import Refused
from git_afd.hook.place import Place


def reading(common_dir: str) -> Reading:
    """Read the ledger without leaving a trace."""
    git = Git(Path(common_dir), place=(f"--git-dir={common_dir}",))
    return Ledger(git, Path(common_dir), actor="", now=str, keeps=False).read()


def state_from_records(place: Place) -> HookState:
    """Return what the derived file would say, had it kept up with the ledger."""
    now = reading(place.common_dir)
    return hook_state(now.tip or "", now.state, len(now.open_damage))


def refusal(place: Place, up: OpenUpgrade) -> Refused:
    """Return why a commit that nothing announced is refused: the first staged path that has a reason of its own."""
    staged = parse_staged(place.staged or "")
    kinds = _kinds(place, up)
    reasons: Sequence[Callable[[Staged], Refused | None]] = (
        lambda item: _lesson(item, kinds),
        lambda item: _early(item, up, kinds),
        lambda item: _dirty(item, up),
        lambda item: _planned(item, up),
    )
    found = (reason(item) for reason in reasons for item in staged)
    return next((fault for fault in found if fault is not None), None) or _unannounced(staged, up)


def _kinds(place: Place, up: OpenUpgrade) -> Callable[[str], str]:
    """Return what the frozen policy calls a path."""
    freeze = reading(place.common_dir).state.upgrades[up.id].freeze
    return read_policy(freeze.policy_text, f"the policy frozen with {up.id}").policy.kind_of


def _lesson(item: Staged, kind_of: Callable[[str], str]) -> Refused | None:
    return earlier_lesson(item.path) if item.old_mode != GONE and kind_of(item.path) == "lesson" else None


def _early(item: Staged, up: OpenUpgrade, kind_of: Callable[[str], str]) -> Refused | None:
    kind = kind_of(item.path)
    lack = waits_for(up, kind) if kind in ("production", "documentation", "lesson") else None
    return waiting(item.path, kind, lack) if lack is not None else None


def _dirty(item: Staged, up: OpenUpgrade) -> Refused | None:
    if item.path not in up.dirty:
        return None
    return Refused(
        f"{item.path} held changes of yours when the upgrade was frozen; they stay out of its commits",
        f"git restore --staged -- {item.path}",
        code="dirty-at-freeze",
    )


def _planned(item: Staged, up: OpenUpgrade) -> Refused | None:
    for name, plan in up.plans.items():
        if item.path in plan.paths:
            fix = f"git afd commit --root-cause {name}"
            return Refused(f"{item.path} belongs to {name}, and nothing announced this commit", fix, code="unannounced")
    return None


def _unannounced(staged: Sequence[Staged], up: OpenUpgrade) -> Refused:
    if staged:
        path = staged[0].path
        return Refused(
            f"no open root cause of {up.id} plans {path}",
            f"git afd root-cause add --file {path}, or commit it on another branch",
            code="outside-plan",
        )
    open_ones = list(up.plans)
    fix = f"git afd commit --root-cause {open_ones[0]}" if open_ones else "git afd root-cause add"
    return Refused(f"this branch runs {up.id}, and nothing announced this commit", fix, code="unannounced")
