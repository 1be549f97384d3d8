"""Putting the shims where git looks for hooks, and taking them away again.

Nothing of the user's is lost: a hook that is there already is renamed beside ours (same bytes, same mode) and
run by it; taking ours away renames it back. A file counts as ours only when every byte of it is.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
import sys
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from git_afd import __version__
from git_afd.adapters.git import Git, decode, encode
from git_afd.adapters.session import Session
from git_afd.core.hook_probe import EXIT, VARIABLE, answer
from git_afd.errors import EnvironmentFault, Refused

STAGES: Final = ("pre-commit", "commit-msg", "pre-push")
CHAINED: Final = ".afd-chained"
LEGACY: Final = ".legacy"
"""What the pre-commit framework calls a hook that it found and runs before its own."""

Kind = Literal["absent", "ours", "outdated", "edited", "foreign"]
"""What stands in a hook's place: nothing; our shim, exactly; ours of another version or interpreter; ours with
changes of somebody else's; another hook."""

_SEAL: Final = b"# git-afd shim sha256:"


@dataclass(frozen=True, slots=True)
class HooksFolder:
    """Where git looks for hooks here.

    `scope` is that of ``core.hooksPath`` (``local``, ``global``, ``system`` …), empty when it is not set; `value` is
    the setting as written; `own` says that the folder is the repository's own one.
    """

    path: Path
    scope: str
    value: str
    own: bool


@dataclass(frozen=True, slots=True)
class Hook:
    """One stage here: what stands in its place, whether a hook is kept beside it, whether git really runs ours."""

    stage: str
    path: Path
    kind: Kind
    chained: bool
    active: bool


def hooks_folder(session: Session) -> HooksFolder:
    """Return where git looks for hooks in this worktree, whatever sets it."""
    own = session.common_dir / "hooks"
    path = Path(session.git("rev-parse", "--path-format=absolute", "--git-path", "hooks"))
    found = session.git.run("config", "--show-scope", "--null", "--get", "core.hooksPath")
    scope, _, value = found.text.rstrip("\0").partition("\0") if found.ok else ("", "", "")
    return HooksFolder(path, scope, value, own=os.path.realpath(path) == os.path.realpath(own))


def inspect(session: Session, *, probe: bool = True) -> tuple[Hook, ...]:
    """Return the three stages as they stand; with `probe`, git itself is asked to run them."""
    folder = hooks_folder(session)
    return tuple(_hook(session, folder.path, stage, probe=probe) for stage in STAGES)


def place_for_install(session: Session) -> HooksFolder:
    """Return the folder to install into. Raises Refused when it is not this repository's to write to."""
    folder = hooks_folder(session)
    if folder.own or folder.scope in ("", "local", "worktree"):
        return folder
    own = shlex.quote(str(session.common_dir / "hooks"))
    where = {"command": "on the command line or in the environment"}.get(
        folder.scope, f"in your {folder.scope} settings"
    )
    raise Refused(
        f"core.hooksPath is {folder.value}, set {where}: hooks there run everywhere, and git looks nowhere else",
        f"git config --local core.hooksPath {own}, then git afd hooks install; or, to keep those hooks, let each of "
        '{pre-commit,commit-msg,pre-push} there end with: exec git-afd-hook "${0##*/}" "$@"',
        code="hooks-path",
    )


def shim(stage: str, python: str = sys.executable, site: Path | None = None) -> bytes:
    """Return the shim of a stage for an interpreter and the folder that holds the package."""
    home = site or Path(str(files("git_afd"))).parent
    filled = _template()
    for name, value in (("STAGE", stage), ("PYTHON", python), ("SITE", str(home))):
        filled = filled.replace(f"@{name}@", shlex.quote(value), 1)
    return _sealed(encode(filled))


def install(hook: Hook) -> None:
    """Put our shim in the hook's place, keeping what is there. Raises Refused when that cannot be done safely."""
    _refuse_edited(hook)
    hook.path.parent.mkdir(parents=True, exist_ok=True)
    if hook.kind == "foreign":
        _keep(hook)
    _write(hook.path, shim(hook.stage))


def uninstall(hook: Hook) -> None:
    """Take our shim away and put back what it kept. Raises Refused when it was edited."""
    _refuse_edited(hook)
    if hook.chained:
        _chained(hook.path).replace(hook.path)
    else:
        hook.path.unlink()


def tracked(session: Session, path: Path) -> bool:
    """Say whether a hook's file belongs to the repository's content, so that renaming it would change the work tree."""
    if session.bare or not path.is_relative_to(session.root):
        return False
    return bool(session.git("ls-files", "--", str(path.relative_to(session.root))))


def _hook(session: Session, folder: Path, stage: str, *, probe: bool) -> Hook:
    path = folder / stage
    kind, active = _kind(path, stage), False
    behind = path.with_name(stage + LEGACY)
    if kind == "foreign" and _kind(behind, stage) in ("ours", "outdated"):
        # The pre-commit framework came after us and runs us first. Asking git would run all of its hooks.
        path, kind, active = behind, _kind(behind, stage), os.access(path, os.X_OK)
    elif kind in ("ours", "outdated"):
        active = probe and _answers(session.git, stage)
    return Hook(stage, path, kind, os.path.lexists(_chained(path)), active)


def _answers(git: Git, stage: str) -> bool:
    """Say whether git, asked to run the hook, runs ours and it finds its Python."""
    result = git.act("hook", "run", stage, env={VARIABLE: "1"})
    return result.code == EXIT and answer(__version__, stage) in decode(result.stderr).splitlines()


def _kind(path: Path, stage: str) -> Kind:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return "foreign" if path.is_symlink() else "absent"
    except OSError:
        return "foreign"
    body, mark, _ = data.rpartition(_SEAL)
    if not mark or path.is_symlink():
        return "foreign"
    if data != _sealed(body):
        return "edited"
    return "ours" if data == shim(stage) and os.access(path, os.X_OK) else "outdated"


def _sealed(body: bytes) -> bytes:
    """Return a shim with the digest of its text as the last line: by it, every byte is known to be ours."""
    return body + _SEAL + hashlib.sha256(body).hexdigest().encode() + b"\n"


def _template() -> str:
    """Return the text of the shim: in a wheel beside the package, in a source tree in its own folder."""
    packaged = files("git_afd") / "shims" / "shim.sh"
    source = Path(str(files("git_afd"))).parent / "hooks" / "shim.sh"
    try:
        return packaged.read_text(encoding="utf-8") if packaged.is_file() else source.read_text(encoding="utf-8")
    except OSError as error:
        raise EnvironmentFault("git-afd was installed without its hooks", "install git-afd again") from error


def _chained(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(LEGACY) + CHAINED)


def _refuse_edited(hook: Hook) -> None:
    if hook.kind == "edited":
        raise Refused(
            f"{hook.path} is git-afd's hook with changes that are not",
            f"move what was added to {_chained(hook.path)} and delete {hook.path}",
            code="hook-edited",
        )


def _keep(hook: Hook) -> None:
    """Give the user's hook a second name; its place is taken over in one step, so that it is never without a hook."""
    kept = _chained(hook.path)
    try:
        os.link(hook.path, kept, follow_symlinks=False)
    except FileExistsError:
        raise Refused(
            f"{hook.path} is not git-afd's, and {kept.name} keeps another hook already",
            f"join the two into {kept} and delete {hook.path}",
            code="hook-twice",
        ) from None
    except OSError:  # a file system without hard links
        hook.path.rename(kept)


def _write(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o777 & ~mask | stat.S_IXUSR)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise EnvironmentFault(f"{path} cannot be written: {error.strerror}", "check the permissions") from error
