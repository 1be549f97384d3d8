from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from kit import Repo
from kit_upgrade import SMI
from test_npu_smi import A2, A3, P310

from git_afd.adapters.host import HostFacts, host_facts, read_npus
from git_afd.adapters.host_snapshot import listening, seen
from git_afd.adapters.process_family import lives, named
from git_afd.adapters.python_probe import probe_python
from git_afd.core.evidence.host_snapshot import Port
from git_afd.core.evidence.npu_smi import NpuTable, Unknown


def facts(tmp_path: Path, **env: str) -> HostFacts:
    (tmp_path / "dev").mkdir(exist_ok=True)
    return host_facts(sys.executable, cwd=tmp_path, env={"PATH": str(tmp_path), **env}, devices=tmp_path / "dev")


def tool(tmp_path: Path, script: str) -> None:
    path = tmp_path / "npu-smi"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_plain_host_records_what_is_absent_as_absent(tmp_path: Path) -> None:
    seen = facts(tmp_path)
    assert seen.npu == {"state": "absent"}
    assert not seen.has_npu
    assert set(seen.variables.values()) == {"absent"}
    assert seen.python["state"] == "present"
    assert json.loads(json.dumps(seen.as_json())) == seen.as_json()


def test_devices_of_a_host_are_seen_with_the_tools_own_text(tmp_path: Path) -> None:
    tool(tmp_path, f"cat <<'EOF'\n{SMI}EOF")
    seen = facts(tmp_path, PATH=f"{tmp_path}:{os.environ['PATH']}", ASCEND_RT_VISIBLE_DEVICES="0")
    assert seen.has_npu
    assert seen.npu_text == SMI
    assert seen.variables["ASCEND_RT_VISIBLE_DEVICES"] == "0"


# npu-smi's script (None: no tool), device files, words of the reason
NOT_KNOWN = [
    (None, ["davinci0", "davinci1"], "davinci0, davinci1 are there, npu-smi is not"),
    ("echo 'dcmi module initialize failed. ret is -8005'; exit 255", [], "exit code 255; it said: dcmi module"),
    ("exit 0", [], "it said: nothing"),  # a success that says nothing
    ("echo hello", [], "no table was printed"),
]


@pytest.mark.parametrize(("script", "devices", "reason"), NOT_KNOWN)
def test_a_tool_that_cannot_be_believed_makes_devices_unknown(
    tmp_path: Path, script: str | None, devices: list[str], reason: str
) -> None:
    if script is not None:
        tool(tmp_path, script)
    (tmp_path / "dev").mkdir()
    for name in [*devices, "davinci_manager"]:
        (tmp_path / "dev" / name).touch()
    answer, _ = read_npus({"PATH": f"{tmp_path}:/usr/bin:/bin"}, devices=tmp_path / "dev")
    assert isinstance(answer, Unknown)
    assert reason in answer.reason
    assert not isinstance(answer, NpuTable)


# npu-smi's script after its table, is the answer understood
VARIANTS = [
    (A2, "", True),
    (A3, "", True),
    (P310, "", True),
    (A2 + "root@host:~#", "", True),
    (A3, "exit 1", False),  # a whole table, and a tool that says that it failed
    (P310, "kill -KILL $$", False),
    (A3[:-60], "", False),  # cut off in the process table
    (A2.replace("Container", "Pod").replace("Process id", "PID"), "", False),  # another header
]


@pytest.mark.parametrize(("text", "rest", "understood"), VARIANTS)
def test_every_printed_variant_is_read_from_the_tool_and_half_of_one_is_unknown(
    tmp_path: Path, text: str, rest: str, understood: bool
) -> None:
    tool(tmp_path, f"cat <<'EOF'\n{text}\nEOF\n{rest}")
    answer, said = read_npus({"PATH": f"{tmp_path}:/usr/bin:/bin"}, devices=tmp_path)
    assert isinstance(answer, NpuTable if understood else Unknown)
    assert said.strip() == text.strip()


