"""Which vLLM a runtime would import: raw facts from real interpreters, and a pure judgement of every case."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kit import Repo

from git_afd.adapters.runtime_probe import probe_runtime
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.runtime_facts import Checkout, Distribution, Installed, Runtime, parse_runtime
from git_afd.core.evidence.runtime_identity import Proof, judge_runtime

WANTED = "a" * 40
OTHER = "b" * 40
SITE = "/site/vllm/__init__.py"
FILES = {"vllm/__init__.py": "1", "vllm/engine.py": "2", "vllm/v1/__init__.py": "3", "vllm/data/table.py": "4"}
ASCEND = Installed("/src/ascend/vllm_ascend/__init__.py", checkout=Checkout("/src/ascend", WANTED))


def checkout(commit: str = WANTED, *dirty: str, fault: str = "", **more: Distribution) -> Installed:
    at = Checkout("/src", commit, dirty, (), fault)
    return Installed("/src/vllm/__init__.py", checkout=at, distributions=tuple(more.values()))


def copied(files: dict[str, str] | None, *distributions: Distribution) -> Installed:
    return Installed(SITE, contents=files, distributions=distributions)


def version(text: str, commit: str = "") -> Distribution:
    return Distribution(text, "/site", commit)


def proof(found: Installed, files: dict[str, str] | None = FILES) -> Proof:
    runtime = Runtime("python", "", "/bin/python", "3.12.1", None, {"vllm": found, "vllm-ascend": ASCEND})
    verdict = judge_runtime(runtime, {"vllm": WANTED, "vllm-ascend": WANTED}, {"vllm": files})
    assert verdict.proofs[1].word == "proven"
    assert verdict.proven == (verdict.proofs[0].word == "proven")
    return verdict.proofs[0]


VERDICTS = [
    # a clean checkout at the frozen commit proves it, whatever an old version string says
    (checkout(), "proven", "a clean checkout at /src"),
    (checkout(a=version("0.1.dev1+gbbbbbbb")), "proven", "a clean checkout"),
    (checkout(a=version("0.22.0+empty"), b=version("0.22.0+empty")), "proven", "a clean checkout"),
    # another commit, or code that no commit holds
    (checkout(OTHER), "other", "at commit bbbbbbbbbbbb; the frozen target is aaaaaaaaaaaa"),
    (checkout(OTHER, a=version("0.22.0", WANTED)), "other", "at commit bbbbbbbbbbbb"),
    (checkout(WANTED, "vllm/engine.py (changed)"), "other", "which is not its commit: vllm/engine.py (changed)"),
    # built from another commit than the one that is checked out now: its extensions are not the frozen ones
    (checkout(a=version("0.22.0", OTHER)), "unknown", "was installed (and built) from bbbbbbbbbbbb"),
    (checkout("", fault="dubious ownership"), "unknown", "cannot be told: dubious ownership"),
    # an installed copy: its files decide; a wheel leaves out folders that are no packages, and adds its version
    (copied(FILES), "proven", "holds exactly the files of aaaaaaaaaaaa"),
    (copied({**FILES, "vllm/_version.py": "9"}), "proven", "holds exactly"),
    (copied({k: v for k, v in FILES.items() if "data" not in k}), "proven", "holds exactly"),
    (copied({**FILES, "vllm/engine.py": "x"}, version("0.22.0")), "other", "aaaaaaaaaaaa: vllm/engine.py"),
    (copied({**FILES, "vllm/engine.py": "x"}, version("0.22.0", WANTED)), "other", "vllm/engine.py"),
    (copied({k: v for k, v in FILES.items() if "v1" not in k}), "other", "vllm/v1/__init__.py (absent)"),
    (copied({**FILES, "vllm/new.py": "9"}), "unknown", "files that the frozen target does not: vllm/new.py"),
    (copied({**FILES, "vllm/new.py": "9"}, version("0.22.0", WANTED)), "proven", "holds exactly"),
    (copied(FILES, version("0.22.0", OTHER)), "other", "was installed from commit bbbbbbbbbbbb"),
    # a module file of that name in front of the package
    (replace(copied({"vllm.py": "9"}), elsewhere=("/real/vllm/__init__.py",)), "other", "vllm/__init__.py (absent)"),
    (Installed("", namespace=("/here/vllm",)), "unknown", "a namespace package from /here/vllm"),
    (Installed(""), "absent", "vllm is absent in python"),
    (Installed("", distributions=(version("0.22.0"),)), "absent", "though 0.22.0 is installed in /site"),
    (Installed("", fault="RuntimeError('finder')"), "unknown", "cannot be told: RuntimeError('finder')"),
]


@pytest.mark.parametrize(("found", "word", "text"), VERDICTS)
def test_only_the_frozen_commit_itself_is_proven(found: Installed, word: str, text: str) -> None:
    said = proof(found)
    assert (said.word, text in said.why) == (word, True), said.why


# Without the frozen commit's files at hand, only pip's own record of the commit speaks for an installed copy.
UNREADABLE = [
    (copied(FILES, version("0.22.0", WANTED)), "proven"),
    (copied(FILES, version("0.22.0")), "unknown"),  # the same version string at any commit
    (copied(FILES, version("0.1.dev1+gaaaaaaa")), "unknown"),  # a version never speaks for a commit
    (copied(FILES, version("0.1.dev1+gbbbbbbb.d20260801")), "other"),  # it may speak against it
    (copied(FILES), "unknown"),
]


@pytest.mark.parametrize(("found", "word"), UNREADABLE)
def test_a_version_string_never_proves_a_commit(found: Installed, word: str) -> None:
    assert proof(found, None).word == word


NOTES = [
    (replace(checkout(), elsewhere=("/site/vllm/__init__.py",)), "stands elsewhere on the path too"),
    (checkout(a=version("1"), b=version("2")), "2 distributions are called vllm: 1 in /site, 2 in /site"),
    (checkout(), "its entry points are not"),
    (checkout(a=version("0.1.dev1+gbbbbbbb")), "of another commit"),
    (checkout(a=replace(version("1"), fault="no JSON")), "cannot be read: no JSON"),
    (Installed("/src/x", checkout=Checkout("/src", WANTED, (), ("vllm/evil.py",))), "git ignores: vllm/evil.py"),
]


@pytest.mark.parametrize(("found", "text"), NOTES)
def test_what_a_reader_should_know_besides_is_noted_and_decides_nothing(found: Installed, text: str) -> None:
    said = proof(found)
    assert said.word == "proven"
    assert text in "; ".join(said.notes)


def test_the_variable_that_overrides_vllms_version_check_is_recorded() -> None:
    packages = {"vllm": checkout(), "vllm-ascend": ASCEND}
    runtime = Runtime("python", "", "/bin/python", "3.12.1", "0.22.0", packages)
    verdict = judge_runtime(runtime, {"vllm": WANTED, "vllm-ascend": WANTED}, {})
    assert (verdict.status, verdict.override) == ("PASS", "0.22.0")
    assert [one.message for one in verdict.findings if one.code == "version-override"] == [
        "VLLM_VERSION=0.22.0 is set, which overrides vLLM's own version check"
    ]


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"\xff", b'{"schema": "git-afd/runtime-identity/1"}', b"[" * 100_000],
)
def test_raw_facts_that_cannot_be_read_block(data: bytes) -> None:
    with pytest.raises(EvidenceFault, match=r"runtime/identity\.json"):
        parse_runtime(data)


BOOM = "raise RuntimeError('imported')\n"  # nothing may be imported to be asked


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("upstream"))
    repo("git init -q -b main")
    repo.commit("one", {"vllm/__init__.py": BOOM, "vllm/engine.py": "ONE = 1\n", "vllm_ascend/__init__.py": BOOM})
    repo.commit("two", {"vllm/engine.py": "TWO = 2\n", ".gitignore": "site/\n*.so\n"})
    repo.write("vllm/_C.so", b"built")
    return repo


def installed(site: Path, name: str, text: str, direct_url: object = None) -> Path:
    """Lay out a distribution's metadata as pip does; returns the folder it is in."""
    folder = site / f"{name.replace('-', '_')}-{text}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {text}\n")
    if direct_url is not None:
        (folder / "direct_url.json").write_text(json.dumps(direct_url))
    return site


