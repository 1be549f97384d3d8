"""``git afd hooks install|uninstall|status``: whether git runs our hooks here, and making it so or not so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from git_afd.adapters.hook_install import (
    Hook,
    hooks_folder,
    inspect,
    install,
    place_for_install,
    refuse_unsafe,
    uninstall,
)
from git_afd.adapters.session import Session
from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.errors import EnvironmentFault

_INSTALLED: Final = {"absent": "installed", "foreign": "chained", "outdated": "renewed", "ours": "unchanged"}


def hooks_install(session: Session, *, dry_run: bool) -> Outcome:
    """Put the three shims where git looks, keep what is there, and ask git to run them.

    Raises Refused, with nothing changed, when a hook cannot be put there safely; EnvironmentFault when git does
    not run what was installed.
    """
    folder = place_for_install(session)
    before = inspect(session, probe=False)
    for hook in before:
        refuse_unsafe(session, hook)
    done = {hook.stage: _INSTALLED.get(hook.kind, "unchanged") for hook in before}
    if not dry_run:
        for hook in before:
            if done[hook.stage] != "unchanged":
                install(hook)
        _insist(inspect(session))
    data = {"folder": str(folder.path), "dry_run": dry_run, "changed": _changed(done), "stages": done}
    return Outcome(verb="hooks.install", data=data, next="git afd hooks status")


def hooks_uninstall(session: Session, *, dry_run: bool) -> Outcome:
    """Take the shims away and put back, byte for byte, what they kept. Another tool's hook is left where it is."""
    before = inspect(session, probe=False)
    ours = [hook for hook in before if hook.kind in ("ours", "outdated", "edited")]
    for hook in ours:
        refuse_unsafe(session, hook)
    done = {hook.stage: ("restored" if hook.chained else "removed") if hook in ours else hook.kind for hook in before}
    if not dry_run:
        for hook in ours:
            uninstall(hook)
    findings = tuple(_left(hook) for hook in before if hook.kind in ("foreign", "framework") and hook.chained)
    folder = str(hooks_folder(session).path)
    data = {"folder": folder, "dry_run": dry_run, "changed": _changed(done), "stages": done}
    return Outcome(verb="hooks.uninstall", data=data, findings=findings)


def hooks_status(session: Session) -> Outcome:
    """Say where git looks for hooks here and whether it runs ours. Exit 0 whenever it can answer."""
    folder, hooks = hooks_folder(session), inspect(session)
    data = {
        "folder": str(folder.path),
        "hooks_path": {"scope": folder.scope, "value": folder.value} if folder.scope else None,
        "stages": {
            hook.stage: {"file": str(hook.path), "kind": hook.kind, "chained": hook.chained, "active": hook.active}
            for hook in hooks
        },
    }
    findings = inert(hooks)
    return Outcome(verb="hooks.status", data=data, findings=findings, next="git afd hooks install" if findings else "")


def inert(hooks: Sequence[Hook]) -> tuple[Finding, ...]:
    """Return a finding for each stage that git does not run, or runs without us."""
    return tuple(
        Finding("hooks-inert", str(hook.path), f"{hook.stage} {_WHY[hook.kind]}", "git afd hooks install")
        for hook in hooks
        if not hook.active
    )


def inert_note(session: Session) -> tuple[Finding, ...]:
    """Return one note when git does not run all of our hooks in this worktree, for commands that only mention it."""
    silent = [hook.stage for hook in inspect(session, probe=False) if not hook.active]
    message = f"git does not run git-afd's hooks here: {', '.join(silent)}"
    note = Finding("hooks-inert", "", message, "git afd hooks install", severity="note")
    return (note,) if silent else ()


_WHY: Final = {
    "absent": "is not installed here: git checks nothing",
    "foreign": "is another tool's hook, which does not call git-afd",
    "edited": "is git-afd's hook with changes of somebody else's, so nobody knows what it does",
    "ours": "is installed, and git does not run it",
    "outdated": "is installed for another version or interpreter, and does not run",
    "framework": "is the pre-commit framework's, and its settings do not name git-afd",
}


def _insist(hooks: Sequence[Hook]) -> None:
    silent = [hook for hook in hooks if not hook.active]
    if silent:
        raise EnvironmentFault(
            f"{silent[0].path} is installed, and git does not run it",
            f"git hook run {silent[0].stage}: see what it says (a file system mounted noexec? no /bin/sh?)",
        )


def _changed(done: dict[str, str]) -> bool:
    return any(word in ("installed", "chained", "renewed", "removed", "restored") for word in done.values())


def _left(hook: Hook) -> Finding:
    return Finding(
        "hook-left",
        str(hook.path),
        f"{hook.stage} is another tool's hook by now and was left alone; the one that git-afd kept is beside it",
        f"look at {hook.kept}",
        severity="note",
    )