def test_a_zombie_is_told_apart_and_does_not_count_as_living() -> None:
    with subprocess.Popen(["true"]) as child:
        process = psutil.Process(child.pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        assert seen(process).command == "true (zombie)"
        assert not lives(process)
        assert "(zombie)" in named([process])[0]


def test_being_told_to_stop_while_asking_is_no_answer_but_an_interrupt(tmp_path: Path) -> None:
    tool(tmp_path, f"(sleep 0.2; kill -INT {os.getpid()}) & sleep 5")
    with pytest.raises(KeyboardInterrupt):
        read_npus({"PATH": f"{tmp_path}:/usr/bin:/bin"}, devices=tmp_path)


ARCH = f"{platform.machine()}-linux"
INFO = "package_name=Ascend-cann-toolkit\nversion=9.0.1\ninnerversion=V100\narch=x\n"

# files below the home, variables that name it, what is recorded
TOOLKITS = [
    ({f"{ARCH}/ascend_toolkit_install.info": INFO}, "ASCEND_HOME_PATH", ("present", "9.0.1")),
    ({f"latest/{ARCH}/ascend_toolkit_install.info": INFO}, "ASCEND_TOOLKIT_HOME", ("present", "9.0.1")),
    ({f"9.0.1/{ARCH}/ascend_toolkit_install.info": INFO}, "ASCEND_HOME_PATH", ("present", "9.0.1")),
    ({f"{ARCH}/ascend_toolkit_install.info": "arch=x\n# version=9\n"}, "ASCEND_HOME_PATH", ("unknown", None)),
    ({}, "ASCEND_HOME_PATH", ("unknown", None)),  # a variable that names nothing is no proof of absence
]


@pytest.mark.parametrize(("files", "variable", "recorded"), TOOLKITS)
def test_the_toolkit_that_the_variables_name_says_its_version(
    tmp_path: Path, files: dict[str, str], variable: str, recorded: tuple[str, str | None]
) -> None:
    home = tmp_path / "cann"
    home.mkdir()
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(text)
    (tmp_path / "link").symlink_to(home)
    cann = facts(tmp_path, **{variable: str(tmp_path / "link")}).cann
    assert (cann["state"], cann.get("version")) == recorded
    if recorded[0] == "present":
        assert cann["home"] == str(home)  # the resolved path, not the link


def distribution(site: Path, name: str, version: str, direct_url: str | None = None) -> None:
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n")
    if direct_url is not None:
        (folder / "direct_url.json").write_text(direct_url)


def test_packages_say_version_commit_and_the_commit_they_would_be_imported_from(repo: Repo, tmp_path: Path) -> None:
    boom = "raise RuntimeError('imported')\n"  # nothing may be imported to be asked
    head = repo.commit("upstream", {"vllm/__init__.py": boom, ".gitignore": "venv/\n"})
    site = repo.path / "venv"
    (site / "vllm_ascend").mkdir(parents=True)
    (site / "vllm_ascend" / "__init__.py").write_text(boom)
    distribution(site, "vllm", "0.22.0+empty", '{"url": "file:///src/vllm", "dir_info": {"editable": true}}')
    url = "https://user:secret@example.org/vllm-ascend.git?token=secret#frag"
    distribution(site, "vllm_ascend", "0.1.dev1+gabc", json.dumps({"url": url, "vcs_info": {"commit_id": "c" * 40}}))
    distribution(site, "torch", "2.10.0+cpu", "not json")
    env = {**os.environ, "PYTHONPATH": f"{repo.path}:{site}"}
    said = probe_python(sys.executable, cwd=tmp_path, env=env)
    packages = said["packages"]
    assert isinstance(packages, dict)
    vllm, ascend = packages["vllm"], packages["vllm-ascend"]
    assert (vllm["version"], vllm["source_commit"], vllm["editable"]) == ("0.22.0+empty", head, True)
    assert ascend["commit"] == "c" * 40
    assert ascend["url"] == "https://example.org/vllm-ascend.git"
    assert ascend["source_commit"] == "absent"  # ignored inside the repository: its HEAD says nothing about it
    assert "JSONDecodeError" in packages["torch"]["fault"]
    assert packages["torch-npu"] == "absent"


# interpreter, state
PYTHONS = [("no-such-python-afd", "absent"), ("/bin/false", "unknown"), (sys.executable, "present")]


@pytest.mark.parametrize(("python", "state"), PYTHONS)
def test_an_interpreter_that_is_not_there_or_does_not_answer_is_told(tmp_path: Path, python: str, state: str) -> None:
    assert probe_python(python, cwd=tmp_path, env=dict(os.environ))["state"] == state


def test_who_listens_on_a_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (held,) = listening([port])
        assert (held.state, held.by and held.by.pid) == ("listening", os.getpid())
        assert held.by is not None
        assert held.by.told(held.by.started + 5).endswith(held.by.command)
        assert " (5 s old): " in held.by.told(held.by.started + 5)
    assert list(listening([port, port])) == [Port(port, "free")]
