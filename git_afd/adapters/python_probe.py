"""What an interpreter and its packages say of themselves, without importing any of them.

The target runtime has an interpreter of its own, so it is asked in a process of its own. A version string is
the weakest evidence; the distribution's direct_url data and the commit of the folder that an import would
read say more (domain: who says which version).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from git_afd.adapters.asking import asked
from git_afd.adapters.git import Git
from git_afd.core.outcome import Json
from git_afd.errors import EnvironmentFault

PACKAGES: Final = {
    "torch": "torch",
    "torch-npu": "torch_npu",
    "vllm": "vllm",
    "vllm-ascend": "vllm_ascend",
    "triton-ascend": "triton",
    "transformers": "transformers",
    "lm-eval": "lm_eval",
    "vllm-afd-plugin": "afd_plugin",
}
"""Distributions that decide a run, and the module each is imported as."""

_MARK: Final = "git-afd-probe:"
_TIMEOUT_S: Final = 60.0
_SCRIPT: Final = """
import importlib.metadata as metadata, importlib.util as util, json, os, platform, sys
found = {}
for name, module in json.loads(sys.argv[1]).items():
    entry = {}
    try:
        distribution = metadata.distribution(name)
        entry["version"] = distribution.version
        entry["direct_url"] = json.loads(distribution.read_text("direct_url.json") or "null")
    except metadata.PackageNotFoundError:
        pass
    except Exception as error:  # a package above the module is imported, whose code may raise anything; it is told
        entry["fault"] = repr(error)[:200]
    try:
        spec = util.find_spec(module)
        if spec is not None and spec.origin and os.path.isabs(spec.origin):
            entry["origin"] = os.path.realpath(spec.origin)
    except Exception as error:  # a package above the module is imported, whose code may raise anything; it is told
        entry["fault"] = repr(error)[:200]
    found[name] = entry
print("\\n%s" + json.dumps({"executable": sys.executable, "version": platform.python_version(), "packages": found}))
"""


_FIND: Final = """
import importlib.util as util, json, sys
found = []
for name in json.loads(sys.argv[1]):
    try:
        found.append(util.find_spec(name) is not None)
    except Exception:  # a package above the module is imported, whose code may raise anything: then nothing is found
        found.append(False)
print("\\n%s" + json.dumps({"found": found}))
"""


def missing_modules(python: str, modules: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return which of `modules` the interpreter cannot find, started in `cwd` with `env`; all when it does not answer.

    Nothing is imported but the packages that a dotted name stands below.
    """
    if not modules:
        return ()
    try:
        said = _ask(python, _FIND, list(modules), cwd, env)
    except EnvironmentFault:
        said = {}
    found: Sequence[Json] = said.get("found") or [False] * len(modules)
    return tuple(name for name, there in zip(modules, found, strict=True) if not there)


def probe_python(
    python: str, *, cwd: Path, env: Mapping[str, str], packages: Mapping[str, str] = PACKAGES
) -> dict[str, Json]:
    """Ask `python` (a path or a name on PATH) about itself and `packages`, started in `cwd` with `env`.

    Returns ``state`` (``present``, ``absent`` or ``unknown``), ``executable``, ``version`` and ``packages``: by
    name either ``"absent"`` or version, commit, url, editable, location and source_commit, each of them
    ``"absent"`` when nobody says it.
    """
    try:
        said = _ask(python, _SCRIPT, dict(packages), cwd, env)
    except EnvironmentFault as fault:
        return {"state": "absent", "reason": fault.message}
    if not said:
        return {"state": "unknown", "reason": f"{python} did not answer"}
    entries = said["packages"]
    return {
        "state": "present",
        "executable": said["executable"],
        "version": said["version"],
        "packages": {name: _package(entry) for name, entry in entries.items()},
    }


def _ask(python: str, script: str, about: Json, cwd: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """Run one of our scripts with `about` as JSON; return what it prints behind the mark, empty without an answer."""
    done, text = asked([python, "-c", script % _MARK, json.dumps(about)], cwd=cwd, env=env, timeout_s=_TIMEOUT_S)
    lines = [line for line in text.splitlines() if line.startswith(_MARK)]
    if not done.succeeded or not lines:
        return {}
    said: dict[str, Any] = json.loads(lines[-1].removeprefix(_MARK))
    return said


def _package(entry: Json) -> Json:
    """Turn what the interpreter said of one package into what is recorded."""
    if not isinstance(entry, dict) or not entry:
        return "absent"
    direct = entry.get("direct_url")
    direct = direct if isinstance(direct, dict) else {}
    origin = entry.get("origin")
    recorded: dict[str, Json] = {
        "version": entry.get("version", "absent"),
        "commit": _nested(direct, "vcs_info", "commit_id") or "absent",
        "url": bare_url(str(direct.get("url", ""))) or "absent",
        "editable": bool(_nested(direct, "dir_info", "editable")),
        "location": origin or "absent",
        "source_commit": _source_commit(Path(origin)) if isinstance(origin, str) else "absent",
    }
    if "fault" in entry:
        recorded["fault"] = entry["fault"]
    return recorded


def _nested(body: Mapping[str, Json], first: str, second: str) -> Json:
    inner = body.get(first)
    return inner.get(second) if isinstance(inner, dict) else None


def bare_url(url: str) -> str:
    """Return a URL without user, password, query and fragment: any of them may hold a token."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _source_commit(origin: Path) -> str:
    """Return HEAD of the repository that tracks this very file; an ignored environment inside one tells nothing."""
    if not origin.parent.is_dir():
        return "absent"
    git = Git(origin.parent)
    if not git.run("ls-files", "--error-unmatch", "--", origin.name).ok:
        return "absent"
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD")
    return head.text if head.ok else "absent"
