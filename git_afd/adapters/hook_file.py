"""The file that tells the hooks what the ledger says, so that a commit does not pay for a fold.

Derived from the state at one tip and replaced as a whole after every append. When it cannot be written, or a
process dies before it is, the hooks find it behind the ledger's tip and take the slow way.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from git_afd.adapters.configuration import read_policy
from git_afd.adapters.git import encode
from git_afd.core.hook_state import FILE, HookState, OpenUpgrade, Plan, write_hook_state
from git_afd.core.phases import PHASES
from git_afd.core.plan import planned_paths
from git_afd.core.state import State, Upgrade
from git_afd.errors import AfdError


def hook_state(tip: str, state: State, damage: int) -> HookState:
    """Return what the hooks must know of `state`, the fold at `tip`. Raises EnvironmentFault for a broken policy."""
    known = state.upgrades.values()
    upgrades = [_open(up) for up in known if not up.closed]
    return HookState(tip, damage, state.heads, upgrades, [up.id for up in known if up.closed])


def write_hook_file(common_dir: Path, tip: str, state: State, damage: int) -> None:
    """Replace the file by what `state` says; nothing is raised, since the hooks can do without it."""
    path = common_dir / FILE
    with contextlib.suppress(OSError, AfdError):
        text = write_hook_state(hook_state(tip, state, damage))
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(encode(text))
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)


def _open(up: Upgrade) -> OpenUpgrade:
    freeze, recorded = up.freeze, up.recorded
    plans, words = _plans(up)
    return OpenUpgrade(
        id=up.id,
        branch=freeze.branch,
        base=freeze.base,
        primary=freeze.primary,
        revisions={key: revision.commit for key, revision in freeze.revisions.items()},
        phases={phase.name: recorded.get(phase.name, "not run") for phase in PHASES},
        plans=plans,
        dirty=freeze.dirty,
        words=words,
    )


def _plans(up: Upgrade) -> tuple[dict[str, Plan], tuple[str, ...]]:
    causes = up.open_root_causes
    if not causes:
        return {}, ()  # the policy is read only when some path must be told apart by it
    from git_afd.core.guards import words_of

    policy = read_policy(up.freeze.policy_text, f"the policy frozen with {up.id}").policy
    kinds = ({path: policy.kind_of(path) for path in planned_paths(cause)} for cause in causes)
    plans = {cause.name: Plan(cause.kind, paths) for cause, paths in zip(causes, kinds, strict=True)}
    return plans, words_of(policy.guards)
