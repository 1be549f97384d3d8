"""A folded state kept by the ledger's tip, so that `status` costs the same at ten and at ten thousand records.

Safe to delete at any moment, and proven equal to a fresh fold by a test. A file that is damaged, from
another version or that asks for anything but our own value classes is treated as absent. What an append adds
is kept beside the state it was added to, so that appending does not write ten thousand records' state again.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from git_afd import __version__
from git_afd.core.fold import extend
from git_afd.core.records import Damage, Record
from git_afd.core.state import State

_FORM: Final = "4"
_KEPT: Final = 6
_TAIL: Final = 64
_MODULES: Final = ("git_afd.core.state", "git_afd.core.finding", "git_afd.core.records")


class _OnlyOurs(pickle.Unpickler):
    """Builds nothing but the core's frozen values: a file in the git dir must not be able to run code."""

    def find_class(self, module: str, name: str) -> object:
        found = super().find_class(module, name) if module in _MODULES else None
        if isinstance(found, type) and is_dataclass(found):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a cached state")


class _Values(pickle.Pickler):
    """Writes a frozen value as its class and fields: a third of what the dataclasses' own way costs to read."""

    def reducer_override(self, obj: object) -> Any:  # noqa: ANN401 - the signature that pickle wants
        if not is_dataclass(obj) or isinstance(obj, type):
            return NotImplemented
        return type(obj), _fields_of(type(obj))(obj)


@lru_cache(maxsize=64)
def _fields_of(kind: type) -> Callable[[object], tuple[object, ...]]:
    names = [item.name for item in fields(kind)]
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda value: (read(value),)


@dataclass(frozen=True, slots=True)
class Kept:
    """A cached state. `base` is the tip whose file holds a whole state, `tail` the records added to that one."""

    tip: str
    state: State
    damage: tuple[Damage, ...]
    base: str
    tail: tuple[Record, ...] = ()


_memory: Final[dict[str, Kept]] = {}
"""The last state of this process. A tip names content, so it can never be wrong; a command reads before it writes."""


@dataclass(frozen=True, slots=True)
class StateCache:
    """The folder of cached states, one file per ledger tip, the newest few kept. Only with `writes` does it change."""

    folder: Path
    writes: bool = True

    def load(self, tip: str) -> Kept | None:
        """Return the state folded at `tip`, None when there is none that can be trusted to be one."""
        kept = _memory.get(tip) or self._read(tip)
        return self._remember(kept) if kept else None

    def newest(self) -> Kept | None:
        """Return the state that was stored last, whatever its tip."""
        with contextlib.suppress(OSError):
            for path in sorted(self._files(), key=_age, reverse=True):
                kept = self.load(path.name.rpartition("-")[2])
                if kept is not None:
                    return kept
        return None

    def store(self, tip: str, state: State, damage: tuple[Damage, ...]) -> Kept:
        """Keep the state of `tip`; a git dir that cannot be written is no fault."""
        self._store(tip, (state, damage))
        return self._remember(Kept(tip, state, damage, tip))

    def store_after(self, before: Kept, tip: str, records: tuple[Record, ...]) -> Kept:
        """Keep the state of `tip`, which is that of `before` with `records` added."""
        state, tail = extend(before.state, records), (*before.tail, *records)
        if len(tail) > _TAIL:
            return self.store(tip, state, before.damage)
        if self.writes:
            with contextlib.suppress(OSError):
                os.utime(self._path(before.base))  # the file that this one rests on must not be the first to go
        self._store(tip, (before.base, tail))
        return self._remember(replace(before, tip=tip, state=state, tail=tail))

    def _read(self, tip: str) -> Kept | None:
        content = self._loaded(tip)
        match content:
            case (State() as state, tuple() as damage):
                return Kept(tip, state, damage, tip)
            case (str() as base, tuple() as tail) if base != tip:
                under = self._read(base)
                return under and replace(under, tip=tip, state=extend(under.state, tail), tail=tail)
            case _:
                return None

    def _remember(self, kept: Kept) -> Kept:
        _memory.clear()
        _memory[kept.tip] = kept
        return kept

    def _loaded(self, tip: str) -> object:
        try:
            return _OnlyOurs(io.BytesIO(self._path(tip).read_bytes())).load()
        # "Other exceptions may also be raised during unpickling" (pickle): whatever a damaged file raises, the state
        # is computed from the records instead, so nothing is lost and nothing is believed.
        except Exception:  # noqa: BLE001 - see above
            return None

    def _store(self, tip: str, content: object) -> None:
        if not self.writes:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                _Values(file, protocol=5).dump(content)
            Path(name).replace(self._path(tip))
            for old in sorted(self.folder.iterdir(), key=_age)[:-_KEPT]:
                old.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return list(self.folder.glob(f"state-{_FORM}-{__version__}-*"))

    def _path(self, tip: str) -> Path:
        return self.folder / f"state-{_FORM}-{__version__}-{tip}"


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns
