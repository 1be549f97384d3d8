"""The one door to the git program.

Every call is checked, speaks bytes, takes paths literally and asks for nothing on the terminal. A door is
bound to one directory; the variables that tie a child to another repository never pass through it
(``git rev-parse --local-env-vars``), and the user's configuration cannot change what is parsed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from git_afd.adapters.signal_forwarding import Forwarding
from git_afd.core.git_environment import without_repository
from git_afd.errors import Blocked, EnvironmentFault

# What would otherwise change parsed output or write behind a read's back.
_STEADY: Final = (
    "color.ui=false",
    "core.quotePath=false",
    "log.showSignature=false",
    "core.fsmonitor=false",
    "core.untrackedCache=keep",
    "core.trustctime=true",
    "core.checkStat=default",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.ignoreSubmodules=none",
    "status.branch=false",
    "status.short=false",
    "status.submoduleSummary=false",
    "status.relativePaths=true",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)


@dataclass(frozen=True, slots=True)
class GitResult:
    """What a git call printed and its exit code."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def ok(self) -> bool:
        """Whether git exited 0."""
        return self.code == 0

    @property
    def text(self) -> str:
        """Standard output, one final line break removed; bytes that are no UTF-8 survive a round trip."""
        return decode(self.stdout).removesuffix("\n")

    @property
    def reason(self) -> str:
        """The last line that git wrote to standard error, without its ``fatal:`` or ``error:``."""
        lines = [line for line in decode(self.stderr).splitlines() if line.strip()]
        return lines[-1].removeprefix("fatal: ").removeprefix("error: ") if lines else f"exit code {self.code}"

    def fields(self) -> list[str]:
        """Return standard output of a ``-z`` call, split at NUL bytes."""
        return [decode(item) for item in self.stdout.split(b"\0") if item]


def decode(data: bytes) -> str:
    """Return `data` as text; a path that is no UTF-8 keeps its bytes (surrogateescape)."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Undo :func:`decode`."""
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Git:
    """git, bound to a directory.

    `place` are global options that locate the repository when the directory alone does not (an inherited
    ``GIT_DIR`` with a separate work tree); `config` are extra ``-c`` settings of every call; `env` are
    extra variables of every call.
    """

    cwd: Path
    place: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    def run(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002 - subprocess's own word for it
        env: Mapping[str, str] | None = None,
        locks: bool = False,
        config: Sequence[str] = (),
    ) -> GitResult:
        """Run ``git ARGS`` and return what it said, whatever its exit code.

        `locks` is for calls that mean to write: reads must not refresh the index (``GIT_OPTIONAL_LOCKS``).
        Raises EnvironmentFault when git cannot be started.
        """
        argv = ["git", *self.place, *_settings((*_STEADY, *self.config, *config)), *args]
        try:
            done = subprocess.run(
                argv,
                cwd=self.cwd,
                env=self.environment(env, locks=locks),
                input=input,
                stdin=subprocess.DEVNULL if input is None else None,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError as error:
            if not self.cwd.is_dir():
                raise EnvironmentFault(f"{self.cwd} is not a directory", "name an existing one with -C") from error
            raise EnvironmentFault("git is not installed or not on PATH", "install git 2.39 or later") from error
        except (NotADirectoryError, PermissionError) as error:
            raise EnvironmentFault(f"{self.cwd} cannot be entered: {error.strerror}", "check the path") from error
        return GitResult(done.returncode, done.stdout, done.stderr)

    def __call__(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002 - as in run
        env: Mapping[str, str] | None = None,
        locks: bool = False,
        config: Sequence[str] = (),
    ) -> str:
        """Run ``git ARGS``, insist on exit 0, return its text. Raises EnvironmentFault otherwise."""
        result = self.run(*args, input=input, env=env, locks=locks, config=config)
        if not result.ok:
            raise git_fault(result, args, self.cwd)
        return result.text

    def environment(self, extra: Mapping[str, str] | None = None, *, locks: bool = False) -> dict[str, str]:
        """Return the environment of every git child: nothing inherited that locates a repository."""
        steady = {
            "LC_ALL": "C.UTF-8",
            "LANGUAGE": "",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_OPTIONAL_LOCKS": "1" if locks else "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_PAGER": "cat",
        }
        dropped = ("GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_TRACE", "GIT_TRACE2", "GIT_NOTES_REF")
        inherited = {name: value for name, value in without_repository(os.environ).items() if name not in dropped}
        return {**inherited, **steady, **self.env, **(extra or {})}

    def act(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002 - as in run
        env: Mapping[str, str] | None = None,
        signals: Forwarding | None = None,
    ) -> GitResult:
        """Run ``git ARGS`` as the user would: own settings, own language, own hooks, literal pathspecs not forced.

        For what makes commits. What the steady settings of :meth:`run` say would reach the user's hooks as
        environment, and a hook that lists ``*.py`` would then list nothing. With `signals`, everything that git
        and the hooks print goes to our standard error as it comes, and a signal that reaches us is handed on and
        waited for: killing git in the middle of a hook would leave its locks behind.
        """
        argv = ["git", *self.place, *_settings(self.config), *args]
        stdin, shown = subprocess.DEVNULL if input is None else subprocess.PIPE, signals is not None
        with subprocess.Popen(
            argv,
            cwd=self.cwd,
            env=self._users_own(env),
            stdin=stdin,
            stdout=sys.__stderr__ if shown else subprocess.PIPE,
            stderr=None if shown else subprocess.PIPE,
        ) as child:
            if signals is not None:
                signals.attach(child.pid)
            try:
                out, err = child.communicate(input)
            finally:
                if signals is not None:
                    signals.detach()
        return GitResult(child.returncode, out or b"", err or b"")

    def _users_own(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        """Return the environment of a git that acts for the user: nothing of :meth:`environment` is forced on it."""
        steady = self.environment(extra, locks=True)
        forced = (
            "LC_ALL",
            "LANGUAGE",
            "GIT_LITERAL_PATHSPECS",
            "GIT_OPTIONAL_LOCKS",
            "GIT_NO_REPLACE_OBJECTS",
            "GIT_PAGER",
        )
        own = {name: os.environ[name] for name in forced if name in os.environ}
        return {**{name: value for name, value in steady.items() if name not in forced}, **own}

    def at(self, directory: Path) -> Git:
        """Return a door to another repository: this one's location and settings stay behind."""
        return Git(directory)


def _settings(values: Iterable[str]) -> list[str]:
    return [word for value in values for word in ("-c", value)]


def git_fault(result: GitResult, args: Sequence[str], cwd: Path) -> EnvironmentFault | Blocked:
    """Turn a failed call into the sentence that a person can act on."""
    text = decode(result.stderr)
    if "dubious ownership" in text:
        line = next((row.strip() for row in text.splitlines() if "safe.directory" in row), "")
        return EnvironmentFault(f"git refuses {cwd}: it belongs to another user", line or "git config safe.directory")
    if "promisor" in text or "missing blob" in text:
        return Blocked(f"git lacks objects that it needs in {cwd}: {result.reason}", "fetch them, then run again")
    words = " ".join(args[:2])
    return EnvironmentFault(f"git {words} failed in {cwd}: {result.reason}", "run it by hand there to see more")
