"""Results of analyses, kept under the common git dir by what they were made from. Safe to delete at any moment.

A key names everything that a result depends on: the tool's version, the trees that were read, the policy. A result
that cannot be read, for whatever reason, is simply computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd import __version__

_KEPT: Final = 64
_PYTHON: Final = ".".join(map(str, sys.version_info[:2]))


def key_of(kind: str, *parts: str) -> str:
    """Return the key of a result: its kind and all that it was made from; this tool's version, and Python's.

    What one Python cannot parse, a newer one may.
    """
    joined = "\0".join((__version__, _PYTHON, kind, *parts))
    return f"{kind}-{hashlib.sha256(joined.encode()).hexdigest()}"


class _Values(pickle.Unpickler):
    """Reads back nothing but this project's own values: a file that names anything else is no result."""

    def find_class(self, module: str, name: str) -> type:
        """Allow the values of the core and the few standard types they hold."""
        if module.startswith("git_afd.core.") or (module, name) in (("builtins", "set"), ("builtins", "frozenset")):
            found: type = super().find_class(module, name)
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no value of an analysis")


@dataclass(frozen=True, slots=True)
class AnalysisCache:
    """Results below ``<common git dir>/afd/cache/analysis``; only read from unless it `writes` (a hook does not)."""

    common_dir: Path
    writes: bool = True

    @property
    def folder(self) -> Path:
        """Where the results lie."""
        return self.common_dir / "afd" / "cache" / "analysis"

    def get(self, key: str) -> object | None:
        """Return a kept result, None when there is none that can be read."""
        try:
            data = (self.folder / key).read_bytes()
            result: object = _Values(io.BytesIO(data)).load()
        except (
            OSError,
            pickle.UnpicklingError,
            EOFError,
            AttributeError,
            ImportError,
            ValueError,
            TypeError,
            IndexError,
        ):
            return None
        return result

    def put(self, key: str, result: object) -> None:
        """Keep a result; a place that cannot be written keeps nothing, which costs time only."""
        if not self.writes:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._drop_oldest()
            handle, name = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                pickle.dump(result, file, protocol=5)
            Path(name).replace(self.folder / key)

    def _drop_oldest(self) -> None:
        """Keep the newest results only, so that the folder stays small."""
        files = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in files[:-_KEPT]:
            path.unlink(missing_ok=True)