def editable(site: Path, target: Path) -> Path:
    """Make `site` import `vllm` from `target` the way an editable install does: by a finder from a .pth file."""
    finder = (
        "import sys, importlib.util as u\nclass F:\n @classmethod\n def find_spec(cls, name, path=None, target=None):\n"
        f"  return u.spec_from_file_location(name, {str(target / 'vllm/__init__.py')!r}, "
        f"submodule_search_locations=[{str(target / 'vllm')!r}]) if name == 'vllm' else None\n"
        "sys.meta_path.append(F)\n"
    )
    (site / "_vllm_finder.py").write_text(finder)
    (site / "sitecustomize.py").write_text("import _vllm_finder\n")
    return site


def copy_of(repo: Repo, site: Path, commit: str) -> Path:
    repo(["git", "--work-tree", str(site), "checkout", "-q", commit, "--", "vllm", "vllm_ascend"])
    repo("git read-tree HEAD")
    return site


def on_path(_: Path, repo: Repo) -> tuple[Path, ...]:
    return (repo.path,)


def metadata_only(site: Path, _: Repo) -> tuple[Path, ...]:
    return (installed(site, "vllm", "0.22.0"),)


def shadow(site: Path, repo: Repo) -> tuple[Path, ...]:
    (site / "vllm").mkdir()
    (site / "vllm/__init__.py").write_text("")
    return site, repo.path


