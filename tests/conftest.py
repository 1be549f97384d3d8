"""Seals the world: no test sees the machine's git configuration, clock, language, editor or repositories."""

from __future__ import annotations

import compileall
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kit import ROOT, Kit, Repo, write_programs

CI = bool(os.environ.get("AFD_CI"))
CLEARED = ("GIT_", "AFD_", "VLLM_", "ASCEND_", "XDG_", "NO_COLOR", "COLUMNS", "LANG", "LC_", "PRE_COMMIT", "SSH_")


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: tests wait for processes and clocks a third of their time."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `git-afd` and `git-afd-hook` that run this tree with this interpreter.

    The tree is compiled once: the hundreds of programs that tests start would each compile it again.
    """
    compileall.compile_dir(ROOT / "git_afd", quiet=2)
    return write_programs(tmp_path_factory.mktemp("bin"))


def seal(patch: pytest.MonkeyPatch, home: Path, programs: Path) -> Path:
    """Give the world `home` as HOME: no system configuration, fixed identity, dates, time zone and language."""
    for name in list(os.environ):
        if name.startswith(CLEARED):
            patch.delenv(name)
    # The interpreter's own folder holds what the tests were installed with (pre-commit, ruff, shellcheck); nobody
    # has to activate the environment for them.
    (home / "run").mkdir(exist_ok=True)
    path = (str(programs), str(Path(sys.executable).parent), os.environ["PATH"].removeprefix(f"{programs}{os.pathsep}"))
    fixed = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2026-08-01T10:00:00+00:00",
        "GIT_COMMITTER_DATE": "2026-08-01T10:00:00+00:00",
        "GIT_CEILING_DIRECTORIES": str(home.parent),
        "GIT_EDITOR": "false",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        # The suites that gates start need none of the plugins installed for this one; loading them is most of a start.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PATH": os.pathsep.join(path),
    }
    for name, value in fixed.items():
        patch.setenv(name, value)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada Example\n\temail = ada@example.org\n"
        "[init]\n\tdefaultBranch = main\n[core]\n\teditor = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )
    return home


@pytest.fixture(scope="session", autouse=True)
def sealed_session(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Iterator[None]:
    """The same seal for what is built once for a module: such fixtures run before any test's own."""
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, tmp_path_factory.mktemp("home"), programs)
        yield


@pytest.fixture(autouse=True)
def sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, programs: Path) -> Path:
    """A new HOME for every test; returns it."""
    home = seal(monkeypatch, tmp_path_factory.mktemp("home"), programs)
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
    return home


@pytest.fixture(autouse=True)
def attentive() -> Iterator[None]:
    """No signal to stop is ignored: whoever starts the tests in the background hands that down to every child."""
    stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ignored = [number for number in stops if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    """Makes repositories below this test's own folder."""
    return Kit(tmp_path)


@pytest.fixture
def repo(kit: Kit) -> Repo:
    """An empty repository on branch `main`."""
    return kit.repo("repo")


def needs(what: str, present: bool) -> None:
    """Skip by name where a program is absent; fail where it must be there (AFD_CI, set by .ci/run)."""
    if present:
        return
    assert not CI, f"{what} must be here: .ci/run installs it"
    pytest.skip(f"{what} is not on this machine; .ci/run installs it, and there this test must run")
