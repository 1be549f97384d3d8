"""The plugin's files as they are in the work tree or in the index, beside what they were at a base commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from git_afd.adapters.git import decode
from git_afd.adapters.session import Session


@dataclass(frozen=True, slots=True)
class Texts:
    """Reads one state of the plugin's files: what is staged, or the work tree; `base` is a commit (full id)."""

    session: Session
    base: str
    staged: bool = False

    def changed(self) -> tuple[str, ...]:
        """Return the Python files that are not as at the base (deleted ones left out)."""
        words = ["diff", "--name-only", "--no-renames", "-z", "--diff-filter=d", "--no-ext-diff"]
        words += ["--cached"] if self.staged else []
        listed = self.session.git.run(*words, self.base, "--", ".").fields()
        others = ["ls-files", "--others", "--exclude-standard", "-z"]
        new = [] if self.staged else self.session.git.run(*others).fields()
        return tuple(path for path in sorted({*listed, *new}) if path.endswith(".py"))

    def marked(self) -> tuple[str, ...]:
        """Return the tracked Python files that speak of a PATCH."""
        words = ["grep", "-l", "-z", "-F", "PATCH START", *(["--cached"] if self.staged else [])]
        return tuple(path for path in self.session.git.run(*words).fields() if path.endswith(".py"))

    def now(self, path: str) -> str | None:
        """Return a file's text, None when it is not there or no UTF-8."""
        if self.staged:
            found = self.session.git.run("cat-file", "blob", f":0:{path}")
            return _text(found.stdout) if found.ok else None
        try:
            return _text((self.session.root / path).read_bytes())
        except OSError:
            return None

    def then(self, path: str) -> str | None:
        """Return a file's text at the base, None when it was not there."""
        found = self.session.git.run("cat-file", "blob", f"{self.base}:{path}") if self.base else None
        return decode(found.stdout) if found is not None and found.ok else None


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


def below(paths: Iterable[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that are one of `wanted` or lie below one; all when nothing is wanted."""
    folders = [item.rstrip("/") for item in wanted]
    return tuple(
        path for path in paths if not folders or any(path == one or path.startswith(f"{one}/") for one in folders)
    )
