"""Putting a rebuilt function in place: only in a clean planned file of an open root cause, and only a complete one."""

from __future__ import annotations

from git_afd.actions.inventory_at import current_upgrade
from git_afd.actions.present import rows_of
from git_afd.adapters.session import Session
from git_afd.adapters.text_file import replace_text
from git_afd.adapters.work_tree import path_facts, read_status
from git_afd.core.contracts.model import Contract
from git_afd.core.path_facts import PathFacts
from git_afd.core.plan import planned_paths
from git_afd.core.reconstruction.model import Copy, Reconstruction
from git_afd.core.reconstruction.placing import put
from git_afd.core.standing import shown
from git_afd.core.state import Upgrade
from git_afd.errors import Refused, UsageFault


def write(session: Session, contract: Contract, copy: Copy, found: Reconstruction, *, dry_run: bool) -> str:
    """Put the function in place and return the root cause whose plan allows it.

    `copy` is the function as it was rebuilt from. Raises Refused when the reconstruction is not complete, when no
    open root cause plans the file, when the file is not as in HEAD, or when its function is no longer the one that
    was rebuilt. Nothing is written when `dry_run` is set.
    """
    path = contract.plugin.path
    if not found.complete:
        raise Refused(
            f"the reconstruction of {path}::{contract.plugin.symbol} has {len(found.questions)} open questions",
            f"git afd reconstruct {path}::{contract.plugin.symbol}, and answer them",
            code="incomplete",
        )
    up = current_upgrade(session)
    if up is None:
        raise UsageFault("--write needs an upgrade with an open root cause", "git afd freeze -h")
    cause = _cause(session, up, path)
    facts = path_facts(session, read_status(session.git), [path])[0]
    _insist_clean(facts)
    now = (session.root / path).read_bytes().decode("utf-8")
    newline = "\r\n" if "\r\n" in now else "\n"
    text = now.replace("\r\n", "\n")
    if text != copy.text:
        raise Refused(
            f"{path} is no longer as at the commit that was looked at",
            "take the printed function and put it in by hand",
            code="moved-on",
        )
    result = put(text, found).replace("\n", newline)
    if not dry_run:
        replace_text(session.root / path, now, result)
    return cause


def _cause(session: Session, up: Upgrade, path: str) -> str:
    gate = shown(rows_of(session, up)).get("ARCHITECTURE_GATE", "not run")
    if gate != "PASS":
        raise Refused(f"ARCHITECTURE_GATE is {gate}, so no production code may change", "git afd gate architecture")
    cause = next((cause for cause in up.open_root_causes if path in planned_paths(cause)), None)
    if cause is None:
        raise Refused(f"no open root cause plans {path}", f"git afd root-cause add … --file {path}", code="not-planned")
    return cause.name


def _insist_clean(facts: PathFacts) -> None:
    if facts.disk != "file" or facts.link:
        raise Refused(f"{facts.path} is no plain file in the work tree", "put it back first", code="overlap")
    if facts.differs:
        raise Refused(
            f"{facts.path} differs from HEAD ({facts.differs})", "commit or undo that change first", code="overlap"
        )
