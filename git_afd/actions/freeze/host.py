"""The host and Python environment an upgrade is frozen on: recorded, and heard as corroboration only."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Final

from git_afd.adapters.host import HostFacts, host_facts
from git_afd.adapters.session import Session
from git_afd.core import shape
from git_afd.core.identity.candidates import Candidate
from git_afd.core.names import UPSTREAMS, is_full_id
from git_afd.core.outcome import Json

_KINDS_OF_COMMIT: Final = ("commit", "source_commit")


def look(session: Session) -> HostFacts:
    """Look at this host, with the Python that the gates would take: the one on PATH."""
    python = shutil.which("python") or shutil.which("python3") or "python3"
    return host_facts(python, cwd=session.root, env=os.environ)


def installed(facts: HostFacts) -> Iterator[Candidate]:
    """Yield what installed upstream packages say: their git commit where one is known, else their version."""
    packages = shape.table(facts.python, "packages")
    for name in UPSTREAMS:
        entry = packages.get(name)
        said = _said(entry) if isinstance(entry, dict) else ""
        if said and isinstance(entry, dict):
            yield Candidate(name, said, str(entry.get("location") or "installed"), 0, "installed")


def _said(entry: Mapping[str, Json]) -> str:
    commits = [str(entry.get(kind)) for kind in _KINDS_OF_COMMIT if is_full_id(str(entry.get(kind)))]
    version = str(entry.get("version", ""))
    return commits[0] if commits else ("" if version == "absent" else version)
