"""A folded state kept by the ledger's tip, so that `status` costs the same at ten and at ten thousand records.

Safe to delete at any moment, and proven equal to a fresh fold by a test. A file that is damaged, from
another version or that asks for anything but our own value classes is treated as absent.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd import __version__
from git_afd.core.records import Damage
from git_afd.core.state import State

_FORM: Final = "1"
_KEPT: Final = 4
_MODULES: Final = ("git_afd.core.state", "git_afd.core.finding", "git_afd.core.records")


class _OnlyOurs(pickle.Unpickler):
    """Builds nothing but the core's frozen values: a file in the git dir must not be able to run code."""

    def find_class(self, module: str, name: str) -> object:
        if module in _MODULES and name[:1].isupper():
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a cached state")


@dataclass(frozen=True, slots=True)
class StateCache:
    """The folder of cached states, one file per ledger tip, the newest few kept."""

    folder: Path

    def load(self, tip: str) -> tuple[State, tuple[Damage, ...]] | None:
        """Return the state folded at `tip`, None when there is none that can be trusted to be one."""
        try:
            data = self._path(tip).read_bytes()
            state, damage = _OnlyOurs(io.BytesIO(data)).load()
        except (OSError, pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError, KeyError):
            return None
        return (state, damage) if isinstance(state, State) and isinstance(damage, tuple) else None

    def store(self, tip: str, state: State, damage: tuple[Damage, ...]) -> None:
        """Keep the state of `tip`; a git dir that cannot be written is no fault."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                pickle.dump((state, damage), file, protocol=5)
            Path(name).replace(self._path(tip))
            for old in sorted(self.folder.iterdir(), key=lambda item: item.stat().st_mtime)[:-_KEPT]:
                old.unlink(missing_ok=True)

    def _path(self, tip: str) -> Path:
        return self.folder / f"state-{_FORM}-{__version__}-{tip}"
