"""What every test builds with: a callable repository, upstreams from a folder per tag, the command line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def write_programs(folder: Path) -> Path:
    """Put `git-afd` and `git-afd-hook` into `folder`: this interpreter, this tree, no installation needed."""
    for name, entry in (("git-afd", "git_afd.cli.entry:main"), ("git-afd-hook", "git_afd.hook:console")):
        module, function = entry.split(":")
        program = folder / name
        program.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
            f"from {module} import {function}\nsys.exit({function}())\n"
        )
        program.chmod(0o755)
    return folder


def call(args: list[str], directory: Path) -> Done:
    """Run `git-afd` inside this process: for tables whose rows are about rules, not about processes."""
    from git_afd.cli.entry import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        before = Path.cwd()
        os.chdir(directory)
        try:
            code = main(args)
        finally:
            os.chdir(before)
    return Done(code, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Done:
    """What a finished program said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one document on stdout."""
        document: dict[str, Any] = json.loads(self.out)
        return document

    def ok(self) -> Done:
        """This result, which must be exit 0."""
        assert self.code == 0, f"exit {self.code}\n{self.out}\n{self.err}"
        return self


def run(
    args: list[str] | str,
    cwd: Path,
    *,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> Done:
    """Run a program to its end, with the sealed environment plus `env`; no terminal, closed input by default."""
    argv = shlex.split(args) if isinstance(args, str) else args
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        argv,
        cwd=cwd,
        input=data,
        stdin=subprocess.DEVNULL if data is None else None,
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="replace"))


class Repo:
    """A work tree that is called: ``repo("git tag v1")`` runs, insists on exit 0 and returns stripped stdout."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, args: list[str] | str, **kwargs: Any) -> str:
        return self.run(args, **kwargs).ok().out.strip()

    def run(self, args: list[str] | str, **kwargs: Any) -> Done:
        """Run any program here; its exit code is the caller's business."""
        return run(args, self.path, **kwargs)

    def afd(self, args: list[str] | str, **kwargs: Any) -> Done:
        """Run `git-afd` here."""
        argv = shlex.split(args) if isinstance(args, str) else args
        return run(["git-afd", *argv], self.path, **kwargs)

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file below the root, with its folders."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def commit(self, message: str = "change", files: Mapping[str, str | bytes] | None = None) -> str:
        """Write `files`, stage everything, commit past all hooks; returns the full commit id."""
        for name, text in (files or {}).items():
            self.write(name, text)
        self("git add -A")
        self(["git", "commit", "-q", "--no-verify", "--allow-empty", "-m", message])
        return self.head

    @property
    def head(self) -> str:
        """The full commit id of HEAD."""
        return self("git rev-parse HEAD")


class Kit:
    """Makes repositories below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def repo(self, name: str, *options: str) -> Repo:
        """Make an empty repository on `main`."""
        path = self.folder / name
        path.mkdir(parents=True)
        repo = Repo(path)
        repo(["git", "init", "-q", "-b", "main", *options])
        return repo

    def upstream(self, name: str, tags: Mapping[str, Mapping[str, str | bytes]]) -> Repo:
        """Make a repository with one commit and one annotated tag per entry; each entry is the whole tree."""
        repo = self.repo(name)
        for tag, files in tags.items():
            for old in list(repo.path.rglob("*")):
                if ".git" not in old.parts and old.is_file():
                    old.unlink()
            repo.commit(tag, files)
            repo(["git", "tag", "-a", tag, "-m", tag])
        return repo


def folder_tree(folder: Path) -> dict[str, bytes]:
    """Read every file below `folder`, for :meth:`Kit.upstream`."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