def folder_only(site: Path, repo: Repo) -> tuple[Path, ...]:
    (site / "vllm").mkdir()
    return (editable(site, repo.path),)


def by_pip(site: Path, repo: Repo) -> tuple[Path, ...]:
    direct = {"url": "https://me:secret@example.org/vllm.git?token=1", "vcs_info": {"commit_id": repo.head}}
    return (installed(copy_of(repo, site, "HEAD"), "vllm", "0.22.0", direct),)


def twice(site: Path, repo: Repo) -> tuple[Path, ...]:
    direct = {"url": f"file://{repo.path}", "dir_info": {"editable": True}}
    return installed(editable(site, repo.path), "vllm", "0.22.0+empty", direct), installed(site / "b", "vllm", "0.1")


# how it is installed, the word, what is said
INSTALLS: list[tuple[Callable[[Path, Repo], tuple[Path, ...]], str, str]] = [
    (on_path, "proven", "a clean checkout at"),
    (lambda site, repo: (editable(site, repo.path),), "proven", "a clean checkout at"),
    (twice, "proven", "2 distributions are called vllm"),
    (lambda site, repo: (copy_of(repo, site, "HEAD"),), "proven", "holds exactly the files"),
    (lambda site, repo: (copy_of(repo, site, "HEAD~"),), "other", "vllm/engine.py"),
    (by_pip, "proven", "holds exactly the files"),
    (shadow, "other", "is not the frozen target"),
    (folder_only, "unknown", "a namespace package from"),  # a plain folder wins over an editable install
    (metadata_only, "absent", "though 0.22.0 is installed in"),
]


@pytest.mark.parametrize(("install", "word", "text"), INSTALLS)
def test_a_real_interpreter_says_what_it_would_import(
    upstream: Repo, tmp_path: Path, install: Callable[[Path, Repo], tuple[Path, ...]], word: str, text: str
) -> None:
    site = upstream.path / "site" / tmp_path.name  # below the repository, ignored by it: its HEAD says nothing
    site.mkdir(parents=True)
    path = os.pathsep.join(map(str, install(site, upstream)))
    data = probe_runtime(sys.executable, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})
    runtime = parse_runtime(data)
    listed = upstream("git ls-tree -r HEAD vllm").splitlines()
    files = {line.split("\t")[1]: line.split()[2] for line in listed}
    verdict = judge_runtime(runtime, {"vllm": upstream.head, "vllm-ascend": upstream.head}, {"vllm": files})
    said = verdict.proofs[0]
    assert (said.word, text in "; ".join((said.why, *said.notes))) == (word, True), said
    assert b"secret" not in data
    assert b"token" not in data


def test_a_dirty_checkout_is_named_and_built_files_are_not(repo: Repo, tmp_path: Path) -> None:
    repo.commit("one", {"vllm/__init__.py": "", "vllm/engine.py": "", ".gitignore": "*.so\n"})
    repo.write("vllm/_C.so", b"built")
    env = {**os.environ, "PYTHONPATH": str(repo.path)}
    wanted = {"vllm": repo.head, "vllm-ascend": repo.head}
    clean = judge_runtime(parse_runtime(probe_runtime(sys.executable, cwd=tmp_path, env=env)), wanted, {})
    repo.write("vllm/engine.py", "MORE = 1\n")
    repo.write("vllm/extra.py", "")
    dirty = judge_runtime(parse_runtime(probe_runtime(sys.executable, cwd=tmp_path, env=env)), wanted, {})
    assert (clean.proofs[0].word, dirty.proofs[0].word) == ("proven", "other")
    assert "vllm/engine.py (changed), vllm/extra.py (untracked)" in dirty.proofs[0].why
    assert clean.proofs[1].word == "absent"


SILENT = [
    ("no-such-python-afd", "no-such-python-afd could not be started"),
    ("/bin/false", "/bin/false did not answer (exit code 1); it said: nothing"),
]


@pytest.mark.parametrize(("python", "text"), SILENT)
def test_an_interpreter_that_is_silent_proves_nothing(tmp_path: Path, python: str, text: str) -> None:
    runtime = parse_runtime(probe_runtime(python, cwd=tmp_path, env=dict(os.environ)))
    verdict = judge_runtime(runtime, {"vllm": WANTED, "vllm-ascend": WANTED}, {})
    assert (verdict.status, {proof.word for proof in verdict.proofs}) == ("BLOCKED", {"unknown"})
    assert text in verdict.doubt
