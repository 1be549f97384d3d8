"""``git afd inventory --at REF``: look at any commit of the plugin, record nothing, with or without an upgrade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from git_afd.actions.take_inventory import HOW, take_inventory
from git_afd.adapters.configuration import pointer, policy_at
from git_afd.adapters.revisions import Unresolved, resolve
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import Revision, frozen_revisions
from git_afd.core.contracts.rows import annotated, row_of
from git_afd.core.contracts.subject import Inventory
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Json, Outcome
from git_afd.core.plain import fields
from git_afd.core.policy import fits
from git_afd.core.state import Upgrade
from git_afd.core.workbook import inventory as workbook
from git_afd.core.workbook.judge import coverage
from git_afd.errors import EnvironmentFault, Exit, UsageFault


@dataclass(frozen=True, slots=True)
class Filters:
    """Which contracts are shown: kinds, globs over the plugin's paths, unknown ones only. Empty: all."""

    kinds: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unknown: bool = False

    def rows(self, contracts: Sequence[Json]) -> list[Json]:
        """Return the rows (as JSON) that fit."""
        return [row for row in contracts if isinstance(row, dict) and self._fits(row)]

    def _fits(self, row: Mapping[str, Json]) -> bool:
        plugin = row["plugin"]
        path = str(plugin["path"]) if isinstance(plugin, dict) else ""
        by_kind = not self.kinds or row["kind"] in self.kinds
        return by_kind and (not self.files or fits(path, self.files)) and (not self.unknown or bool(row["unknown"]))


@dataclass(frozen=True, slots=True)
class Look:
    """Where to look: a ref of the plugin, and, without an upgrade, each upstream's directory and revision."""

    ref: str
    sources: Mapping[str, Path] = field(default_factory=dict)
    currents: Mapping[str, str] = field(default_factory=dict)
    filters: Filters = field(default_factory=Filters)
    markdown: bool = False


def inventory_at(session: Session, look: Look) -> Outcome:
    """Return the inventory at a commit of the plugin; nothing is written but the cache. Always exit 0."""
    up = current_upgrade(session)
    commit = resolve(session.git, look.ref)
    if isinstance(commit, Unresolved):
        raise UsageFault(f"--at {look.ref} {commit.why}", commit.fix)
    revisions = revisions_of(session, up, look.sources, look.currents)
    policy = session.policy(up).policy if up else policy_at(session.git, commit.commit).policy
    taken = take_inventory(session, commit.commit, revisions, policy)
    data: dict[str, Json] = {
        **shown(taken, up, look.filters),
        "how": HOW,
        "at": commit.commit,
        "upstreams": {name: item.commit for name, item in revisions.items()},
    }
    return Outcome("inventory.at" if not look.markdown else "inventory.markdown", data, exit=Exit.DONE)


def shown(taken: Inventory, up: Upgrade | None, filters: Filters) -> dict[str, Json]:
    """Return an inventory as data: contracts with the fixed field names, features, coverage."""
    said = up.annotations if up else {}
    rows = workbook.Inventory(tuple(row_of(item, said.get(item.id, {})) for item in taken.contracts), taken.features)
    return {
        "contracts": filters.rows(annotated(taken.contracts, said)),
        "features": [fields(feature) for feature in taken.features],
        "coverage": {**coverage(rows), **taken.coverage},
    }


def current_upgrade(session: Session) -> Upgrade | None:
    """Return this branch's upgrade, None when it has none: looking needs no upgrade."""
    name = pointer(session.git, session.branch) if session.branch else ""
    return session.reading().state.upgrades.get(name) if name else None


def revisions_of(
    session: Session, up: Upgrade | None, sources: Mapping[str, Path], refs: Mapping[str, str]
) -> dict[str, Revision]:
    """Return the upstreams' revisions: the freeze's current ones, where an upgrade is given and nothing else."""
    if up is not None and not sources and not refs:
        return frozen_revisions(session.git, up.freeze)
    missing = [name for name in UPSTREAMS if name not in sources]
    if missing:
        raise UsageFault(
            f"no source of {missing[0]} was given", f"--source {missing[0]}=DIR --current {missing[0]}=REF"
        )
    return {name: _revision(session, name, sources[name], refs.get(name, "HEAD")) for name in UPSTREAMS}


def _revision(session: Session, name: str, folder: Path, ref: str) -> Revision:
    git = session.git.at(folder)
    if not folder.is_dir() or not git.run("rev-parse", "--git-dir").ok:
        message = f"the source of {name}, {folder}, is no git repository"
        raise EnvironmentFault(message, f"name a clone: --source {name}=DIR")
    found = resolve(git, ref)
    if isinstance(found, Unresolved):
        raise EnvironmentFault(f"{ref} in the source of {name} {found.why}", found.fix)
    return Revision(git, folder, found.commit, ref)
