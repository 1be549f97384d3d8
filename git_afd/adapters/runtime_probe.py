"""Looks at the target runtime: what its interpreter would import, and which commit stands there. Judges nothing.

The answer is a raw file, kept as the artifact ``runtime/identity.json``; `git_afd.core.evidence.runtime_identity`
judges it, after the run and again whenever somebody asks.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from git_afd.adapters.asking import asked
from git_afd.adapters.git import Git
from git_afd.adapters.python_probe import bare_url
from git_afd.adapters.tidiness import untidy
from git_afd.core.evidence import registration, runtime_facts
from git_afd.core.git_objects import GitObject
from git_afd.core.names import PACKAGES
from git_afd.core.outcome import Json
from git_afd.core.records import canonical
from git_afd.core.runtime_rule import RuntimeRule
from git_afd.errors import EnvironmentFault

_MARK: Final = "git-afd-probe:"
_TIMEOUT_S: Final = 60.0
_LOADING_S: Final = 600.0
"""How long loading the plugin may take: it imports torch and vLLM."""

_PATHS_KEPT: Final = 50
_IMPORTABLE: Final = (".py", ".pth")
_SHA1: Final = 20
"""Bytes of an upstream's object ids."""


def probe_runtime(python: str, *, cwd: Path, env: Mapping[str, str]) -> bytes:
    """Ask `python` (a path or a name on PATH), started in `cwd` with `env`, which upstream code it would import.

    Imports nothing of it. Where the code stands in a checkout its commit and cleanliness are read, else the blob
    ids of the package's Python files. Returns the raw file; an interpreter that is not there, or does not answer,
    is a fact in it. Raises only KeyboardInterrupt, when this program was told to stop meanwhile.
    """
    said, reason = ask_inside("identity", [json.dumps(dict(PACKAGES))], python=python, cwd=cwd, env=env)
    body: dict[str, Json] = {"schema": runtime_facts.SCHEMA, "python": python, "reason": reason, **said}
    packages = said.get("packages", {})
    body["packages"] = {name: _package(entry) for name, entry in packages.items()}
    return canonical(body).encode()


def probe_registration(python: str, rule: RuntimeRule, *, root: Path, env: Mapping[str, str]) -> bytes:
    """Let `python` import the plugin and load its entry point, as a server would; it is called where vLLM is.

    It starts in an empty folder: only what is installed (or on PYTHONPATH) is found, and the tree under test, `root`,
    only when that is what is installed. Returns the raw file; whatever goes wrong is a fact in it. Raises only
    KeyboardInterrupt.
    """
    asked = {"package": rule.package, "group": rule.group, "entry": rule.entry, "runtime": PACKAGES["vllm"]}
    with tempfile.TemporaryDirectory() as folder:
        words = [json.dumps(asked)]
        said, reason = ask_inside("registration", words, python=python, cwd=Path(folder), env=env, timeout_s=_LOADING_S)
    body: dict[str, Json] = {
        "runtime": False,
        **_placed(said),
        "schema": registration.SCHEMA,
        "python": python,
        "reason": reason,
        "root": str(root.resolve()),
        "entries": [_placed(entry) for entry in said.get("entries", ())],
    }
    return canonical(body).encode()


def _placed(said: Mapping[str, Any]) -> dict[str, Json]:
    """Return what was said of some code, and the checkout that it stands in."""
    origin = said.get("origin")
    return {**said, "checkout": _standing(Path(origin), contents=False).get("checkout", {}) if origin else {}}


def ask_inside(
    program: str, words: Sequence[str], *, python: str, cwd: Path, env: Mapping[str, str], timeout_s: float = _TIMEOUT_S
) -> tuple[dict[str, Any], str]:
    """Run a program of `git_afd.adapters.inside` by `python` and return what it says, else why it says nothing.

    It is handed over as text (``-c``), so that the folder it starts in is importable exactly as for ``-m pytest``.
    """
    text = Path(__file__).with_name("inside").joinpath(f"{program}.py").read_text(encoding="utf-8")
    try:
        done, said = asked([python, "-c", text, _MARK, *words], cwd=cwd, env=env, timeout_s=timeout_s)
    except EnvironmentFault as fault:
        return {}, fault.message
    lines = said.splitlines()
    answer = next((line.removeprefix(_MARK) for line in reversed(lines) if line.startswith(_MARK)), "")
    if done.succeeded and answer:
        return dict(json.loads(answer)), ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
    how = "did not answer in time" if done.timed_out else f"did not answer (exit code {done.exit_code})"
    return {}, f"{python} {how}; it said: {last[:160]}"


def _package(entry: Mapping[str, Any]) -> Json:
    """Return what is recorded of one package: what the interpreter said, and what stands where it would import."""
    origin = Path(entry["origin"]) if entry.get("origin") else None
    found = _standing(origin) if origin else {}
    return {
        "module": entry["module"],
        "fault": entry.get("fault", ""),
        "origin": entry.get("origin", ""),
        "namespace": entry.get("namespace", []),
        "elsewhere": entry.get("elsewhere", []),
        "distributions": [_distribution(one) for one in entry.get("distributions", ())],
        "checkout": found.get("checkout", {}),
        "contents": found.get("contents", {}),
    }


def _distribution(said: Mapping[str, Any]) -> Json:
    direct = said.get("direct_url")
    direct = direct if isinstance(direct, dict) else {}
    vcs, folder = (_table(direct.get(name)) for name in ("vcs_info", "dir_info"))
    return {
        "version": str(said.get("version") or ""),
        "place": said["place"],
        "commit": str(vcs.get("commit_id") or ""),
        "url": bare_url(str(direct.get("url") or "")),
        "editable": bool(folder.get("editable")),
        "fault": said.get("fault", ""),
    }


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _standing(origin: Path, *, contents: bool = True) -> dict[str, Json]:
    """Return the checkout that tracks `origin`, or the contents of its package when none does."""
    git = Git(origin.parent)
    top = git.run("rev-parse", "--show-toplevel")
    if not top.ok and b"not a git repository" not in top.stderr:
        return {"checkout": {"root": str(origin.parent), "commit": "", "fault": top.reason}}
    if top.ok and git.run("ls-files", "--error-unmatch", "--", origin.name).ok:
        return {"checkout": _checkout(Path(top.text), origin)}
    return {"contents": dict(_contents(origin))} if contents else {}


def _checkout(root: Path, origin: Path) -> dict[str, Json]:
    git = Git(root)
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    try:
        found = untidy(git)
    except EnvironmentFault as fault:
        return {"root": str(root), "commit": head.text, "fault": fault.message}
    package = f"{origin.parent.relative_to(root).as_posix()}/"
    built = [item.path for item in found if item.how == "ignored" and _is_source(item.path, package)]
    changed = [f"{item.path} ({item.how})" for item in found if item.how != "ignored"]
    return {
        "root": str(root),
        "commit": head.text if head.ok else "",
        "dirty": changed[:_PATHS_KEPT],
        "ignored": built[:_PATHS_KEPT],
        "fault": "",
    }


def _is_source(path: str, package: str) -> bool:
    return path.startswith(package) and path.endswith(_IMPORTABLE)


def _contents(origin: Path) -> Iterator[tuple[str, str]]:
    """Yield the package's Python files as paths from the folder above it, each with the blob id git would give it."""
    above, files = (origin.parent, [origin])
    if origin.name == "__init__.py":
        above, files = origin.parent.parent, sorted(origin.parent.rglob("*.py"))
    for path in files:
        yield path.relative_to(above).as_posix(), _blob(path)


def _blob(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return GitObject("blob", data, _SHA1).id
